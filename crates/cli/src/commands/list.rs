//! `list`: one line per server, with its health as soon as it is known.

use std::collections::BTreeMap;

use mcparley::config::LoadedConfig;
use mcparley::config::plan::{PlanStatus, PlannedServer};
use mcparley::model::name::ServerName;
use mcparley::model::text::display_line;
use mcparley::pool::health::{CheckedServer, HealthCheck};

use super::waiting::{Downloads, record_event, waiting_text};
use super::{CommandResult, base_exit_code, print_problems};
use crate::args::ListArgs;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit;
use crate::out::{TerminalOutput, bold, color_health, color_status, dim};
use crate::runtime;
use mcparley_report::{HealthReport, ListReport, effective_servers, health_summary, target_line};

pub(super) fn run(
    args: &ListArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let failures = match args.offline {
        true => {
            list_offline(loaded, out);
            0
        }
        false => list_online(context, loaded, out)?,
    };
    match base_exit_code(loaded) {
        code if code == exit::OK && args.check && failures > 0 => Ok(exit::UNREACHABLE),
        code => Ok(code),
    }
}

fn list_offline(loaded: &LoadedConfig, out: &mut TerminalOutput) {
    if out.json {
        return out.print_json(&ListReport::from_loaded(loaded, &BTreeMap::new()));
    }
    print_intro(loaded, out);
    for server in effective_servers(&loaded.plan) {
        out.print_line(server_row(server));
    }
}

/// Checks every server that may run; returns the number of servers that do not work.
fn list_online(
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> Result<usize, CommandError> {
    let servers = effective_servers(&loaded.plan);
    if !out.json {
        print_intro(loaded, out);
        for server in servers.iter().filter(|server| server.status != PlanStatus::Ready) {
            out.print_line(server_row(server));
        }
    }
    let mut left = servers.iter().filter(|server| server.status == PlanStatus::Ready).count();
    let mut found: BTreeMap<ServerName, HealthReport> = BTreeMap::new();
    let connect_context = context.connect_context(loaded);
    let checkup = HealthCheck::with_context(connect_context.clone());
    let mut downloads = Downloads::new();
    out.show_waiting(&waiting_text(left, &downloads));
    let mut failures = left;
    let checking = checkup.check_with_events(&servers, |event| {
        let settled = record_event(event, &mut downloads);
        if let Some(checked) = &settled {
            failures -= usize::from(checked.is_usable());
            left = left.saturating_sub(1);
        }
        match left {
            0 => out.stop_waiting(),
            left => out.show_waiting(&waiting_text(left, &downloads)),
        }
        let server =
            |checked: &CheckedServer| servers.iter().copied().find(|server| server.name == checked.name);
        match settled.and_then(|checked| Some((server(&checked)?, checked))) {
            Some((server, checked)) if out.json => {
                found.insert(checked.name.clone(), HealthReport::from_check(server, &checked));
            }
            Some((server, checked)) => print_health(server, &checked, out),
            None => {}
        }
    });
    runtime::run_with_accounts(&connect_context, checking)?;
    out.stop_waiting();
    if out.json {
        out.print_json(&ListReport::from_loaded(loaded, &found));
    }
    Ok(failures)
}

fn print_intro(loaded: &LoadedConfig, out: &mut TerminalOutput) {
    print_problems(loaded, out);
    if loaded.plan.servers.is_empty() {
        out.print_line("No servers are configured.");
        out.hint("add one with `mcparley add NAME COMMAND [ARGUMENT…]` or `mcparley add NAME URL`");
    }
}

/// Prints the line of a checked server, and details below it.
pub(super) fn print_health(server: &PlannedServer, checked: &CheckedServer, out: &mut TerminalOutput) {
    out.print_line(format!("{} - {}", server_label(server), color_health(checked, &health_summary(checked))));
    let report = HealthReport::from_check(server, checked);
    for line in report.detail_lines() {
        out.print_line(format!("  {}", dim(&line)));
    }
}

fn server_row(server: &PlannedServer) -> String {
    let reason =
        server.status.reason().map(|reason| format!(": {}", display_line(&reason))).unwrap_or_default();
    format!("{} - {}{reason}", server_label(server), color_status(&server.status, 0))
}

fn server_label(server: &PlannedServer) -> String {
    let kind = server.kind.filter(|kind| kind.as_str() != "stdio");
    let kind = kind.map(|kind| format!(" ({})", kind.as_str().to_uppercase())).unwrap_or_default();
    format!("{}: {}{kind}", bold(server.name.as_str()), display_line(&target_line(server)))
}
