//! Translates between the names of clients and those of the catalog.
//!
//! Permission rules, hooks and the audit know tools by the names of the catalog; clients and their models by
//! those of the view.

use mcparley::catalog::BuiltIn;
use mcparley::{CallError, CallOutcome};
use mcparley_wire::RawJson;
use serde_json::{Value, json};

use crate::mode::Naming;
use crate::request::call_request::CallRequest;
use crate::view::View;

/// The beginning of a query that names tools.
const SELECT: &str = "select:";

impl View {
    /// The name of the catalog for a client's name. One that is not known yet may belong to a server that
    /// is not connected, and is translated by the rule of the mode.
    pub(crate) fn catalog_name(&self, name: &str) -> String {
        match (self.find_tool(name), self.mode.naming) {
            (Some(entry), _) => entry.name.as_str().to_owned(),
            (None, Naming::Mcp) => name.to_owned(),
            (None, Naming::Server | Naming::Bare) => format!("mcp__{name}"),
        }
    }

    /// The call with the names of the catalog.
    pub(crate) fn to_catalog_call(&self, wanted: CallRequest) -> CallRequest {
        let name = self.catalog_name(&wanted.name);
        let arguments = if name == BuiltIn::ToolSearch.as_str() {
            self.translate_query(&wanted.arguments).unwrap_or_else(|| wanted.arguments.clone())
        } else {
            wanted.arguments.clone()
        };
        CallRequest { name, arguments, ..wanted }
    }

    /// The arguments of `ToolSearch` with the names of the catalog, if they select tools by name.
    fn translate_query(&self, arguments: &RawJson) -> Option<RawJson> {
        let mut arguments: Value = arguments.decode().ok()?;
        let names = arguments.get("query")?.as_str()?.trim().strip_prefix(SELECT)?;
        let translate = |name: &str| {
            self.find_tool(name.trim()).map_or_else(|| name.to_owned(), |entry| entry.name.to_string())
        };
        let query: Vec<String> = names.split(',').map(translate).collect();
        arguments["query"] = json!(format!("{SELECT}{}", query.join(",")));
        RawJson::from_value(&arguments).ok()
    }

    /// The outcome of `ToolSearch` with the names of clients.
    pub(crate) fn rename_search(&self, outcome: CallOutcome) -> CallOutcome {
        let report = outcome.structured.as_ref().and_then(|report| report.decode::<Value>().ok());
        let renamed = report.and_then(|mut report| {
            self.rename_report(&mut report);
            let text = report.to_string();
            let answer =
                json!({ "content": [{ "type": "text", "text": text }], "structuredContent": report });
            CallOutcome::try_from(RawJson::from_value(&answer).ok()?).ok()
        });
        renamed.unwrap_or(outcome)
    }

    fn rename_report(&self, report: &mut Value) {
        let rename = |name: &mut Value| {
            if let Some(client) = name.as_str().and_then(|name| self.client_name(name)) {
                *name = json!(&**client);
            }
        };
        for hit in list_mut(report, "tools") {
            hit.get_mut("name").into_iter().for_each(rename);
        }
        for unknown in list_mut(report, "unknown") {
            list_mut(unknown, "similar").iter_mut().for_each(rename);
            list_mut(unknown, "couldBe").iter_mut().for_each(rename);
        }
        for missing in list_mut(report, "missing") {
            if let Some(Value::String(note)) = missing.get_mut("note") {
                *note = self.rename_in_text(note);
            }
        }
    }

    /// An error with the names of clients. Rules in errors about permissions keep the names of the catalog.
    pub(crate) fn rename_error(&self, error: CallError, name: &str) -> CallError {
        match error {
            CallError::UnknownTool { because, .. } => {
                CallError::UnknownTool { name: name.to_owned(), similar: self.similar_tools(name), because }
            }
            other => other,
        }
    }
}

/// The elements of a list in a report; none if there is no such list.
fn list_mut<'r>(report: &'r mut Value, name: &str) -> &'r mut [Value] {
    report.get_mut(name).and_then(Value::as_array_mut).map(Vec::as_mut_slice).unwrap_or_default()
}
