//! The user's choices about servers: `approve`, `reject`, `enable`, `disable` and `reset-project-choices`.

use mcparley::config::LoadedConfig;
use mcparley::config::change::{self, SwitchedServer, SwitchedTools};
use mcparley::config::plan::{PlanStatus, PlannedServer};
use mcparley::model::text::display_line;
use mcparley_console::dialog::TerminalDialogs;
use mcparley_console::dialog::approval::{ApprovalEntry, server_entry};
use serde_json::{Value, json};

use super::{CommandResult, agents, trust};
use crate::args::{ApproveArgs, DisableArgs, EnableArgs, RejectArgs};
use crate::context::{self, Context};
use crate::error::CommandError;
use crate::exit;
use crate::out::{TerminalOutput, bold};
use crate::runtime;
use mcparley_report::effective_servers;

pub(super) fn run_approve(
    args: &ApproveArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let loaded = &agents::load_agent_servers(&args.seen_by, &args.names, context, loaded)?;
    let waiting = |server: &&PlannedServer| is_waiting(server);
    let names: Vec<String> = if args.all {
        loaded.plan.servers.iter().filter(waiting).map(|server| server.name.as_str().to_owned()).collect()
    } else {
        args.names.clone()
    };
    // `--definition` proves that the user has seen the server, so it is not shown again.
    let is_shown = args.definition.is_none() && show_waiting_servers(&names, loaded, out);
    let names = if is_shown && !args.yes { ask_consent(args, names, loaded, out)? } else { names };
    if is_shown && names.is_empty() {
        return Ok(exit::DENIED);
    }
    let mut reports = Vec::new();
    for name in &names {
        let chosen = change::approve_server(&context.paths, loaded, name, args.definition.as_deref())?;
        let definition = chosen.definition.map(|definition| definition.to_string());
        reports.push(json!({
            "approved": chosen.name, "definition": definition, "file": chosen.file.to_string_lossy(),
            "stillRejectedBy": chosen.still_rejected,
        }));
        if !out.json {
            out.print_line(format!("Approved {} as currently defined", bold(name)));
            out.print_line(format!("File: {}", display_line(&chosen.file.to_string_lossy())));
            if let Some(by) = &chosen.still_rejected {
                out.warn(&format!("it is still rejected in {by}, which takes precedence"));
            }
        }
    }
    print_reports("choices", &reports, "No server needs approval.", out)
}

/// Asks for consent on a terminal. Without one, naming a server on the command line is consent.
/// Returns the agreed servers.
fn ask_consent(
    args: &ApproveArgs,
    names: Vec<String>,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> Result<Vec<String>, CommandError> {
    let is_asked = !out.json && context::is_interactive();
    let agreed = match out.dialogs() {
        Some(dialogs) => check_servers(&dialogs, &names, loaded)?,
        None if is_asked && trust::ask_yes_no("Approve? [y/N]", out) => names,
        None if is_asked || args.all => Vec::new(),
        None => names,
    };
    match (agreed.is_empty(), is_asked) {
        (false, _) => {}
        (true, true) => out.print_line("No server was approved."),
        (true, false) => {
            out.hint("no server was approved; run `mcparley approve --all --yes` to approve all of them");
        }
    }
    Ok(agreed)
}

/// Asks which of the servers to approve, in a dialog. A server that needs no approval is not asked about.
fn check_servers(
    dialogs: &TerminalDialogs,
    names: &[String],
    loaded: &LoadedConfig,
) -> Result<Vec<String>, CommandError> {
    let waiting = |name: &String| find_waiting(name, loaded);
    let entry = |server: &PlannedServer| server_entry(server, loaded.agent.as_deref(), loaded);
    let (asked, entries): (Vec<&String>, Vec<ApprovalEntry>) =
        names.iter().filter_map(|name| Some((name, waiting(name).and_then(entry)?))).unzip();
    let items = runtime::run_cancelable(dialogs.choose_approvals("Approve", &entries, true))?;
    let agreed = asked.into_iter().zip(&entries).filter(|(_, entry)| items.contains(&entry.item));
    Ok(agreed.map(|(name, _)| name.clone()).collect())
}

/// Shows the servers that need approval in full; returns whether there are any.
fn show_waiting_servers(names: &[String], loaded: &LoadedConfig, out: &mut TerminalOutput) -> bool {
    let mut is_any = false;
    for name in names {
        let Some(server) = find_waiting(name, loaded) else { continue };
        if !out.json {
            trust::show_server(server, loaded.agent.as_deref(), loaded, out);
        }
        is_any = true;
    }
    is_any
}

/// The server of this name that needs approval.
fn find_waiting<'l>(name: &str, loaded: &'l LoadedConfig) -> Option<&'l PlannedServer> {
    loaded.plan.servers_by_name(name).into_iter().find(|server| is_waiting(server))
}

fn is_waiting(server: &PlannedServer) -> bool {
    matches!(server.status, PlanStatus::NeedsApproval(_))
}

