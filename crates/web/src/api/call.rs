//! A call that a person makes with the form of a tool. Its questions come to the list of open questions.

use mcparley_model::time::whole_milliseconds;
use std::sync::Arc;
use std::time::Instant;

use hyper::StatusCode;
use mcparley::permission::Consent;
use mcparley::results::RawJson;
use mcparley::{Call, CallError};
use mcparley_door::PageRequest;
use mcparley_gateway::ListedCall;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::parse_body;
use super::result::describe_outcome;
use crate::page_state::PageState;
use crate::response::{ErrorResponse, error_response};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FormCall {
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

/// Calls a tool for the person at the page, and returns the result or the reason why there is none.
pub(crate) async fn call_tool(
    state: &Arc<PageState>,
    principal: &str,
    request: &PageRequest,
) -> Result<Value, ErrorResponse> {
    let FormCall { name, arguments } = parse_body(request)?;
    let catalog = state.host.catalog();
    let Some(entry) = catalog.get(&name) else {
        let unknown = format!("there is no tool `{name}`");
        return Err(error_response(StatusCode::NOT_FOUND, &unknown, None));
    };
    let arguments = Value::Object(arguments);
    let raw = RawJson::from_value(&arguments).map_err(|_| {
        error_response(StatusCode::BAD_REQUEST, "the arguments cannot be written as JSON", None)
    })?;
    let context = state.gateway.listed_context(ListedCall {
        principal: principal.to_owned(),
        client: "web page".to_owned(),
        tool: entry.tool.name.as_str().to_owned(),
        arguments: raw,
    });
    // The person asked for exactly this call: only a rule that asks, or a hook, still asks.
    let call = Call::for_entry(entry, arguments).with_consent(Consent::Typed);
    let begin = Instant::now();
    let outcome = state.host.call(call.without_result_limit().with_context(context)).await;
    let milliseconds = whole_milliseconds(begin.elapsed());
    Ok(match outcome {
        Ok(outcome) => json!({ "milliseconds": milliseconds, "outcome": describe_outcome(&outcome) }),
        Err(error) => describe_failure(&error, milliseconds),
    })
}

fn describe_failure(error: &CallError, milliseconds: u64) -> Value {
    json!({ "milliseconds": milliseconds, "error": error.to_string(), "hint": error.hint() })
}
