//! `remove`: removes a server entry and its sign-in.

use mcparley::config::LoadedConfig;
use mcparley::config::change::{self, RemovedServer};
use mcparley::config::plan::PlannedServer;
use mcparley::model::text::display_line;
use serde_json::json;

use super::logout::SignOutReport;
use super::{CommandResult, print_problems};
use crate::args::RemoveArgs;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit;
use crate::out::{TerminalOutput, bold};
use crate::runtime;
use crate::sign_in::ServerAccount;

pub(super) fn run(
    args: &RemoveArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let removed = match change::remove_server(&context.paths, loaded, &args.name, args.scope.map(Into::into))
    {
        Ok(removed) => removed,
        Err(error) => {
            // The server may be in a file that could not be read.
            print_problems(loaded, out);
            return Err(error.into());
        }
    };
    let forgotten = forget_sign_ins(&removed, context, loaded, out)?;
    if out.json {
        let mut report = json!({
            "removed": removed.name,
            "scope": removed.scope,
            "files": removed.files.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>(),
        });
        if !forgotten.is_empty() {
            report["signedOut"] = json!(forgotten);
        }
        out.print_json(&report);
        return Ok(exit::OK);
    }
    out.print_line(format!("Removed server {} from {} scope", bold(&removed.name), removed.scope.as_str()));
    for file in &removed.files {
        out.print_line(format!("File: {}", display_line(&file.to_string_lossy())));
    }
    for departure in &forgotten {
        departure.print_report(out);
    }
    Ok(exit::OK)
}

/// Revokes and deletes the sign-ins of the removed entries. Errors are printed as warnings, because the
/// entries are already removed.
fn forget_sign_ins(
    removed: &RemovedServer,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> Result<Vec<SignOutReport>, CommandError> {
    let connect_context = context.connect_context(loaded);
    let left = context.load()?;
    let is_left = |server: &PlannedServer| {
        let mut same = left.plan.servers_by_name(removed.name.as_str()).into_iter();
        same.any(|other| other.signature() == server.signature())
    };
    let declared = loaded.plan.servers_by_name(removed.name.as_str()).into_iter();
    let gone = declared.filter(|server| server.scope == removed.scope.scope() && !is_left(server));
    let doors: Vec<ServerAccount<'_>> =
        gone.filter_map(|server| ServerAccount::from_planned(server, &connect_context)).collect();
    let mut forgotten = Vec::new();
    if doors.is_empty() {
        return Ok(forgotten);
    }
    let forgetting = async {
        for door in &doors {
            let left = SignOutReport::sign_out(door).await;
            let secret = door.account.remove_client_secret().await;
            if let Err(error) = secret {
                out.warn(&error.to_single_line());
            }
            match left {
                Ok(departure) if departure.is_signed_out() => forgotten.push(departure),
                Ok(_) => {}
                Err(error) => out.warn(&error.to_string()),
            }
        }
    };
    runtime::run_with_accounts(&connect_context, forgetting)?;
    Ok(forgotten)
}
