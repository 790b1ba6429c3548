//! `hooks`: lists hooks with their status, and approves or rejects hooks of a project.

use mcparley::Host;
use mcparley::config::LoadedConfig;
use mcparley::config::change::{self, ChangeError, HookChoice};
use mcparley::model::hook::{HookStatus, HookWithStatus};
use mcparley::model::text::display_line;
use serde_json::{Value, json};

use super::{CommandResult, base_exit_code, print_problems};
use crate::args::{HooksCommand, HooksListArgs};
use crate::context::Context;
use crate::exit;
use crate::out::{TerminalOutput, bold, dim};

/// The length of the shown prefix of a definition, enough to identify it.
const DEFINITION_CHARS: usize = "sha256:".len() + 12;

pub(super) fn run(
    command: &HooksCommand,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    match command {
        HooksCommand::List(HooksListArgs {}) => run_list(loaded, out),
        HooksCommand::Approve(args) => {
            let definitions = if args.all { change::pending_hooks(loaded) } else { args.definitions.clone() };
            let chosen = definitions.iter().map(|it| change::approve_hook(&context.paths, loaded, it));
            report_choices("approved", "Approved", chosen, out)
        }
        HooksCommand::Reject(args) => {
            let chosen = args.definitions.iter().map(|it| change::reject_hook(&context.paths, loaded, it));
            report_choices("rejected", "Rejected", chosen, out)
        }
    }
}

fn run_list(loaded: &LoadedConfig, out: &mut TerminalOutput) -> CommandResult {
    let settings = &loaded.settings;
    let hooks = settings.hooks.hooks_with_status(loaded.session);
    if out.json {
        out.print_json(&json!({
            "hooks": hooks, "blockOnHookFailure": settings.hooks.block_on_failure,
            "hints": settings.hooks.hints, "warnings": settings.warnings,
        }));
        return Ok(base_exit_code(loaded));
    }
    print_problems(loaded, out);
    for hint in &settings.hooks.hints {
        out.print_remark(&format!("{}: {}", hint.origin, hint.text));
    }
    if hooks.is_empty() {
        out.print_line("No hooks are configured.");
    }
    hooks.iter().for_each(|hook| print_hook(hook, out));
    Ok(base_exit_code(loaded))
}

fn print_hook(HookWithStatus { hook, status }: &HookWithStatus, out: &mut TerminalOutput) {
    let matcher = if hook.matcher.as_str().is_empty() { "*" } else { hook.matcher.as_str() };
    // Padded before styling: escape sequences would count as width.
    let (word, event) = (status.as_str(), bold(&format!("{:18}", hook.event.as_str())));
    out.print_line(format!("{word:14}  {event}  {}", display_line(matcher)));
    let indent = " ".repeat(16);
    out.print_line(format!("{indent}{}", display_line(&hook.display_command())));
    let definition = hook.definition_hash().to_string();
    let short = definition.get(..DEFINITION_CHARS).unwrap_or_default();
    out.print_line(format!("{indent}{}", dim(&format!("{short}  {}", hook.origin))));
    match status {
        HookStatus::Ready => {}
        HookStatus::NeedsApproval => {
            out.print_line(format!("{indent}{}", dim(&format!("{status}"))));
            out.print_line(format!("{indent}{}", dim(&format!("hint: `mcparley hooks approve {short}`"))));
        }
        HookStatus::Rejected { .. } | HookStatus::Disabled { .. } | HookStatus::Duplicate => {
            out.print_line(format!("{indent}{}", dim(&status.to_string())));
        }
    }
}

fn report_choices(
    key: &str,
    word: &str,
    chosen: impl Iterator<Item = Result<HookChoice, ChangeError>>,
    out: &mut TerminalOutput,
) -> CommandResult {
    let mut reports: Vec<Value> = Vec::new();
    for chosen in chosen {
        let HookChoice { hook, file } = chosen?;
        reports
            .push(json!({ key: hook.definition_hash(), "command": hook.display_command(), "file": file.to_string_lossy() }));
        if !out.json {
            out.print_line(format!(
                "{word} {} as currently defined",
                bold(&display_line(&hook.display_command()))
            ));
            out.print_line(format!("File: {}", display_line(&file.to_string_lossy())));
        }
    }
    if out.json {
        out.print_json(&json!({ "choices": reports }));
    } else if reports.is_empty() {
        out.print_line("No hook needs approval.");
    }
    Ok(exit::OK)
}

/// Prints the number of hooks that need approval.
pub(super) fn print_waiting_hooks(loaded: &LoadedConfig, out: &mut TerminalOutput) {
    let waiting = change::pending_hooks(loaded).len();
    if waiting > 0 {
        let (hooks, verb) = if waiting == 1 { ("hook", "needs") } else { ("hooks", "need") };
        out.print_line(format!(
            "{waiting} {hooks} of this project {verb} approval; run `mcparley hooks list`"
        ));
    }
}

/// Prints the messages of hooks for the user, and their errors.
pub(super) fn print_hook_notes(host: &Host, out: &mut TerminalOutput) {
    for note in host.hook_notes() {
        let text = display_line(&note.text);
        if note.is_trouble {
            out.warn(&format!("hook `{}` for {}: {text}", display_line(&note.hook), note.event));
        } else {
            out.print_message(format!("{}: {text}", display_line(&note.hook)));
        }
    }
}
