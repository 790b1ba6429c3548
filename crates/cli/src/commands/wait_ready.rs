//! `wait-ready`: waits until servers are ready, and prints the outcome of each.

use mcparley::model::time::whole_milliseconds;
use std::time::Duration;

use mcparley::Host;
use mcparley::config::{LoadedConfig, StartPolicy};
use mcparley::host::{HostServer, Readiness};
use mcparley::model::name::ServerName;
use mcparley::pool::connection::ServerStatus;
use serde::Serialize;

use super::usable::{self, IncompleteServer};
use super::waiting::show_progress_during;
use super::{CommandResult, print_problems};
use crate::args::WaitReadyArgs;
use crate::context::Context;
use crate::exit::{self, NamedExitCode};
use crate::out::{TerminalOutput, bold};
use crate::runtime;
use mcparley_report::sign_in_hint;

/// The report of `wait-ready`.
#[derive(Serialize)]
struct WaitReadyReport {
    /// Whether all servers are ready.
    ready: bool,
    servers: Vec<WaitReadyOutcome>,
    /// Servers that were not started, because they may not run.
    others: Vec<IncompleteServer>,
}

/// The outcome of `wait-ready` for one server.
#[derive(Serialize)]
struct WaitReadyOutcome {
    server: ServerName,
    is: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    milliseconds: u64,
    tools: usize,
}

pub(super) fn run(
    args: &WaitReadyArgs,
    context: &Context,
    loaded: LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let host = context.host_for_user(loaded, out.dialogs()).start_with(StartPolicy::OnDemand);
    runtime::run_with_host(host, async |host| wait_for_servers(args, host, out).await)
}

async fn wait_for_servers(args: &WaitReadyArgs, host: &Host, out: &mut TerminalOutput) -> CommandResult {
    let (loaded, known) = (host.loaded_config(), host.servers());
    let named: Vec<ServerName> = args
        .servers
        .iter()
        .map(|name| usable::find_server(&loaded, &known, name, out))
        .collect::<Result<_, _>>()?;
    let wanted = select_servers(args, host, named);
    let limit = Duration::from_millis(args.timeout);
    let is_wanted = |server: &HostServer| wanted.contains(&server.name);
    let readiness = show_progress_during(host, out, is_wanted, host.connect_required(&wanted, limit)).await;
    let others = usable::find_incomplete_servers(&loaded, &[], None);
    let report = WaitReadyReport {
        ready: readiness_exit_code(&readiness) == exit::OK,
        servers: readiness.servers.iter().map(WaitReadyOutcome::from_server).collect(),
        others: if args.servers.is_empty() { others } else { Vec::new() },
    };
    if out.json {
        out.print_json(&report);
    } else {
        print_problems(&host.loaded_config(), out);
        report.render(out);
    }
    Ok(readiness_exit_code(&readiness))
}

fn select_servers(args: &WaitReadyArgs, host: &Host, named: Vec<ServerName>) -> Vec<ServerName> {
    if !named.is_empty() {
        return named;
    }
    let all = host.servers().into_iter();
    all.filter(|server| server.required || !args.required).map(|server| server.name).collect()
}

/// The exit code for the most serious problem.
fn readiness_exit_code(readiness: &Readiness) -> NamedExitCode {
    let any = |is: fn(&ServerStatus) -> bool| readiness.servers.iter().any(|server| is(&server.state.status));
    if !any(|status| !matches!(status, ServerStatus::Connected { .. })) {
        exit::OK
    } else if any(|status| matches!(status, ServerStatus::NeedsAuth)) {
        exit::NEEDS_AUTH
    } else if any(|status| matches!(status, ServerStatus::Failed(_))) {
        exit::UNREACHABLE
    } else {
        exit::TIMED_OUT
    }
}

impl WaitReadyOutcome {
    fn from_server(server: &HostServer) -> Self {
        Self {
            server: server.name.clone(),
            is: server.state.status.as_str(),
            reason: server.state.status.reason(),
            hint: matches!(server.state.status, ServerStatus::NeedsAuth).then(|| sign_in_hint(&server.name)),
            milliseconds: whole_milliseconds(server.state.connect_time),
            tools: server.state.surface.tools.len(),
        }
    }
}

impl WaitReadyReport {
    fn render(&self, out: &mut TerminalOutput) {
        for WaitReadyOutcome { server, is, reason, hint, milliseconds, tools } in &self.servers {
            let more = match reason {
                Some(reason) => format!(": {}", mcparley::model::text::display_line(reason)),
                None => format!(", {tools} tool(s), {milliseconds} ms"),
            };
            out.print_line(format!("{}: {is}{more}", bold(server.as_str())));
            if let Some(hint) = hint {
                out.hint(hint);
            }
        }
        for other in &self.others {
            other.print_warnings(out);
        }
    }
}
