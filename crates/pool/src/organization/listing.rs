//! Parser of the organization's connector catalog, entry by entry: a bad entry is reported and skipped.
//!
//! The format is specified in `docs/connectors.md`.

use std::collections::HashSet;

use mcparley_model::limits::{CONNECTOR_NAME_CHARS, CONNECTORS};
use mcparley_model::text::clean_text;
use serde_json::{Map, Value};
use url::Url;

use super::{ConnectorError, append_segments, is_same_origin};
use mcparley_config::{Connector, ConnectorList};

/// The maximum length of a connector id.
const ID_CHARS: usize = 256;

/// The connectors parsed so far.
pub(super) struct ConnectorListing<'b> {
    base: &'b Url,
    known: ConnectorList,
    /// The number of entries so far.
    seen: usize,
    ids: HashSet<String>,
    names: HashSet<String>,
    pages: HashSet<String>,
}

impl<'b> ConnectorListing<'b> {
    pub(super) fn new(base: &'b Url) -> Self {
        let (ids, names, pages) = Default::default();
        Self { base, known: ConnectorList::default(), seen: 0, ids, names, pages }
    }

    /// Parses a page; returns the id of the next one.
    pub(super) fn parse_page(&mut self, body: &[u8]) -> Result<Option<String>, ConnectorError> {
        let page: Value =
            serde_json::from_slice(body).map_err(|_| ConnectorError::Format("it is not JSON"))?;
        let Some(Value::Array(entries)) = page.get("data") else {
            return Err(ConnectorError::Format("it has no `data` list"));
        };
        for entry in entries {
            if self.seen == CONNECTORS {
                self.add_problem(&ConnectorError::TooMany);
                return Ok(None);
            }
            self.seen += 1;
            self.add_entry(entry);
        }
        if page.get("has_more") != Some(&Value::Bool(true)) {
            return Ok(None);
        }
        match page.get("next_page").and_then(Value::as_str) {
            Some(next) if self.pages.insert(next.to_owned()) => Ok(Some(next.to_owned())),
            Some(_) => Err(ConnectorError::Format("it repeats a page")),
            None => Err(ConnectorError::Format("it has more pages, but no `next_page`")),
        }
    }

    /// Records a problem: part of the catalog is missing.
    pub(super) fn add_problem(&mut self, error: &ConnectorError) {
        self.known.add_problem(error);
    }

    pub(super) fn into_connectors(self) -> ConnectorList {
        self.known
    }

    /// Adds an entry, or records why it is skipped.
    fn add_entry(&mut self, entry: &Value) {
        match self.parse_entry(entry) {
            Ok(connector) => self.known.connectors.push(connector),
            Err(why) => {
                let name = entry.as_object().and_then(|entry| parse_name(entry).ok());
                let name = name.map_or_else(|| self.seen.to_string(), |name| format!("`{name}`"));
                self.add_problem(&ConnectorError::Entry { name, why });
            }
        }
    }

    /// Parses an entry.
    fn parse_entry(&mut self, entry: &Value) -> Result<Connector, &'static str> {
        let entry = entry.as_object().ok_or("it is not an object")?;
        let id = parse_id(entry)?;
        let name = parse_name(entry)?;
        let url = self.connector_url(entry, &id)?;
        if !self.ids.insert(id.clone()) {
            return Err("its id is a duplicate");
        }
        Ok(Connector { id, name: self.unique_name(name), url: url.into() })
    }

    /// The URL of a connector: its `url` if that is of the catalog's origin, else the default path for its
    /// id.
    fn connector_url(&self, entry: &Map<String, Value>, id: &str) -> Result<Url, &'static str> {
        match entry.get("url") {
            None | Some(Value::Null) => Ok(append_segments(self.base, &["v1", "mcp", id])),
            Some(Value::String(url)) => {
                let url = Url::parse(url).map_err(|_| "its `url` is not a valid URL")?;
                if is_same_origin(self.base, &url) {
                    Ok(url)
                } else {
                    Err("its `url` is not of the catalog's origin, so the token cannot be sent to it")
                }
            }
            Some(_) => Err("its `url` is not a string"),
        }
    }

    /// A unique name: with a number appended if another connector has the same.
    fn unique_name(&mut self, name: String) -> String {
        let numbered = |number: usize| format!("{name} ({number})");
        let free =
            std::iter::once(name.clone()).chain((2..).map(numbered)).find(|name| !self.names.contains(name));
        let free = free.unwrap_or(name);
        self.names.insert(free.clone());
        free
    }
}

/// The id of an entry. It becomes part of a URL, so only plain characters are allowed.
fn parse_id(entry: &Map<String, Value>) -> Result<String, &'static str> {
    let id = entry.get("id").and_then(Value::as_str).ok_or("it has no `id`")?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:~".contains(&byte);
    let is_dots = id.bytes().all(|byte| byte == b'.');
    if id.len() <= ID_CHARS && !is_dots && id.bytes().all(is_plain) {
        Ok(id.to_owned())
    } else {
        Err("its `id` is empty, too long, or has invalid characters")
    }
}

/// The display name of an entry: cleaned, on one line.
fn parse_name(entry: &Map<String, Value>) -> Result<String, &'static str> {
    let name = entry.get("display_name").or_else(|| entry.get("name")).and_then(Value::as_str);
    let name = clean_text(name.ok_or("it has no `display_name`")?).into_owned();
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    match name.chars().count() {
        1..=CONNECTOR_NAME_CHARS => Ok(name),
        0 => Err("its `display_name` is empty"),
        _ => Err("its `display_name` is too long"),
    }
}
