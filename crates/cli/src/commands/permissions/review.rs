//! `permissions review`: shows changed tools with their differences, and accepts them.

use mcparley::Host;
use mcparley::catalog::ChangedTool;
use mcparley::config::{LoadedConfig, StartPolicy};
use mcparley::model::name::ServerName;
use mcparley::model::text::display_line;
use serde_json::json;

use super::{CommandResult, print_problems};
use crate::args::ReviewArgs;
use crate::commands::usable;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit;
use crate::out::{TerminalOutput, bold};
use crate::runtime;

pub(super) fn run(
    args: &ReviewArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let start = match &args.server {
        Some(server) => StartPolicy::Only(vec![ServerName::new(server)]),
        None => StartPolicy::All,
    };
    let host = context.host_for_model(loaded.clone(), out.dialogs()).start_with(start);
    runtime::run_with_host(host, async |host| {
        let changed = find_changed_tools(args, host, loaded, out).await?;
        if args.accept {
            for tool in &changed {
                host.accept_tool(&tool.server, &tool.tool).await?;
            }
        }
        show_changes(args, &changed, loaded, out)
    })
}

/// The changed tools of the selected server or tool; a named server must work.
async fn find_changed_tools(
    args: &ReviewArgs,
    host: &Host,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> Result<Vec<ChangedTool>, CommandError> {
    let servers = usable::wait_until_settled(host, out).await;
    if let Some(name) = &args.server {
        let server = usable::find_server(loaded, &servers, name, out)?;
        usable::require_usable(&servers, &server, out)?;
    }
    let is_meant = |changed: &&ChangedTool| {
        args.server.as_deref().is_none_or(|server| changed.server.as_str() == server)
            && args.tool.as_deref().is_none_or(|tool| changed.tool.as_str() == tool)
    };
    Ok(host.catalog().changed_tools().iter().filter(is_meant).cloned().collect())
}

fn show_changes(
    args: &ReviewArgs,
    changed: &[ChangedTool],
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let code = if args.accept || changed.is_empty() { exit::OK } else { exit::CONFLICT };
    if out.json {
        out.print_json(&json!({ "changed": changed, "accepted": args.accept }));
        return Ok(code);
    }
    print_problems(loaded, out);
    if changed.is_empty() {
        out.print_line("No tool has changed since it was first seen or last reviewed.");
    }
    for ChangedTool { server, tool, withheld, change, .. } in changed {
        let withheld = if *withheld && !args.accept { ", withheld" } else { "" };
        let name = format!("{} of {}{withheld}", display_line(tool.as_str()), display_line(server.as_str()));
        out.print_line(bold(&name));
        change.to_string().lines().for_each(|line| out.print_line(format!("  {line}")));
    }
    match (args.accept, changed.len()) {
        (_, 0) => {}
        (true, count) => out.print_line(format!("Accepted {count} changed tool(s)")),
        (false, _) => out.hint("use `--accept` to accept these changes"),
    }
    Ok(code)
}
