//! What is answered to a call: its result, or why there is none, in words a model can act on (G3).
//!
//! That a tool does not exist is an error of the protocol; everything else is a result that says it failed, because only
//! results reach a model.

use mcparley::{CallError, Outcome};
use mcparley_wire::{INVALID_PARAMS, RawJson, RpcError};
use serde_json::json;

use crate::caller::Caller;
use crate::greeting::meta;
use crate::result;
use crate::session::written;

/// The answer to a call.
pub(crate) fn of(done: Result<Outcome, CallError>, caller: &Caller) -> Result<RawJson, RpcError> {
    match done {
        Ok(outcome) => result::of(&outcome, caller),
        Err(error @ CallError::UnknownTool { .. }) => Err(RpcError::new(INVALID_PARAMS, &told(&error))),
        Err(error) => failed(&told(&error), caller),
    }
}

/// A result that says why there is none.
pub(crate) fn failed(text: &str, caller: &Caller) -> Result<RawJson, RpcError> {
    let mut result = json!({ "content": [{ "type": "text", "text": text }], "isError": true });
    if caller.is_new() {
        result["resultType"] = json!("complete");
        result["_meta"] = meta();
    }
    written(&result)
}

/// The error, and what to do about it.
fn told(error: &CallError) -> String {
    match error.hint() {
        Some(hint) => format!("{error}\n{hint}"),
        None => error.to_string(),
    }
}
