//! `trust`: shows the configuration of a folder that needs approval in full, and approves all of it or, on a
//! terminal, the items that the user checks.

use std::io::{BufRead, Write};
use std::path::Path;

use mcparley::Paths;
use mcparley::config::LoadedConfig;
use mcparley::config::change::{self, PendingApprovals};
use mcparley::config::plan::PlannedServer;
use mcparley::model::approval::{ApprovalItem, ItemKind};
use mcparley::model::config::ReviewField;
use mcparley::model::text::display_line;
use mcparley_console::dialog::approval::{approval_entries, hook_fields, review_fields};
use serde_json::{Value, json};

use super::CommandResult;
use crate::args::TrustArgs;
use crate::context::{self, Context};
use crate::error::{CommandError, UsageError};
use crate::exit;
use crate::out::{TerminalOutput, bold, dim};
use crate::runtime;
use mcparley_report::WaitingReport;

pub(super) fn run(args: &TrustArgs, context: &Context, out: &mut TerminalOutput) -> CommandResult {
    let paths = match &args.folder {
        Some(folder) => paths_in(folder, context)?,
        None => context.paths.clone(),
    };
    let waiting = PendingApprovals::find_in_project(&paths, &context.run_options);
    if !out.json {
        show_waiting(&waiting, out);
    }
    let items = if waiting.is_empty() { Vec::new() } else { ask_consent(args, &waiting, out)? };
    let file = if items.is_empty() { None } else { Some(change::approve_items(&paths, &items)?) };
    if out.json {
        out.print_json(&trust_report(&waiting, file.as_deref()));
    } else if let Some(file) = &file {
        out.print_line(format!("Approved\nFile: {}", display_line(&file.to_string_lossy())));
    }
    Ok(if waiting.is_empty() || file.is_some() { exit::OK } else { exit::DENIED })
}

/// The paths with the folder as working directory.
fn paths_in(folder: &Path, context: &Context) -> Result<Paths, UsageError> {
    match context.paths.cwd.join(folder).canonicalize() {
        Ok(folder) if folder.is_dir() => Ok(context.paths.with_cwd(&folder)),
        Ok(_) | Err(_) => Err(UsageError::FolderMissing { folder: folder.to_owned() }),
    }
}

/// The items that the user approves: all with `--yes`, the checked ones in the dialog on a terminal.
fn ask_consent(
    args: &TrustArgs,
    waiting: &PendingApprovals,
    out: &mut TerminalOutput,
) -> Result<Vec<ApprovalItem>, CommandError> {
    if args.yes {
        return Ok(waiting.to_items());
    }
    if out.json || !context::is_interactive() {
        out.hint("not approved; run `mcparley trust --yes` to approve all of it");
        return Ok(Vec::new());
    }
    let title = "This folder brings items that wait for you";
    match out.dialogs() {
        Some(dialogs) => {
            let entries = approval_entries(waiting);
            runtime::run_cancelable(dialogs.choose_approvals(title, &entries, false))
        }
        None if ask_yes_no("Approve all of this? [y/N]", out) => Ok(waiting.to_items()),
        None => Ok(Vec::new()),
    }
}

/// Asks the user a yes-or-no question; any answer except yes is no.
pub(super) fn ask_yes_no(question: &str, out: &mut TerminalOutput) -> bool {
    out.print_message(question);
    let mut answer = String::new();
    // Flushed, so that the question is visible before the program waits for the answer.
    let asked = std::io::stderr().flush().and_then(|()| std::io::stdin().lock().read_line(&mut answer));
    asked.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

fn show_waiting(waiting: &PendingApprovals, out: &mut TerminalOutput) {
    let folder = waiting.folder.to_string_lossy();
    if waiting.is_empty() {
        return out.print_line(format!("Nothing in {} needs approval.", display_line(&folder)));
    }
    out.print_line(format!(
        "The configuration in {} needs approval before it is used:",
        display_line(&folder)
    ));
    for server in &waiting.servers {
        show_server(server, None, &waiting.approved, out);
    }
    for (agent, server) in &waiting.agents {
        show_server(server, Some(agent), &waiting.approved, out);
    }
    for waiting in &waiting.items {
        let word = match waiting.item.kind {
            ItemKind::Rule => "allows without asking",
            ItemKind::Variable => "variable",
            ItemKind::Server | ItemKind::Hook => continue,
        };
        out.print_line(format!("{}  {}", bold(word), display_line(&waiting.text)));
        out.print_line(format!("  {}", dim(&format!("{}; {}", waiting.origin, waiting.why))));
    }
    for hook in &waiting.hooks {
        out.print_line(format!("{}  {}", bold("hook"), display_line(hook.event.as_str())));
        hook_fields(hook).iter().for_each(|field| show_field(field, out));
        out.print_line(format!("  {}", dim(&hook.origin.to_string())));
    }
}

/// Prints a server in full, every element on its own line, so that none can hide behind spaces or in a long
/// line.
pub(super) fn show_server(
    server: &PlannedServer,
    agent: Option<&str>,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) {
    let name = display_line(server.name.as_str()).into_owned();
    let by = agent.map(|agent| format!(" of agent {}", display_line(agent))).unwrap_or_default();
    out.print_line(format!("{}  {}{by}", bold("server"), bold(&name)));
    out.print_line(format!("  {}", dim(&format!("declared in {}", server.origin))));
    review_fields(server, loaded).iter().for_each(|field| show_field(field, out));
    let dangerous: Vec<&str> = server.dangerous_variables().collect();
    if !dangerous.is_empty() {
        out.print_line(format!(
            "  caution: {} can change the program that runs",
            display_line(&dangerous.join(", "))
        ));
    }
}

fn show_field(field: &ReviewField, out: &mut TerminalOutput) {
    out.print_line(format!("  {}: {}", display_line(&field.name), display_line(&field.written)));
    if let Some(runs) = &field.runs {
        out.print_line(format!("    runs as: {}", display_line(runs)));
    }
}

fn trust_report(waiting: &PendingApprovals, file: Option<&Path>) -> Value {
    let server = |agent: Option<&str>, server: &PlannedServer| {
        json!({
            "name": server.name, "agent": agent, "scope": server.scope, "origin": server.origin,
            "definition": server.definition, "fields": review_fields(server, &waiting.approved),
            "cautions": server.dangerous_variables().collect::<Vec<_>>(),
        })
    };
    let shared = waiting.servers.iter().map(|it| server(None, it));
    let brought = waiting.agents.iter().map(|(agent, it)| server(Some(agent), it));
    let WaitingReport { variables, rules } = WaitingReport::from_items(&waiting.items);
    let hooks: Vec<Value> = waiting
        .hooks
        .iter()
        .map(|it| json!({ "event": it.event, "origin": it.origin, "fields": hook_fields(it) }))
        .collect();
    json!({
        "folder": waiting.folder.to_string_lossy(),
        "servers": shared.chain(brought).collect::<Vec<_>>(),
        "variables": variables,
        "rules": rules,
        "hooks": hooks,
        "approved": file.is_some(),
        "file": file.map(Path::to_string_lossy),
    })
}
