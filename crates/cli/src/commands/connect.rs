//! `connect`: writes the gateway into the configuration of an MCP client, after consent, and undoes it.

use std::io::{BufRead, Write};

use mcparley::config::LoadedConfig;
use mcparley::config::client_setup::{
    ClientConnection, ClientProgram, ClientStatus, ConnectRequest, ConnectionChange, GatewayCommand,
    Restoration, RestoredFile, SetupContext, SetupScope, list_clients, plan_connection, undo_connection,
    write_connection,
};
use mcparley::config::import::{ImportPaths, Os};
use mcparley::model::scope::Scope;
use mcparley::model::text::display_line;
use serde_json::{Value, json};

use super::CommandResult;
use crate::args::{ConnectArgs, SetupScopeArg};
use crate::context::{self, Context};
use crate::exit;
use crate::out::{TerminalOutput, bold, dim};

pub(super) fn run(
    args: &ConnectArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let setup = SetupContext {
        paths: &context.paths,
        places: ImportPaths {
            home: &context.paths.home,
            config_home: &context.config_home,
            project: &context.paths.project,
            os: Os::current(),
        },
        run_options: &context.run_options,
        loaded,
    };
    let scope = match args.scope {
        SetupScopeArg::User => SetupScope::User,
        SetupScopeArg::Project => SetupScope::Project,
    };
    match args.client.as_deref().and_then(ClientProgram::parse) {
        None => {
            print_clients(&list_clients(&setup), out);
            Ok(exit::OK)
        }
        Some(client) if args.undo => {
            let restored = undo_connection(client, scope, &setup)?;
            print_restored(client, &restored, out);
            Ok(exit::OK)
        }
        Some(client) => connect_client(args, client, scope, &setup, out),
    }
}

fn connect_client(
    args: &ConnectArgs,
    client: ClientProgram,
    scope: SetupScope,
    setup: &SetupContext<'_>,
    out: &mut TerminalOutput,
) -> CommandResult {
    let command = GatewayCommand::for_client(client, scope, serve_options(args, setup), setup);
    let plan = plan_connection(&ConnectRequest { client, scope, command, take_over: args.take_over }, setup)?;
    if !out.json {
        show_plan(&plan, out);
    }
    let is_asked = plan.has_changes() && !args.print;
    let is_wanted = is_asked && (args.yes || (!out.json && ask_consent(out)));
    if is_wanted {
        write_connection(&plan, setup)?;
    }
    if out.json {
        out.print_json(&plan_report(&plan, is_wanted));
    } else {
        print_next_steps(&plan, setup.loaded, is_wanted, out);
    }
    match is_asked && !is_wanted {
        true => {
            out.hint("nothing was written; use `--yes` to write it");
            Ok(exit::DENIED)
        }
        false => Ok(exit::OK),
    }
}

/// The options of `serve` that the entry gets.
fn serve_options(args: &ConnectArgs, setup: &SetupContext<'_>) -> Vec<String> {
    let run = setup.run_options;
    let mut options: Vec<String> = Vec::new();
    let mut add = |name: &str, value: &str| options.extend([name.to_owned(), value.to_owned()]);
    args.only.iter().for_each(|server| add("--only", server));
    args.tools.iter().for_each(|tools| add("--tools", tools));
    run.mode.iter().for_each(|mode| add("--permission-mode", mode.as_str()));
    run.allowed_tools.iter().for_each(|rule| add("--allowed-tools", rule));
    run.disallowed_tools.iter().for_each(|rule| add("--disallowed-tools", rule));
    options
}

fn show_plan(plan: &ClientConnection, out: &mut TerminalOutput) {
    let file = display_line(&plan.file.to_string_lossy()).into_owned();
    out.print_line(format!("{}  {}", bold(plan.client.title()), dim(&file)));
    out.print_line(format!("  {}: {}", display_line(&plan.name), display_line(&plan.entry.to_string())));
    let Some(taken) = &plan.take_over else { return };
    for server in &taken.moved {
        let verb = if server.entry.is_some() { "move" } else { "remove (user scope has it)" };
        out.print_line(format!("  {verb} {}", display_line(&server.name)));
        for note in &server.notes {
            out.print_line(format!("    {}", dim(&format!("note: {note}"))));
        }
    }
    for left in &taken.left {
        out.warn(&format!("`{}` stays in {}: {}", left.name, plan.client.title(), left.reason));
    }
}

