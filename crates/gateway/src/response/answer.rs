//! The answer to a call: its result, or its error in words that a model can act on.
//!
//! An unknown tool is a protocol error; every other error becomes a result with `isError`, because only
//! results reach a model.

use mcparley::CallError;
use mcparley::results::ForwardableOutcome;
use mcparley_wire::{Failure, INVALID_PARAMS, JsonPieces, RawJson, RpcError};
use serde_json::json;

use crate::client_abilities::Caller;
use crate::response::era::{ResultForm, relayed_error};
use crate::response::handshake::result_meta;
use crate::response::{result, serialize_result};

/// The answer to a call, from its outcome or error.
pub(crate) fn answer_for_client(
    done: Result<ForwardableOutcome, CallError>,
    form: &ResultForm<'_>,
) -> Result<JsonPieces, RpcError> {
    match done {
        Ok(outcome) => result::forward_outcome(outcome, form),
        Err(error @ CallError::UnknownTool { .. }) => {
            Err(RpcError::new(INVALID_PARAMS, &describe_error(&error)))
        }
        Err(CallError::Unfinished { result, .. }) => Ok(result.into()),
        // Programs get the server's error with its code; a model would never see it.
        Err(CallError::Failed { failure: Failure::ErrorResponse(error), .. }) if !form.mode.for_model => {
            Err(relayed_error(error, ("tools/call", None), form.caller, form.server_era))
        }
        Err(error) => error_result(&describe_error(&error), form.caller).map(JsonPieces::from),
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
