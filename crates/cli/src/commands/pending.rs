//! `pending`: tools that a model was denied for want of permission, and the commands that allow them.

use mcparley::model::permission::RuleKind;
use mcparley::model::text::display;
use mcparley::{Loaded, PendingCall, pending_calls};
use serde_json::{Value, json};

use super::Done;
use crate::context::Context;
use crate::exit;
use crate::out::{Out, bold, dim};

pub(super) fn run(context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let is_allowed = |call: &PendingCall| {
        let mut rules = loaded.settings.rules.iter();
        rules.any(|rule| rule.kind() == RuleKind::Allow && rule.text() == call.tool)
    };
    let calls: Vec<PendingCall> =
        pending_calls(&context.paths).into_iter().filter(|call| !is_allowed(call)).collect();
    if out.json {
        let report = |call: &PendingCall| -> Value {
            json!({ "tool": call.tool, "at": call.at, "reason": call.reason, "command": call.command() })
        };
        out.value(&json!({ "pending": calls.iter().map(report).collect::<Vec<_>>() }));
        return Ok(exit::OK);
    }
    if calls.is_empty() {
        out.line("No tool waits for your permission.");
    }
    for call in &calls {
        out.line(format!("{}  {}", bold(&display(&call.tool)), dim(&display(&call.reason))));
        out.line(format!("  {}", display(&call.command())));
    }
    Ok(exit::OK)
}
