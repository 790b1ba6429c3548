//! Answers a model that has searched: everything it needs to call what it found, and where else to look.

use mcparley_model::limits::{SEARCH_ANSWER_TOKENS, SEARCH_RESULTS};
use mcparley_model::name::ServerName;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::{Absence, Absent, Search};
use crate::call::{CallError, Outcome, own_answer};
use crate::catalog::{Catalog, Entry, SearchQuery, Unfound};
use crate::host::Host;

/// How many servers are named when nothing was found.
const SERVERS_NAMED: usize = 20;

impl Host {
    /// What the tool `ToolSearch` does.
    pub(crate) async fn search_by_tool(&self, arguments: &Value) -> Result<Outcome, CallError> {
        let text = arguments.get("query").and_then(Value::as_str).unwrap_or_default();
        let limit = arguments.get("max_results").and_then(Value::as_u64);
        let limit = limit.map_or(SEARCH_RESULTS, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let search = self.search(&SearchQuery::new(text).limit(limit)).await;
        let report = Report::of(&search, &self.current());
        let structured =
            to_raw_value(&report).map_err(|error| CallError::Own { message: error.to_string().into() })?;
        own_answer(&Answer {
            content: [Text { kind: "text", text: structured.get() }],
            structured_content: &structured,
        })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    content: [Text<'a>; 1],
    structured_content: &'a RawValue,
}

#[derive(Serialize)]
struct Text<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

/// What a model is told.
#[derive(Serialize)]
struct Report<'s> {
    tools: Vec<Hit<'s>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Hit<'s> {
    name: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'s str>,
    description: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_schema: Option<&'s RawValue>,
}

impl<'s> Report<'s> {
    fn of(search: &'s Search, catalog: &Catalog) -> Self {
        let found = &search.found;
        let tools = hits(found.tools.iter().map(|entry| entry.as_ref()));
        let is_whole = tools.iter().all(|hit| hit.input_schema.is_some());
        let note = if tools.is_empty() { Some(nothing(catalog)) } else { further(found.more, is_whole) };
        let unknown = found.unfound.iter().map(unknown).collect();
        Self { tools, note, unknown, missing: search.missing.iter().map(missing).collect() }
    }
}

/// The tools with their arguments, as long as there is room; the first in any case.
fn hits<'s>(entries: impl Iterator<Item = &'s Entry>) -> Vec<Hit<'s>> {
    let mut taken = 0;
    let hit = |entry: &'s Entry| {
        let has_room = taken == 0 || taken + entry.tokens() <= SEARCH_ANSWER_TOKENS;
        taken += if has_room { entry.tokens() } else { 0 };
        Hit {
            name: entry.name.as_str(),
            title: entry.tool.title.as_deref(),
            description: &entry.tool.description,
            input_schema: has_room.then_some(&entry.tool.input_schema),
        }
    };
    entries.map(hit).collect()
}

fn nothing(catalog: &Catalog) -> String {
    let mut servers: Vec<&ServerName> = Vec::new();
    let offered = catalog.iter().filter(|entry| entry.tool.audience.includes_model());
    for server in offered.filter_map(|entry| entry.server()) {
        if !servers.contains(&server) {
            servers.push(server);
        }
    }
    let more = servers.len().saturating_sub(SERVERS_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let names: Vec<String> = servers.iter().take(SERVERS_NAMED).map(|server| format!("`{server}`")).collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    format!(
        "No tool matches. Try fewer words, other words for the same thing, or the name of a server as a word. Servers with \
         tools: {names}{more}."
    )
}

fn further(more: usize, is_whole: bool) -> Option<String> {
    let more =
        (more > 0).then(|| format!("{more} more tools match; ask for more of them, or with more words."));
    let cut = (!is_whole).then(|| "Tools without an input schema: `select:` them to see it.".to_owned());
    match (more, cut) {
        (Some(more), Some(cut)) => Some(format!("{more} {cut}")),
        (more, cut) => more.or(cut),
    }
}

fn unknown(unfound: &Unfound) -> Value {
    match unfound {
        Unfound::Unknown { name, similar } => json!({ "name": name, "similar": similar }),
        Unfound::Ambiguous { name, candidates } => json!({ "name": name, "couldBe": candidates }),
    }
}

/// What a server wrote is data: a model must not take it for something it was told to do.
fn missing(absent: &Absent) -> Value {
    let server = &absent.server;
    match &absent.why {
        Absence::Pending => {
            json!({ "server": server, "state": "pending", "note": "Search again in a moment." })
        }
        Absence::Failed { error } => {
            json!({ "server": server, "state": "failed", "untrustedError": error.clean() })
        }
        Absence::NeedsAuth { authenticate: Some(tool) } => {
            let note = format!("Call `{tool}` to begin a sign-in.");
            json!({ "server": server, "state": "needs-auth", "note": note })
        }
        Absence::NeedsAuth { authenticate: None } => json!({ "server": server, "state": "needs-auth" }),
        Absence::Unlisted { error } => {
            json!({ "server": server, "state": "connected", "untrustedError": error.clean() })
        }
    }
}
