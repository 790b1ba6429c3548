//! `permissions review`: tools that have changed, the difference, and accepting them.

use mcparley::model::name::ServerName;
use mcparley::model::text::display;
use mcparley::{ChangedTool, Host, Loaded, Start};
use serde_json::json;

use super::{Done, tell_problems};
use crate::args::ReviewArgs;
use crate::commands::usable;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit;
use crate::live;
use crate::out::{Out, bold};

pub(super) fn run(args: &ReviewArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let start = match &args.server {
        Some(server) => Start::Only(vec![ServerName::new(server)]),
        None => Start::All,
    };
    let host = context.host(loaded.clone()).start_with(start);
    live::with_host(host, async |host| {
        let changed = changed(args, host, loaded, out).await?;
        if args.accept {
            for tool in &changed {
                host.accept_tool(&tool.server, &tool.tool).await?;
            }
        }
        show(args, &changed, loaded, out)
    })
}

/// The changed tools that are meant; a server that is named must answer.
async fn changed(
    args: &ReviewArgs,
    host: &Host,
    loaded: &Loaded,
    out: &mut Out,
) -> Result<Vec<ChangedTool>, CommandError> {
    let servers = usable::settled(host, out).await;
    if let Some(name) = &args.server {
        let server = usable::named(loaded, &servers, name, out)?;
        usable::usable(&servers, &server, out)?;
    }
    let is_meant = |changed: &&ChangedTool| {
        args.server.as_deref().is_none_or(|server| changed.server.as_str() == server)
            && args.tool.as_deref().is_none_or(|tool| changed.tool.as_str() == tool)
    };
    Ok(host.catalog().changed().iter().filter(is_meant).cloned().collect())
}

fn show(args: &ReviewArgs, changed: &[ChangedTool], loaded: &Loaded, out: &mut Out) -> Done {
    let code = if args.accept || changed.is_empty() { exit::OK } else { exit::CONFLICT };
    if out.json {
        out.value(&json!({ "changed": changed, "accepted": args.accept }));
        return Ok(code);
    }
    tell_problems(loaded, out);
    if changed.is_empty() {
        out.line("No tool has changed since it was first seen or last reviewed.");
    }
    for ChangedTool { server, tool, withheld, change, .. } in changed {
        let withheld = if *withheld && !args.accept { ", withheld" } else { "" };
        let name = format!("{} of {}{withheld}", display(tool.as_str()), display(server.as_str()));
        out.line(bold(&name));
        change.to_string().lines().for_each(|line| out.line(format!("  {line}")));
    }
    match (args.accept, changed.len()) {
        (_, 0) => {}
        (true, count) => out.line(format!("Accepted {count} tool(s) as they are now")),
        (false, _) => out.hint("accept them as they are now with `--accept`"),
    }
    Ok(code)
}
