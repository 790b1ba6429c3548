//! `pending`: tools that a model was denied because no permission rule allows them, with the commands to
//! allow them.

use mcparley::config::LoadedConfig;
use mcparley::model::permission::RuleKind;
use mcparley::model::text::display_line;
use mcparley::permission::{PendingCall, pending_calls};
use serde_json::{Value, json};

use super::CommandResult;
use crate::context::Context;
use crate::exit;
use crate::out::{TerminalOutput, bold, dim};

pub(super) fn run(context: &Context, loaded: &LoadedConfig, out: &mut TerminalOutput) -> CommandResult {
    let is_allowed = |call: &PendingCall| {
        let mut rules = loaded.settings.rules.iter();
        rules.any(|rule| rule.kind() == RuleKind::Allow && rule.text() == call.tool)
    };
    let calls: Vec<PendingCall> =
        pending_calls(&context.paths).into_iter().filter(|call| !is_allowed(call)).collect();
    if out.json {
        let report = |call: &PendingCall| -> Value {
            json!({ "tool": call.tool, "at": call.at, "reason": call.reason, "command": call.allow_command() })
        };
        out.print_json(&json!({ "pending": calls.iter().map(report).collect::<Vec<_>>() }));
        return Ok(exit::OK);
    }
    if calls.is_empty() {
        out.print_line("No denied tools.");
    }
    for call in &calls {
        out.print_line(format!("{}  {}", bold(&display_line(&call.tool)), dim(&display_line(&call.reason))));
        out.print_line(format!("  {}", display_line(&call.allow_command())));
    }
    Ok(exit::OK)
}
