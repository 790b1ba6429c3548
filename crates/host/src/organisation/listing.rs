//! The format of the organisation's catalogue, entry by entry: a bad one is told and takes nobody with it.
//!
//! The format is written down in `docs/connectors.md`.

use std::collections::HashSet;

use mcparley_model::limits::{CONNECTOR_NAME_CHARS, CONNECTORS};
use mcparley_model::text::clean;
use serde_json::{Map, Value};
use url::Url;

use super::{ConnectorError, below, is_within};
use crate::sources::{Connector, Known};

/// The longest id of a connector.
const ID_CHARS: usize = 256;

/// What has been read so far.
pub(super) struct Listing<'b> {
    base: &'b Url,
    known: Known,
    /// How many entries were seen.
    seen: usize,
    ids: HashSet<String>,
    names: HashSet<String>,
    pages: HashSet<String>,
}

impl<'b> Listing<'b> {
    pub(super) fn new(base: &'b Url) -> Self {
        let (ids, names, pages) = Default::default();
        Self { base, known: Known::default(), seen: 0, ids, names, pages }
    }

    /// Reads a page, and says which one is next.
    pub(super) fn take(&mut self, body: &[u8]) -> Result<Option<String>, ConnectorError> {
        let page: Value =
            serde_json::from_slice(body).map_err(|_| ConnectorError::Format("it is not JSON"))?;
        let Some(Value::Array(entries)) = page.get("data") else {
            return Err(ConnectorError::Format("there is no list `data` in it"));
        };
        for entry in entries {
            if self.seen == CONNECTORS {
                self.lacks(ConnectorError::TooMany);
                return Ok(None);
            }
            self.seen += 1;
            self.entry(entry);
        }
        if page.get("has_more") != Some(&Value::Bool(true)) {
            return Ok(None);
        }
        match page.get("next_page").and_then(Value::as_str) {
            Some(next) if self.pages.insert(next.to_owned()) => Ok(Some(next.to_owned())),
            Some(_) => Err(ConnectorError::Format("it names the same page again")),
            None => Err(ConnectorError::Format("it has more, and does not say where")),
        }
    }

    /// Notes that something is missing.
    pub(super) fn lacks(&mut self, error: ConnectorError) {
        self.known.left_out.push(error);
    }

    pub(super) fn finish(self) -> Known {
        self.known
    }

    fn entry(&mut self, entry: &Value) {
        match self.read(entry) {
            Ok(connector) => self.known.connectors.push(connector),
            Err(why) => {
                let name = entry.as_object().and_then(|entry| name(entry).ok());
                let name = name.map_or_else(|| self.seen.to_string(), |name| format!("`{name}`"));
                self.lacks(ConnectorError::Entry { name, why });
            }
        }
    }

    fn read(&mut self, entry: &Value) -> Result<Connector, &'static str> {
        let entry = entry.as_object().ok_or("it is not an object")?;
        let id = id(entry)?;
        let name = name(entry)?;
        let url = self.url(entry, &id)?;
        if !self.ids.insert(id.clone()) {
            return Err("its id stands twice");
        }
        Ok(Connector { id, name: self.free(name), url: url.into() })
    }

    fn url(&self, entry: &Map<String, Value>, id: &str) -> Result<Url, &'static str> {
        match entry.get("url") {
            None | Some(Value::Null) => Ok(below(self.base, &["v1", "mcp", id])),
            Some(Value::String(url)) => {
                let url = Url::parse(url).map_err(|_| "its `url` is no URL")?;
                match is_within(self.base, &url) {
                    true => Ok(url),
                    false => {
                        Err("its `url` is not of the catalogue's origin, and the token goes to no other")
                    }
                }
            }
            Some(_) => Err("its `url` is not a string"),
        }
    }

    /// The name, with a number behind it if another connector has it.
    fn free(&mut self, name: String) -> String {
        let numbered = |number: usize| format!("{name} ({number})");
        let free =
            std::iter::once(name.clone()).chain((2..).map(numbered)).find(|name| !self.names.contains(name));
        let free = free.unwrap_or(name);
        self.names.insert(free.clone());
        free
    }
}

/// It becomes a part of an address, so it is made of plain characters.
fn id(entry: &Map<String, Value>) -> Result<String, &'static str> {
    let id = entry.get("id").and_then(Value::as_str).ok_or("it has no `id`")?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:~".contains(&byte);
    let is_dots = id.bytes().all(|byte| byte == b'.');
    match id.len() <= ID_CHARS && !is_dots && id.bytes().all(is_plain) {
        true => Ok(id.to_owned()),
        false => Err("its `id` is empty, too long, or has characters that no id has"),
    }
}

/// Without anything hidden, on one line.
fn name(entry: &Map<String, Value>) -> Result<String, &'static str> {
    let name = entry.get("display_name").or_else(|| entry.get("name")).and_then(Value::as_str);
    let name = clean(name.ok_or("it has no `display_name`")?).into_owned();
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    match name.chars().count() {
        1..=CONNECTOR_NAME_CHARS => Ok(name),
        0 => Err("its `display_name` is empty"),
        _ => Err("its `display_name` is too long"),
    }
}
