//! `plan`: the status of every configured server, with the reason.

use mcparley::config::plan::{PlanStatus, PlannedServer};
use mcparley::config::{LoadedConfig, Severity};
use mcparley::model::text::display_line;

use super::{CommandResult, base_exit_code, hooks, print_problems};
use crate::args::PlanArgs;
use crate::context::Context;
use crate::exit;
use crate::out::{TerminalOutput, bold, color_status, dim};
use mcparley_report::{PlanReport, SharingNotes, WaitingReport, target_line};

/// The width of the column of plan statuses.
const STANDING_WIDTH: usize = "needs approval".len();

pub(super) fn run(
    args: &PlanArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let sharing = context.sharing_notes();
    if out.json {
        out.print_json(&PlanReport::from_loaded(loaded, &sharing));
    } else {
        render_plan(loaded, &sharing, out);
        hooks::print_waiting_hooks(loaded, out);
        print_waiting(loaded, out);
    }
    if args.check && has_problems(loaded) && loaded.managed_problem.is_none() {
        return Ok(exit::CONFIG);
    }
    Ok(base_exit_code(loaded))
}

/// Prints the hint to review and approve, once for all entries that need approval.
fn print_waiting(loaded: &LoadedConfig, out: &mut TerminalOutput) {
    let items = WaitingReport::from_items(&loaded.settings.waiting).summary_text();
    let servers = loaded.plan.servers.iter();
    let mut waiting = servers.filter(|server| matches!(server.status, PlanStatus::NeedsApproval(_)));
    if let Some(items) = items {
        out.print_line(format!("{items}; run `mcparley trust`"));
    } else if waiting.next().is_some() {
        out.hint("run `mcparley trust` to review all entries that need approval");
    }
}

fn render_plan(loaded: &LoadedConfig, sharing: &SharingNotes, out: &mut TerminalOutput) {
    print_problems(loaded, out);
    let servers = &loaded.plan.servers;
    if servers.is_empty() {
        out.print_line("No servers are configured.");
        out.hint("add one with `mcparley add NAME COMMAND [ARGUMENT…]` or `mcparley add NAME URL`");
        out.hint("or import servers of another program with `mcparley import`");
        return;
    }
    let name_width =
        servers.iter().map(|server| display_line(server.name.as_str()).chars().count()).max().unwrap_or(0);
    // Highest precedence first, so that the effective entries are on top.
    for server in servers.iter().rev() {
        render_server(server, name_width.min(40), out);
        let indent = " ".repeat(STANDING_WIDTH + 2);
        for reason in sharing.explain_server(server) {
            out.print_line(format!("{indent}{}", dim(&format!("several copies: {reason}"))));
        }
    }
}

fn render_server(server: &PlannedServer, name_width: usize, out: &mut TerminalOutput) {
    let name = display_line(server.name.as_str());
    let padding = " ".repeat(name_width.saturating_sub(name.chars().count()));
    out.print_line(format!(
        "{}  {}{padding}  {:10}  {}",
        color_status(&server.status, STANDING_WIDTH),
        bold(&name),
        server.scope.as_str(),
        display_line(&target_line(server)),
    ));
    let indent = " ".repeat(STANDING_WIDTH + 2);
    if let Some(reason) = server.status.reason() {
        out.print_line(format!("{indent}{}", dim(&reason)));
    }
    if let Some(hint) = server.status.hint(&server.name) {
        out.print_line(format!("{indent}{}", dim(&format!("hint: {hint}"))));
    }
    if server.status != PlanStatus::Ready || out.verbose > 0 {
        let place = server.origin.to_string();
        out.print_line(format!("{indent}{}", dim(&format!("declared in {place}"))));
    }
    for caution in &server.cautions {
        out.print_line(format!("{indent}{}", dim(&format!("caution: {caution}"))));
    }
    for hint in &server.hints {
        out.print_line(format!("{indent}{}", dim(&format!("note: {}: {}", hint.origin, hint.text))));
    }
}

fn has_problems(loaded: &LoadedConfig) -> bool {
    let unreadable = loaded.problems.iter().any(|problem| problem.severity != Severity::Managed);
    unreadable || loaded.plan.servers.iter().any(|server| matches!(server.status, PlanStatus::Invalid(_)))
}
