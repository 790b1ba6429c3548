//! The running and the finished calls of the host.

use mcparley_model::time::unix_milliseconds;
use std::time::SystemTime;

use mcparley::Host;
use mcparley::host::{CallEnding, FinishedCall};
use serde_json::{Value, json};

/// The running calls, then the finished ones, newest first.
pub(crate) fn list_calls(host: &Host) -> Value {
    let now = SystemTime::now();
    let running: Vec<Value> = host
        .running_calls()
        .iter()
        .map(|call| {
            let began = now.checked_sub(call.since.elapsed()).unwrap_or(now);
            json!({
                "server": call.server.as_str(), "tool": call.tool.as_str(), "began": unix_milliseconds(began),
                "progress": call.progress.as_ref().map(|progress| progress.progress),
                "total": call.progress.as_ref().and_then(|progress| progress.total),
            })
        })
        .collect();
    let finished: Vec<Value> = host.finished_calls().iter().rev().map(describe_call).collect();
    json!({ "running": running, "finished": finished })
}

fn describe_call(call: &FinishedCall) -> Value {
    let (outcome, reason) = match &call.ending {
        CallEnding::Succeeded => ("ok", None),
        CallEnding::ToolError => ("tool error", None),
        CallEnding::Failed(reason) => ("failed", Some(reason)),
        CallEnding::Canceled => ("canceled", None),
        _ => ("unknown", None),
    };
    json!({
        "number": call.number, "server": call.server.as_str(), "tool": call.tool.as_str(),
        "began": unix_milliseconds(call.began), "milliseconds": call.duration.as_secs_f64() * 1000.0,
        "outcome": outcome, "reason": reason,
    })
}
