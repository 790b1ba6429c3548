//! `call`: calls one tool, with the consent of the user who typed the command.

mod print;
mod save;
mod tool_choice;

use std::sync::Arc;
use std::time::Duration;

use mcparley::call::{DetachError, ProgressStream, ProgressUpdate};
use mcparley::catalog::CatalogEntry;
use mcparley::config::LoadedConfig;
use mcparley::model::limits::MESSAGE_BYTES;
use mcparley::model::text::display_line;
use mcparley::permission::Consent;
use mcparley::pool::connection::Unavailable;
use mcparley::{Call, CallError, CallOutcome, Host};
use mcparley_console::arguments::{self, DescribedTool, ParsedWords, TextInput};
use mcparley_daemon::TaskRequest;
use mcparley_daemon::task_view::start_task;
use serde_json::{Map, Value};

use super::{CommandResult, daemon, hooks, usable};
use crate::args::{CallArgs, CallCommandOptions};
use crate::context::{self, Context};
use crate::error::{CommandError, DaemonCommandError, UnavailableError, UsageError};
use crate::exit::{self, NamedExitCode};
use crate::out::TerminalOutput;
use crate::runtime;
pub(super) use save::overwrite_file;
use tool_choice::CallTarget;

pub(super) fn run(
    args: &CallArgs,
    context: &Context,
    loaded: LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let wanted = CallTarget::from_args(args, &loaded)?;
    let asked_for_json = out.json;
    // The tool may have an argument `json` too, which is known only once its schema is loaded. Until then
    // errors are JSON.
    out.json |= wanted.argument_words().iter().take_while(|word| *word != "--").any(|word| word == "--json");
    let start = wanted.servers_to_start(&loaded);
    let host = context.host_for_user(loaded, out.dialogs()).start_with(start);
    runtime::run_with_host(host, async |host| {
        // Before the first wait, so that no server has been started yet.
        wanted.check_spelling(host)?;
        let entry = wanted.find_entry(host, out).await?;
        let schema = parse_schema(&entry)?;
        let own = CallCommandOptions::trailing_options();
        let mut stdin = std::io::stdin().lock();
        let mut input = TextInput::new(&mut stdin, MESSAGE_BYTES as u64);
        let ParsedWords { arguments, own_options: own, help } =
            arguments::parse_words(&schema, wanted.argument_words(), &own, &mut input)?;
        let (options, json) = args.options.merge_trailing(&own).map_err(UsageError::TrailingOptions)?;
        out.json = asked_for_json || json;
        if help {
            out.print_text(&arguments::tool_help(&describe_tool(&entry, &schema)));
            return Ok(exit::OK);
        }
        if let Some(server) = entry.sign_in_target().filter(|_| out.dialogs().is_some()) {
            // The command waits for the sign-in, which would end with this process.
            usable::sign_in_on_terminal(host, server, out).await?;
            out.print_line(format!("Signed in to `{}`", display_line(server.as_str())));
            return Ok(exit::OK);
        }
        let call = build_call(&entry, arguments, &options, out);
        if options.detach {
            return detach_call(host, call, (&options, context), out).await;
        }
        let outcome = call_tool(host, call, &entry, out).await;
        hooks::print_hook_notes(host, out);
        let outcome = outcome.inspect_err(|error| print_failure_stderr(error, out));
        let outcome = match outcome {
            Err(error @ CallError::Arguments { .. })
                if wanted.argument_words().is_empty() && context::stdin_has_data() =>
            {
                return Err(UsageError::UnreadInput { problem: error.to_string() }.into());
            }
            outcome => outcome?,
        };
        finish_call(&outcome, &entry, &options, out)
    })
}

/// The call that the user has typed.
fn build_call(
    entry: &Arc<CatalogEntry>,
    arguments: Map<String, Value>,
    options: &CallCommandOptions,
    out: &TerminalOutput,
) -> Call {
    // On a terminal an ask rule asks; in a script the typed command is all the consent there can be.
    let consent = if out.dialogs().is_some() { Consent::Typed } else { Consent::Given };
    let call = Call::for_entry(entry, arguments).with_consent(consent);
    match options.timeout {
        Some(milliseconds) => call.with_limit(Duration::from_millis(milliseconds)),
        None => call,
    }
}

