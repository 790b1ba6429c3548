//! `hooks`: every hook with its standing, and the choices about those that a project brings.

use mcparley::change::{self, ChangeError, ChosenHook};
use mcparley::model::hook::{HookStanding, Judged};
use mcparley::model::text::display;
use mcparley::{Host, Loaded};
use serde_json::{Value, json};

use super::{Done, code_of, tell_problems};
use crate::args::{HooksCommand, HooksListArgs};
use crate::context::Context;
use crate::exit;
use crate::out::{Out, bold, dim};

/// How many characters of a definition are shown: enough to name it.
const DEFINITION_CHARS: usize = "sha256:".len() + 12;

pub(super) fn run(command: &HooksCommand, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    match command {
        HooksCommand::List(HooksListArgs {}) => list(loaded, out),
        HooksCommand::Approve(args) => {
            let definitions = if args.all { change::pending_hooks(loaded) } else { args.definitions.clone() };
            let chosen = definitions.iter().map(|it| change::approve_hook(&context.paths, loaded, it));
            told("approved", "Approved", chosen, out)
        }
        HooksCommand::Reject(args) => {
            let chosen = args.definitions.iter().map(|it| change::reject_hook(&context.paths, loaded, it));
            told("rejected", "Rejected", chosen, out)
        }
    }
}

fn list(loaded: &Loaded, out: &mut Out) -> Done {
    let settings = &loaded.settings;
    let hooks = settings.hooks.judged(loaded.session);
    if out.json {
        out.value(&json!({
            "hooks": hooks, "blockOnHookFailure": settings.hooks.block_on_failure,
            "hints": settings.hooks.hints, "warnings": settings.warnings,
        }));
        return Ok(code_of(loaded));
    }
    tell_problems(loaded, out);
    for hint in &settings.hooks.hints {
        out.remark(&format!("{}: {}", hint.origin, hint.text));
    }
    if hooks.is_empty() {
        out.line("No hooks are configured.");
    }
    hooks.iter().for_each(|hook| row(hook, out));
    Ok(code_of(loaded))
}

fn row(Judged { hook, standing }: &Judged, out: &mut Out) {
    let matcher = if hook.matcher.as_str().is_empty() { "*" } else { hook.matcher.as_str() };
    // Padded first: what makes it bold has a length too.
    let (word, event) = (standing.as_str(), bold(&format!("{:18}", hook.event.as_str())));
    out.line(format!("{word:14}  {event}  {}", display(matcher)));
    let indent = " ".repeat(16);
    out.line(format!("{indent}{}", display(&hook.shown())));
    let definition = hook.definition().to_string();
    let short = definition.get(..DEFINITION_CHARS).unwrap_or_default();
    out.line(format!("{indent}{}", dim(&format!("{short}  {}", hook.origin))));
    match standing {
        HookStanding::Ready => {}
        HookStanding::NeedsApproval => {
            out.line(format!("{indent}{}", dim(&format!("{standing}"))));
            out.line(format!("{indent}{}", dim(&format!("hint: `mcparley hooks approve {short}`"))));
        }
        HookStanding::Rejected { .. } | HookStanding::Disabled { .. } | HookStanding::Duplicate => {
            out.line(format!("{indent}{}", dim(&standing.to_string())));
        }
    }
}

fn told(
    key: &str,
    word: &str,
    chosen: impl Iterator<Item = Result<ChosenHook, ChangeError>>,
    out: &mut Out,
) -> Done {
    let mut reports: Vec<Value> = Vec::new();
    for chosen in chosen {
        let ChosenHook { hook, file } = chosen?;
        reports
            .push(json!({ key: hook.definition(), "command": hook.shown(), "file": file.to_string_lossy() }));
        if !out.json {
            out.line(format!("{word} {} as it is defined now", bold(&display(&hook.shown()))));
            out.line(format!("File: {}", display(&file.to_string_lossy())));
        }
    }
    if out.json {
        out.value(&json!({ "choices": reports }));
    } else if reports.is_empty() {
        out.line("No hook waits for approval.");
    }
    Ok(exit::OK)
}

/// Says that hooks wait for approval, where people look for what does not run.
pub(super) fn tell_waiting(loaded: &Loaded, out: &mut Out) {
    let waiting = change::pending_hooks(loaded).len();
    if waiting > 0 {
        let (hooks, verb) = if waiting == 1 { ("hook", "waits") } else { ("hooks", "wait") };
        out.line(format!("{waiting} {hooks} of this project {verb} for approval; see `mcparley hooks list`"));
    }
}

/// Passes on what hooks have told the person, and what went wrong with them.
pub(super) fn tell_notes(host: &Host, out: &mut Out) {
    for note in host.hook_notes() {
        let text = display(&note.text);
        if note.is_trouble {
            out.warn(&format!("hook `{}` for {}: {text}", display(&note.hook), note.event));
        } else {
            out.say(format!("{}: {text}", display(&note.hook)));
        }
    }
}