pub(super) fn run_reject(
    args: &RejectArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let loaded = &agents::load_agent_servers(&args.seen_by, &args.names, context, loaded)?;
    let mut reports = Vec::new();
    for name in &args.names {
        let chosen = change::reject_server(&context.paths, loaded, name, args.scope.into())?;
        reports.push(json!({ "rejected": chosen.name, "file": chosen.file.to_string_lossy() }));
        if !out.json {
            out.print_line(format!("Rejected {}", bold(name)));
            out.print_line(format!("File: {}", display_line(&chosen.file.to_string_lossy())));
        }
    }
    print_reports("choices", &reports, "", out)
}

pub(super) fn run_enable(
    args: &EnableArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    if !args.tools.is_empty() {
        let switched = change::enable_tools(&context.paths, loaded, &args.name, &args.tools)?;
        return print_switched_tools(&switched, true, out);
    }
    let mut reports = Vec::new();
    for name in resolve_names(&args.name, loaded) {
        let switched = change::enable_server(&context.paths, loaded, &name)?;
        print_switched(&switched, "enabled", out);
        reports.push(switch_report(&switched, true));
    }
    print_reports("servers", &reports, "No servers are configured.", out)
}

pub(super) fn run_disable(
    args: &DisableArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    if !args.tools.is_empty() {
        let switched = change::disable_tools(&context.paths, loaded, &args.name, &args.tools)?;
        return print_switched_tools(&switched, false, out);
    }
    let mut reports = Vec::new();
    for name in resolve_names(&args.name, loaded) {
        let switched = change::disable_server(&context.paths, loaded, &name, args.scope.into())?;
        print_switched(&switched, "disabled", out);
        reports.push(switch_report(&switched, false));
    }
    print_reports("servers", &reports, "No servers are configured.", out)
}

fn print_switched_tools(switched: &SwitchedTools, enabled: bool, out: &mut TerminalOutput) -> CommandResult {
    let SwitchedTools { server, tools, file, is_old, still_disabled } = switched;
    if out.json {
        out.print_json(&json!({
            "name": server, "tools": tools, "enabled": enabled && still_disabled.is_none(),
            "file": file.to_string_lossy(), "existed": is_old, "stillDisabledBy": still_disabled,
        }));
        return Ok(exit::OK);
    }
    let (way, tools) =
        (if enabled { "enabled" } else { "disabled" }, display_line(&tools.join(", ")).into_owned());
    match is_old {
        true => out.print_line(format!("{} of {server} was already {way}", bold(&tools))),
        false => {
            out.print_line(format!("{} of {server} is now {way}", bold(&tools)));
            out.print_line(format!("File: {}", display_line(&file.to_string_lossy())));
        }
    }
    if let Some(glob) = still_disabled {
        out.warn(&format!("still disabled by `{}` in `disabledTools`", display_line(glob)));
    }
    Ok(exit::OK)
}

pub(super) fn run_reset(context: &Context, out: &mut TerminalOutput) -> CommandResult {
    let files = change::reset_project_choices(&context.paths)?;
    let files: Vec<String> = files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
    if out.json {
        out.print_json(&json!({ "reset": files }));
        return Ok(exit::OK);
    }
    if files.is_empty() {
        out.print_line("No choices to reset for this project.");
    }
    for file in files {
        out.print_line(format!("Reset the choices in {}", display_line(&file)));
    }
    Ok(exit::OK)
}

/// The given name, or all names for `all`, unless a server is really named `all`.
fn resolve_names(name: &str, loaded: &LoadedConfig) -> Vec<String> {
    if name == "all" && loaded.plan.servers_by_name(name).is_empty() {
        return effective_servers(&loaded.plan)
            .into_iter()
            .map(|server| server.name.as_str().to_owned())
            .collect();
    }
    vec![name.to_owned()]
}

fn print_switched(switched: &SwitchedServer, way: &str, out: &mut TerminalOutput) {
    if out.json {
        return;
    }
    match switched.files.as_slice() {
        [] => out.print_line(format!("{} was already {way}", bold(&switched.name))),
        files => {
            out.print_line(format!("{} is now {way}", bold(&switched.name)));
            for file in files {
                out.print_line(format!("File: {}", display_line(&file.to_string_lossy())));
            }
        }
    }
    if let Some(by) = &switched.still_disabled {
        out.warn(&format!("it is still disabled in {by}"));
    }
}

fn switch_report(switched: &SwitchedServer, enabled: bool) -> Value {
    let files: Vec<_> = switched.files.iter().map(|file| file.to_string_lossy()).collect();
    json!({
        "name": switched.name,
        "enabled": enabled && switched.still_disabled.is_none(),
        "files": files,
        "stillDisabledBy": switched.still_disabled,
    })
}

fn print_reports(key: &str, reports: &[Value], nothing: &str, out: &mut TerminalOutput) -> CommandResult {
    if out.json {
        out.print_json(&json!({ key: reports }));
    } else if reports.is_empty() {
        out.print_line(nothing);
    }
    Ok(exit::OK)
}
