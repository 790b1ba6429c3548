//! The answer of the tool `ToolSearch`: the found tools, and the servers that were not searched.
//!
//! Tools found by words come with a signature and a line of description: a model chooses one of them, and its
//! client's list has the definitions from then on. Tools that are selected by name come whole.

use std::borrow::Cow;

use mcparley_model::limits::{
    SEARCH_ANSWER_TOKENS, SEARCH_RESULTS, SEARCH_SCHEMA_BYTES, SEARCH_SIGNATURE_CHARS, SEARCH_SUMMARY_CHARS,
};
use mcparley_model::name::ServerName;
use mcparley_model::text::truncate_text;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::{ToolSearchResult, UnsearchedReason, UnsearchedServer};
use crate::call::own_answer;
use crate::call_error::CallError;
use crate::host::Host;
use mcparley_catalog::{Catalog, CatalogEntry, SearchQuery, UnresolvedName, argument_signature};
use mcparley_results::CallOutcome;

/// The maximum number of server names in the note for a search without a match.
const SERVERS_NAMED: usize = 20;

impl Host {
    /// Runs the built-in tool `ToolSearch`.
    pub(crate) async fn search_by_tool(&self, arguments: &Value) -> Result<CallOutcome, CallError> {
        let text = arguments.get("query").and_then(Value::as_str).unwrap_or_default();
        let limit = arguments.get("max_results").and_then(Value::as_u64);
        let limit = limit.map_or(SEARCH_RESULTS, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let query = SearchQuery::new(text).with_limit(limit);
        let search = self.search_tools(&query).await;
        let report = ToolSearchReport::from_result(&search, &query, &self.catalog());
        let structured = to_raw_value(&report)
            .map_err(|error| CallError::BuiltInTool { message: error.to_string().into() })?;
        own_answer(&ToolSearchAnswer {
            content: [ToolSearchText { kind: "text", text: structured.get() }],
            structured_content: &structured,
        })
    }
}

/// The result of the tool `ToolSearch`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolSearchAnswer<'a> {
    content: [ToolSearchText<'a>; 1],
    structured_content: &'a RawValue,
}

/// A text block of the result.
#[derive(Serialize)]
struct ToolSearchText<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

/// The report of a search for a model.
#[derive(Serialize)]
struct ToolSearchReport<'s> {
    tools: Vec<ToolSearchHit<'s>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<Value>,
}

/// A found tool, as a model gets it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolSearchHit<'s> {
    name: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'s str>,
    /// The arguments with their types, where the schema is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
    description: Cow<'s, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_schema: Option<&'s RawValue>,
}

impl<'s> ToolSearchReport<'s> {
    fn from_result(search: &'s ToolSearchResult, query: &SearchQuery, catalog: &Catalog) -> Self {
        let found = &search.found;
        let entries = found.tools.iter().map(|entry| entry.as_ref());
        let tools: Vec<ToolSearchHit<'_>> =
            if query.is_selection() { whole_hits(entries) } else { short_hits(entries) };
        let is_whole = tools.iter().all(|hit| hit.input_schema.is_some());
        let note = if tools.is_empty() {
            Some(no_match_note(catalog))
        } else {
            more_matches_note(found.more, is_whole)
        };
        let unknown = found.unfound.iter().map(unfound_to_json).collect();
        Self { tools, note, unknown, missing: search.missing.iter().map(server_to_json).collect() }
    }
}

/// The selected tools with their whole definitions, within the token budget; the first in any case.
fn whole_hits<'s>(entries: impl Iterator<Item = &'s CatalogEntry>) -> Vec<ToolSearchHit<'s>> {
    let mut taken = 0;
    let hit = |entry: &'s CatalogEntry| {
        if taken > 0 && taken + entry.tokens() > SEARCH_ANSWER_TOKENS {
            return short_hit(entry);
        }
        taken += entry.tokens();
        ToolSearchHit {
            name: entry.name.as_str(),
            title: entry.tool.title.as_deref(),
            signature: None,
            description: Cow::Borrowed(&entry.tool.description),
            input_schema: Some(&entry.tool.input_schema),
        }
    };
    entries.map(hit).collect()
}

/// The tools that words found, in short; the best have their input schemas as long as these fit the budget.
fn short_hits<'s>(entries: impl Iterator<Item = &'s CatalogEntry>) -> Vec<ToolSearchHit<'s>> {
    let mut left = SEARCH_SCHEMA_BYTES;
    let hit = |entry: &'s CatalogEntry| {
        let schema: &RawValue = &entry.tool.input_schema;
        // Behind the first schema that does not fit there are none, so that the best match is never the one
        // without.
        left = left.saturating_sub(schema.get().len());
        let mut hit = short_hit(entry);
        if left > 0 {
            (hit.signature, hit.input_schema) = (None, Some(schema));
        }
        hit
    };
    entries.map(hit).collect()
}

fn short_hit(entry: &CatalogEntry) -> ToolSearchHit<'_> {
    let summary = entry.tool.description.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    ToolSearchHit {
        name: entry.name.as_str(),
        title: None,
        signature: Some(truncate_text(&argument_signature(&entry.tool), SEARCH_SIGNATURE_CHARS).into_owned()),
        description: truncate_text(summary.trim(), SEARCH_SUMMARY_CHARS),
        input_schema: None,
    }
}

fn no_match_note(catalog: &Catalog) -> String {
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

fn more_matches_note(more: usize, is_whole: bool) -> Option<String> {
    let more =
        (more > 0).then(|| format!("{more} more tools match; ask for more of them, or with more words."));
    let cut = (!is_whole).then(|| {
        "Where `signature` is not enough to call a tool, `select:NAME` returns its whole definition."
            .to_owned()
    });
    match (more, cut) {
        (Some(more), Some(cut)) => Some(format!("{more} {cut}")),
        (more, cut) => more.or(cut),
    }
}

fn unfound_to_json(unfound: &UnresolvedName) -> Value {
    match unfound {
        UnresolvedName::Unknown { name, similar } => json!({ "name": name, "similar": similar }),
        UnresolvedName::Ambiguous { name, candidates } => json!({ "name": name, "couldBe": candidates }),
    }
}

/// A server that was not searched. Text of the server is marked as untrusted, so that a model does not
/// follow it as an instruction.
fn server_to_json(absent: &UnsearchedServer) -> Value {
    let server = &absent.server;
    match &absent.why {
        UnsearchedReason::Pending => {
            json!({ "server": server, "state": "pending", "note": "Search again in a moment." })
        }
        UnsearchedReason::Failed { error } => {
            json!({ "server": server, "state": "failed", "untrustedError": error.clean_text() })
        }
        UnsearchedReason::NeedsAuth { authenticate: Some(tool) } => {
            let note = format!("Call `{tool}` to begin a sign-in.");
            json!({ "server": server, "state": "needs-auth", "note": note })
        }
        UnsearchedReason::NeedsAuth { authenticate: None } => {
            json!({ "server": server, "state": "needs-auth" })
        }
        UnsearchedReason::Unlisted { error } => {
            json!({ "server": server, "state": "connected", "untrustedError": error.clean_text() })
        }
    }
}