/// Hands a permitted call to the daemon, and prints the id of its task.
async fn detach_call(
    host: &Host,
    call: Call,
    (options, context): (&CallCommandOptions, &Context),
    out: &mut TerminalOutput,
) -> CommandResult {
    let prepared = host.prepare_detached_call(call, &context.daemon_link()).await;
    hooks::print_hook_notes(host, out);
    let call = prepared.map_err(|error| match error {
        DetachError::Call(error) => CommandError::from(error),
        error => DaemonCommandError::Detach(error).into(),
    })?;
    daemon::start_daemon(context)?;
    let request = TaskRequest::from_call(call, options.ttl.map(Duration::from_secs));
    let task = start_task(&context.daemon_paths, &request).map_err(DaemonCommandError::Task)?;
    if out.json {
        out.print_json(&task);
    } else {
        out.print_line(&task.id);
        out.hint(&format!("run `mcparley tasks {} --wait` for the result", task.id));
    }
    Ok(exit::OK)
}

/// Calls the tool and shows its progress.
async fn call_tool(
    host: &Host,
    call: Call,
    entry: &CatalogEntry,
    out: &mut TerminalOutput,
) -> Result<CallOutcome, CallError> {
    let what = format!("calling {} …", entry.name);
    out.show_waiting(&what);
    let outcome = if out.is_waiting() {
        let (call, progress) = call.with_progress();
        report_progress(host.call(call), progress, &what, out).await
    } else {
        host.call(call).await
    };
    out.stop_waiting();
    outcome
}

/// Waits for a call and shows its progress messages meanwhile.
async fn report_progress<T>(
    call: impl Future<Output = T>,
    mut progress: ProgressStream,
    what: &str,
    out: &mut TerminalOutput,
) -> T {
    let mut call = std::pin::pin!(call);
    loop {
        tokio::select! {
            biased;
            done = &mut call => return done,
            Some(progress) = progress.next() => out.show_waiting(&format!("{what} {}", progress_text(&progress))),
            else => return call.await,
        }
    }
}

/// The progress as text: `40 %` or `12`, followed by the message.
fn progress_text(progress: &ProgressUpdate) -> String {
    let number = match progress.total {
        Some(total) if total > 0.0 => {
            format!("{:.0} %", (progress.progress / total * 100.0).clamp(0.0, 100.0))
        }
        Some(_) | None => format!("{}", progress.progress),
    };
    match progress.message.as_deref().filter(|message| !message.is_empty()) {
        Some(message) => format!("{number} {}", display_line(message)),
        None => number,
    }
}

fn finish_call(
    outcome: &CallOutcome,
    entry: &CatalogEntry,
    options: &CallCommandOptions,
    out: &mut TerminalOutput,
) -> CommandResult {
    let saved = save::save_files(outcome, entry, options, out)?;
    if out.json {
        out.print_json(outcome);
    }
    Ok(print_result(outcome, &saved, entry.name.as_str(), out))
}

/// Prints a result as text, unless JSON was printed; returns its exit code.
pub(super) fn print_result(
    outcome: &CallOutcome,
    saved: &[save::SavedFile],
    tool: &str,
    out: &mut TerminalOutput,
) -> NamedExitCode {
    if !out.json {
        print::print_outcome(outcome, saved, out);
    }
    if !outcome.is_error {
        return exit::OK;
    }
    if !out.json {
        out.print_error(&format!("tool `{}` returned an error", display_line(tool)));
    }
    exit::TOOL_ERROR
}

/// Prints the last stderr lines of a server that is not available, which often contain the reason.
fn print_failure_stderr(error: &CallError, out: &mut TerminalOutput) {
    if let CallError::Unavailable {
        why: Unavailable::Failed(error) | Unavailable::Waiting { error, .. },
        ..
    } = error
    {
        usable::print_last_stderr(&error.stderr, out);
    }
}

fn parse_schema(entry: &Arc<CatalogEntry>) -> Result<Value, UnavailableError> {
    let unreadable = |error| UnavailableError::ToolSchema { tool: entry.name.to_string(), error };
    serde_json::from_str(entry.tool.input_schema.get()).map_err(unreadable)
}

fn describe_tool<'e>(entry: &'e CatalogEntry, schema: &'e Value) -> DescribedTool<'e> {
    let name = entry.tool.name.as_str();
    let how = match entry.server() {
        Some(server) => vec![server.as_str(), name],
        None => vec![name],
    };
    DescribedTool { how, title: entry.tool.title.as_deref(), description: &entry.tool.description, schema }
}
