//! The answer to a call: its result, or its error in words that a model can act on.
//!
//! An unknown tool is a protocol error; every other error becomes a result with `isError`, because only
//! results reach a model.

use mcparley::{CallError, CallOutcome};
use mcparley_wire::{INVALID_PARAMS, RawJson, RpcError};
use serde_json::json;

use crate::client_abilities::Caller;
use crate::response::handshake::result_meta;
use crate::response::{result, serialize_result};

/// The answer to a call, from its outcome or error.
pub(crate) fn answer_for_client(
    done: Result<CallOutcome, CallError>,
    caller: &Caller,
) -> Result<RawJson, RpcError> {
    match done {
        Ok(outcome) => result::result_for_client(&outcome, caller),
        Err(error @ CallError::UnknownTool { .. }) => {
            Err(RpcError::new(INVALID_PARAMS, &describe_error(&error)))
        }
        Err(error) => error_result(&describe_error(&error), caller),
    }
}

/// A result with `isError` and this text.
pub(crate) fn error_result(text: &str, caller: &Caller) -> Result<RawJson, RpcError> {
    let mut result = json!({ "content": [{ "type": "text", "text": text }], "isError": true });
    if caller.is_new() {
        result["resultType"] = json!("complete");
        result["_meta"] = result_meta();
    }
    serialize_result(&result)
}

/// The text of an error, with its hint.
fn describe_error(error: &CallError) -> String {
    match error.hint() {
        Some(hint) => format!("{error}\n{hint}"),
        None => error.to_string(),
    }
}
