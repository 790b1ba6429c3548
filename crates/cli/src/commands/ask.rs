//! `ask`: one question to a model that uses the tools of all servers.

use std::collections::VecDeque;
use std::time::Duration;

use mcparley::Host;
use mcparley::catalog::Budget;
use mcparley::config::{LoadedConfig, StartPolicy};
use mcparley::model::explain::Explain as _;
use mcparley::model::limits::MESSAGE_BYTES;
use mcparley_conversation::{
    Conversation, ConversationEvent, ConversationTurn, ModelClient, TurnSummary, UserInput,
};

use super::serve::DenialPrinter;
use super::{CommandResult, hooks, print_problems, usable, warn_unusable_vectors};
use crate::args::AskArgs;
use crate::context::{self, Context};
use crate::error::{CommandError, UsageError};
use crate::exit;
use crate::out::TerminalOutput;
use crate::runtime;
use mcparley_console::arguments::TextInput;
use tokio::time::MissedTickBehavior;

/// The interval at which waiting lines look for the end of a dialog.
const DIALOG_POLL: Duration = Duration::from_millis(100);

pub(super) fn run(
    args: &AskArgs,
    context: &Context,
    loaded: LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let client = context.model_client(&loaded, args.model.as_deref())?.ok_or(CommandError::NoModel)?;
    let question = read_question(args)?;
    print_problems(&loaded, out);
    let budget = tool_budget(&loaded, &client, out);
    let host = context.host_for_model(loaded, out.dialogs()).start_with(StartPolicy::AsNeeded);
    runtime::run_with_host(host, async |host| {
        let servers = usable::wait_until_settled(host, out).await;
        usable::print_server_warnings(&servers, out);
        warn_unusable_vectors(host.check_search_vectors().err(), out);
        let mut denials = DenialPrinter::subscribe_to(host);
        let mut conversation = Conversation::new(host, client).with_budget(budget);
        if let Some(rounds) = args.max_rounds {
            conversation = conversation.with_max_rounds(rounds.into());
        }
        let summary = ask_model(host, &mut conversation, &question, out).await;
        out.stop_waiting();
        denials.print_remaining(out);
        hooks::print_hook_notes(host, out);
        finish_answer(&summary?, out)
    })
}

/// The question: the words of the command line, then the text on standard input if it is not a terminal.
fn read_question(args: &AskArgs) -> Result<String, CommandError> {
    let words = args.words.join(" ");
    let piped = match context::stdin_is_terminal() {
        true => String::new(),
        false => {
            let mut stdin = std::io::stdin().lock();
            TextInput::new(&mut stdin, MESSAGE_BYTES as u64).read_stdin("-")?
        }
    };
    let parts: Vec<&str> = [words.trim(), piped.trim()].into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { Err(UsageError::QuestionMissing.into()) } else { Ok(parts.join("\n\n")) }
}

/// The token budget for tools; an invalid setting is reported and counts as the default.
fn tool_budget(loaded: &LoadedConfig, client: &ModelClient, out: &mut TerminalOutput) -> Budget {
    let window = client.choice().provider().context_window();
    Budget::from_env(&loaded.env, Some(window)).unwrap_or_else(|error| {
        out.warn(&format!("`ENABLE_TOOL_SEARCH`: {error}"));
        error.hint().iter().for_each(|hint| out.hint(hint));
        Budget::for_context(window)
    })
}

async fn ask_model(
    host: &Host,
    conversation: &mut Conversation,
    question: &str,
    out: &mut TerminalOutput,
) -> Result<TurnSummary, CommandError> {
    let waiting = format!("asking {} …", conversation.model());
    out.show_waiting(&waiting);
    let input = UserInput::with_mentions(host, question).await;
    print_turn(conversation.send(input), &waiting, out).await
}

/// Prints the text of the model as it arrives, and one line on standard error for each tool call. While a
/// dialog is on the screen, events wait.
async fn print_turn(
    mut turn: ConversationTurn<'_>,
    waiting: &str,
    out: &mut TerminalOutput,
) -> Result<TurnSummary, CommandError> {
    let mut queue = VecDeque::new();
    let mut is_line_open = false;
    let mut looks = tokio::time::interval(DIALOG_POLL);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let is_over = tokio::select! {
            biased;
            event = turn.next() => {
                let is_over = event.is_none();
                queue.extend(event);
                is_over
            }
            _ = looks.tick(), if !queue.is_empty() => false,
        };
        while (is_over || !out.has_dialog())
            && let Some(event) = queue.pop_front()
        {
            if let Some(end) = print_event(event, &mut is_line_open, waiting, out) {
                return end;
            }
        }
        if is_over {
            // Not reached: the last event of a turn ends it.
            return Err(CommandError::NoModel);
        }
    }
}

/// Prints one event; returns the end of the turn.
fn print_event(
    event: ConversationEvent,
    is_line_open: &mut bool,
    waiting: &str,
    out: &mut TerminalOutput,
) -> Option<Result<TurnSummary, CommandError>> {
    if *is_line_open && !matches!(event, ConversationEvent::TextDelta(_)) {
        *is_line_open = false;
        out.print_line("");
    }
    match event {
        ConversationEvent::TextDelta(text) if !out.json => {
            out.stop_waiting();
            out.print_untrusted_piece(&text);
            *is_line_open = !text.ends_with('\n');
        }
        ConversationEvent::ToolStarted(tool) => out.show_waiting(&format!("calling {} …", tool.label)),
        ConversationEvent::ToolFinished(tool) => {
            out.print_remark(&tool.to_line());
            out.show_waiting(waiting);
        }
        ConversationEvent::Retrying { reason, pause } => {
            out.warn(&format!("{reason}; asking again in {} s", pause.as_secs()));
        }
        ConversationEvent::Finished(summary) => return Some(Ok(summary)),
        ConversationEvent::Failed(error) => return Some(Err(error.into())),
        _ => {}
    }
    None
}

fn finish_answer(summary: &TurnSummary, out: &mut TerminalOutput) -> CommandResult {
    if out.json {
        out.print_json(summary);
    }
    if summary.stop_reason.is_complete() {
        return Ok(exit::OK);
    }
    if !out.json {
        out.print_error(&format!("the answer is not complete: {}", summary.stop_reason.as_str()));
    }
    Ok(exit::MODEL)
}
