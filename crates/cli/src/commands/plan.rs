//! `plan`: every declaration, what becomes of it, and why.

use mcparley::model::plan::{Planned, ServerStanding};
use mcparley::model::text::display;
use mcparley::{Loaded, Severity};

use super::{Done, code_of, hooks, tell_problems};
use crate::args::PlanArgs;
use crate::exit;
use crate::out::{Out, bold, dim, standing};
use crate::report::{PlanReport, WaitingReport, target};

/// The widest standing, so that columns line up.
const STANDING_WIDTH: usize = "needs approval".len();

pub(super) fn run(args: &PlanArgs, loaded: &Loaded, out: &mut Out) -> Done {
    if out.json {
        out.value(&PlanReport::of(loaded));
    } else {
        render(loaded, out);
        hooks::tell_waiting(loaded, out);
        tell_waiting(loaded, out);
    }
    if args.check && is_flawed(loaded) && loaded.managed_problem.is_none() {
        return Ok(exit::CONFIG);
    }
    Ok(code_of(loaded))
}

/// Says how to see and approve what waits, once.
fn tell_waiting(loaded: &Loaded, out: &mut Out) {
    let items = WaitingReport::of(&loaded.settings.waiting).in_words();
    let servers = loaded.plan.servers.iter();
    let mut waiting = servers.filter(|server| matches!(server.standing, ServerStanding::NeedsApproval(_)));
    if let Some(items) = items {
        out.line(format!("{items}; see `mcparley trust`"));
    } else if waiting.next().is_some() {
        out.hint("`mcparley trust` shows everything that waits, whole");
    }
}

fn render(loaded: &Loaded, out: &mut Out) {
    tell_problems(loaded, out);
    let servers = &loaded.plan.servers;
    if servers.is_empty() {
        out.line("No servers are configured.");
        out.hint("add one: `mcparley add NAME COMMAND [ARGUMENT…]` or `mcparley add NAME URL`");
        out.hint("or take over what another program has: `mcparley import`");
        return;
    }
    let name_width =
        servers.iter().map(|server| display(server.name.as_str()).chars().count()).max().unwrap_or(0);
    // Strongest first: what counts is on top.
    for server in servers.iter().rev() {
        row(server, name_width.min(40), out);
    }
}

fn row(server: &Planned, name_width: usize, out: &mut Out) {
    let name = display(server.name.as_str());
    let padding = " ".repeat(name_width.saturating_sub(name.chars().count()));
    out.line(format!(
        "{}  {}{padding}  {:10}  {}",
        standing(&server.standing, STANDING_WIDTH),
        bold(&name),
        server.scope.as_str(),
        display(&target(server)),
    ));
    let indent = " ".repeat(STANDING_WIDTH + 2);
    if let Some(reason) = server.standing.reason() {
        out.line(format!("{indent}{}", dim(&reason)));
    }
    if let Some(hint) = server.standing.hint(&server.name) {
        out.line(format!("{indent}{}", dim(&format!("hint: {hint}"))));
    }
    if server.standing != ServerStanding::Ready || out.verbose > 0 {
        let place = server.origin.to_string();
        out.line(format!("{indent}{}", dim(&format!("declared in {place}"))));
    }
    for caution in &server.cautions {
        out.line(format!("{indent}{}", dim(&format!("caution: {caution}"))));
    }
    for hint in &server.hints {
        out.line(format!("{indent}{}", dim(&format!("note: {}: {}", hint.origin, hint.text))));
    }
}

fn is_flawed(loaded: &Loaded) -> bool {
    let unreadable = loaded.problems.iter().any(|problem| problem.severity != Severity::Managed);
    unreadable
        || loaded.plan.servers.iter().any(|server| matches!(server.standing, ServerStanding::Invalid(_)))
}
