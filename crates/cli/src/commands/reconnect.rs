//! `reconnect`: checks a server now, and makes every running host reconnect to it.

use mcparley::config::LoadedConfig;
use mcparley::config::plan::{PlanStatus, PlannedServer};
use mcparley::host::{prepare_reconnect, publish_reconnect};
use mcparley::model::name::ServerName;
use mcparley::model::signature::Signature;
use mcparley::pool::health::{CheckedServer, HealthCheck};
use mcparley_daemon::control::DaemonConnection;
use mcparley_gateway::control::reconnect_gateways;

use super::waiting::{Downloads, record_event, waiting_text};
use super::{CommandResult, list, print_problems};
use crate::args::ReconnectArgs;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::{self, NamedExitCode};
use crate::out::TerminalOutput;
use crate::runtime;
use mcparley_report::{HealthReport, ListedReport, effective_servers};

pub(super) fn run(
    args: &ReconnectArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let server = find_server(&args.name, loaded, out)?;
    let connect_context = context.connect_context(loaded);
    let in_daemon = restart_in_daemon(server, context, out);
    // Requested first, so that running hosts reconnect even if the user interrupts this command.
    let reached = match prepare_reconnect(&connect_context, server) {
        Some(request) => {
            // Gateways first: one that has acted on the request ignores it in the file, which is for programs
            // that embed the host.
            let reached = reconnect_gateways(&context.control_folder(), &request).unwrap_or_else(|error| {
                out.warn(&error.to_string());
                0
            });
            publish_reconnect(&connect_context, &request)?;
            reached
        }
        None => 0,
    };
    let mut downloads = Downloads::new();
    out.show_waiting(&waiting_text(1, &downloads));
    let checkup = HealthCheck::with_context(connect_context.clone());
    let mut found = None;
    let servers = [server];
    let checking = checkup.check_with_events(&servers, |event| match record_event(event, &mut downloads) {
        Some(checked) => found = Some(checked),
        None => out.show_waiting(&waiting_text(1, &downloads)),
    });
    runtime::run_with_accounts(&connect_context, checking)?;
    out.stop_waiting();
    let health = found.as_ref().map(|checked| HealthReport::from_check(server, checked));
    if out.json {
        out.print_json(&ListedReport::from_planned(server, health.as_ref()));
    } else {
        if let Some(checked) = &found {
            list::print_health(server, checked, out);
        }
        if in_daemon > 0 {
            out.print_remark("the daemon has started it again for all clients");
        }
        out.print_remark(&match reached {
            0 => "no running `mcparley serve` has this server".to_owned(),
            1 => "one running `mcparley serve` reconnects too".to_owned(),
            count => format!("{count} running `mcparley serve` reconnect too"),
        });
    }
    Ok(health_exit_code(found.as_ref()))
}

/// Ends the processes of a server in the daemon; returns their number.
fn restart_in_daemon(server: &PlannedServer, context: &Context, out: &mut TerminalOutput) -> usize {
    let signature = server.config.as_ref().map(|config| Signature::from_config(config).to_string());
    let restarted = DaemonConnection::open(&context.daemon_paths).and_then(|daemon| {
        daemon.map(|mut daemon| daemon.restart_servers(signature.into_iter().collect())).transpose()
    });
    restarted.map(Option::unwrap_or_default).unwrap_or_else(|error| {
        out.warn(&error.to_string());
        0
    })
}

/// The server of this name, which must be allowed to run.
fn find_server<'l>(
    name: &str,
    loaded: &'l LoadedConfig,
    out: &mut TerminalOutput,
) -> Result<&'l PlannedServer, CommandError> {
    let declared = effective_servers(&loaded.plan).into_iter().find(|server| server.name.as_str() == name);
    match declared {
        Some(server) if server.status == PlanStatus::Ready => Ok(server),
        Some(server) => {
            let standing = Box::new(server.status.clone());
            Err(CommandError::ServerUnusable { name: ServerName::new(name), standing })
        }
        None => {
            // The server may be in a file that could not be read.
            print_problems(loaded, out);
            Err(CommandError::NotFound { name: name.to_owned(), similar: loaded.similar_server_names(name) })
        }
    }
}

fn health_exit_code(checked: Option<&CheckedServer>) -> NamedExitCode {
    match checked {
        Some(checked) if checked.is_usable() => exit::OK,
        Some(checked) if checked.wants_sign_in => exit::NEEDS_AUTH,
        Some(_) | None => exit::UNREACHABLE,
    }
}