fn ask_consent(out: &mut TerminalOutput) -> bool {
    if !context::is_interactive() {
        return false;
    }
    out.print_message("Write it? [y/N]");
    let mut answer = String::new();
    // Flushed, so that the question is visible before the program waits for the answer.
    let asked = std::io::stderr().flush().and_then(|()| std::io::stdin().lock().read_line(&mut answer));
    asked.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

fn print_next_steps(
    plan: &ClientConnection,
    loaded: &LoadedConfig,
    is_written: bool,
    out: &mut TerminalOutput,
) {
    let (client, title) = (plan.client, plan.client.title());
    if !plan.has_changes() {
        out.print_line(format!("{title} is connected already; nothing was changed."));
    } else if is_written {
        out.print_line(format!("Connected {title}."));
        out.print_line(client.restart_note());
        out.print_line(client.consent_note(plan.scope));
    }
    let count = plan.own_servers.len();
    if plan.take_over.is_none() && count > 0 && plan.scope == SetupScope::User {
        out.hint(&format!(
            "{title} also starts {count} server(s) itself; `mcparley connect {client} --take-over` moves them"
        ));
    }
    print_folder_servers(plan, loaded, out);
    if plan.has_changes() && is_written {
        let scope = if plan.scope == SetupScope::Project { " --scope project" } else { "" };
        out.hint(&format!("`mcparley connect {client}{scope} --undo` puts the file back"));
    }
}

/// Names the servers that the client also starts itself in this folder. Those of the project's file are for the
/// whole team, so no advice removes them.
fn print_folder_servers(plan: &ClientConnection, loaded: &LoadedConfig, out: &mut TerminalOutput) {
    let title = plan.client.title();
    let is_shared = |name: &&String| {
        loaded.plan.servers_by_name(name).iter().any(|server| server.scope == Scope::Project)
    };
    let (shared, own): (Vec<&String>, Vec<&String>) = plan.folder_servers.iter().partition(is_shared);
    let join = |names: &[&String]| {
        let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
        display_line(&names.join("`, `")).into_owned()
    };
    if !own.is_empty() {
        out.hint(&format!(
            "in this folder {title} also starts `{}` itself; to have it once, remove it and add it with \
             `mcparley add --scope user --file settings`, which {title} does not read",
            join(&own)
        ));
    }
    if !shared.is_empty() {
        out.hint(&format!(
            "in this folder {title} also starts `{}` itself, since `.mcp.json` lists it for the whole team; leave \
             it there, its tools are listed twice",
            join(&shared)
        ));
    }
}

fn plan_report(plan: &ClientConnection, is_written: bool) -> Value {
    let change = match plan.change {
        ConnectionChange::None => "none",
        ConnectionChange::Add => "add",
        ConnectionChange::Replace => "replace",
    };
    let taken = plan.take_over.clone().unwrap_or_default();
    let moved = taken.moved.iter().map(|server| {
        let added = server.entry.is_some();
        json!({ "name": server.name, "newName": server.new_name, "added": added, "notes": server.notes })
    });
    let left = taken.left.iter().map(|left| json!({ "name": left.name, "reason": left.reason }));
    json!({
        "client": plan.client, "scope": plan.scope, "file": plan.file, "name": plan.name, "entry": plan.entry,
        "change": change, "written": is_written, "ownServers": plan.own_servers,
        "folderServers": plan.folder_servers,
        "moved": moved.collect::<Vec<_>>(), "left": left.collect::<Vec<_>>(),
        "asks": plan.client.consent_note(plan.scope), "restart": plan.client.restart_note(),
    })
}

fn print_restored(client: ClientProgram, restored: &[RestoredFile], out: &mut TerminalOutput) {
    if out.json {
        return out.print_json(&json!({ "client": client, "files": restored }));
    }
    for RestoredFile { file, restoration, left } in restored {
        let file = display_line(&file.to_string_lossy()).into_owned();
        out.print_line(match restoration {
            Restoration::Restored => format!("Restored {file}"),
            Restoration::Removed => format!("Removed {file}, which was not there before"),
            Restoration::EntriesOnly => {
                format!("Took the entry out of {file}; the rest has changed since and stays")
            }
            Restoration::Missing => format!("Skipped {file}, which is gone"),
        });
        for name in left {
            out.warn(&format!("`{name}` in {file} was changed since and stays"));
        }
    }
    out.print_line(format!(
        "Disconnected {title}. Restart {title} if it is running.",
        title = client.title()
    ));
}

fn print_clients(clients: &[ClientStatus], out: &mut TerminalOutput) {
    if out.json {
        return out.print_json(&json!({ "clients": clients }));
    }
    let word_of = |status: &ClientStatus| match (status.is_connected(), status.installed) {
        (true, _) => "connected",
        (false, true) => "not connected",
        (false, false) => "not found",
    };
    for status in clients {
        let name = format!("{:<15}", status.client.as_str());
        let connected = status.files.iter().filter(|file| file.connected_as.is_some());
        let shown = connected.clone().next().or_else(|| status.files.first());
        let file = shown.map(|shown| shown.file.to_string_lossy().into_owned()).unwrap_or_default();
        let file = if status.installed || status.is_connected() {
            display_line(&file).into_owned()
        } else {
            String::new()
        };
        out.print_line(format!("{}{:<14} {}", bold(&name), word_of(status), dim(&file)).trim_end());
        for problem in status.files.iter().filter_map(|file| file.problem.as_deref()) {
            out.warn(problem);
        }
    }
    out.hint("`mcparley connect CLIENT` connects one");
}
