//! `pending`: open questions of running gateways, and tools that a model was denied because no permission rule
//! allows them, with the commands to allow them.

mod answer;
mod table;

use mcparley::config::LoadedConfig;
use mcparley::model::text::display_line;
use mcparley::permission::{PendingCall, pending_calls};
use mcparley_gateway::control::{QuestionSurvey, open_questions};
use serde_json::{Value, json};

use super::CommandResult;
use crate::args::{PendingArgs, PendingCommand};
use crate::context::Context;
use crate::error::PendingError;
use crate::exit;
use crate::out::{TerminalOutput, bold, dim};

pub(super) fn run(
    args: &PendingArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    match (&args.command, &args.id) {
        (Some(PendingCommand::Answer(args)), _) => answer::run(args, context, out),
        (None, Some(id)) => answer::ask_on_terminal(id, context, out),
        (None, None) => list_pending(args.show, context, loaded, out),
    }
}

fn list_pending(
    with_details: bool,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let QuestionSurvey { questions, silent } =
        open_questions(&context.control_folder(), with_details).map_err(PendingError::Gateway)?;
    if silent > 0 {
        out.warn(&format!("{silent} running `mcparley serve` did not answer"));
    }
    let is_open = |call: &PendingCall| !call.is_settled_by(&loaded.settings.rules);
    let calls: Vec<PendingCall> = pending_calls(&context.paths).into_iter().filter(is_open).collect();
    if out.json {
        let report = |call: &PendingCall| -> Value {
            json!({ "tool": call.tool, "at": call.at, "reason": call.reason, "command": call.allow_command() })
        };
        let calls: Vec<Value> = calls.iter().map(report).collect();
        out.print_json(&json!({ "questions": questions, "pending": calls }));
        return Ok(exit::OK);
    }
    if questions.is_empty() && calls.is_empty() {
        out.print_line("No open questions and no denied tools.");
    }
    if let [first, ..] = &questions[..] {
        table::print_questions(&questions, out);
        out.hint(&format!("run `mcparley pending {}` to answer a question", first.id));
    }
    for call in &calls {
        out.print_line(format!("{}  {}", bold(&display_line(&call.tool)), dim(&display_line(&call.reason))));
        out.print_line(format!("  {}", display_line(&call.allow_command())));
    }
    Ok(exit::OK)
}
