//! `list`: one line per server name, with its health as soon as it is known.

use std::collections::BTreeMap;

use mcparley::model::name::ServerName;
use mcparley::model::plan::{Planned, ServerStanding};
use mcparley::model::text::display;
use mcparley::{Checked, Checkup, Loaded};

use super::waiting::{Downloads, note_event, waiting_text};
use super::{Done, code_of, tell_problems};
use crate::args::ListArgs;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit;
use crate::live;
use crate::out::{Out, bold, dim, health, standing};
use crate::report::{HealthReport, ListReport, effective, summary, target};

pub(super) fn run(args: &ListArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let failures = match args.offline {
        true => {
            offline(loaded, out);
            0
        }
        false => online(context, loaded, out)?,
    };
    match code_of(loaded) {
        code if code == exit::OK && args.check && failures > 0 => Ok(exit::UNREACHABLE),
        code => Ok(code),
    }
}

fn offline(loaded: &Loaded, out: &mut Out) {
    if out.json {
        return out.value(&ListReport::of(loaded, &BTreeMap::new()));
    }
    begin(loaded, out);
    for server in effective(&loaded.plan) {
        out.line(row(server));
    }
}

/// Looks at every server that may run; gives how many do not work.
fn online(context: &Context, loaded: &Loaded, out: &mut Out) -> Result<usize, CommandError> {
    let servers = effective(&loaded.plan);
    if !out.json {
        begin(loaded, out);
        for server in servers.iter().filter(|server| server.standing != ServerStanding::Ready) {
            out.line(row(server));
        }
    }
    let mut left = servers.iter().filter(|server| server.standing == ServerStanding::Ready).count();
    let mut found: BTreeMap<ServerName, HealthReport> = BTreeMap::new();
    let surroundings = context.surroundings(loaded);
    let checkup = Checkup::of(surroundings.clone());
    let mut downloads = Downloads::new();
    out.waiting(&waiting_text(left, &downloads));
    let mut failures = left;
    let checking = checkup.check_with_events(&servers, |event| {
        let settled = note_event(event, &mut downloads);
        if let Some(checked) = &settled {
            failures -= usize::from(checked.works());
            left = left.saturating_sub(1);
        }
        match left {
            0 => out.waited(),
            left => out.waiting(&waiting_text(left, &downloads)),
        }
        let server = |checked: &Checked| servers.iter().copied().find(|server| server.name == checked.name);
        match settled.and_then(|checked| Some((server(&checked)?, checked))) {
            Some((server, checked)) if out.json => {
                found.insert(checked.name.clone(), HealthReport::of(server, &checked));
            }
            Some((server, checked)) => print_checked(server, &checked, out),
            None => {}
        }
    });
    live::run_with(&surroundings, checking)?;
    out.waited();
    if out.json {
        out.value(&ListReport::of(loaded, &found));
    }
    Ok(failures)
}

fn begin(loaded: &Loaded, out: &mut Out) {
    tell_problems(loaded, out);
    if loaded.plan.servers.is_empty() {
        out.line("No servers are configured.");
        out.hint("add one: `mcparley add NAME COMMAND [ARGUMENT…]` or `mcparley add NAME URL`");
    }
}

/// Prints the line of a server that was looked at, and what there is to say about it below.
pub(super) fn print_checked(server: &Planned, checked: &Checked, out: &mut Out) {
    out.line(format!("{} - {}", what(server), health(checked, &summary(checked))));
    let report = HealthReport::of(server, checked);
    for line in report.remarks() {
        out.line(format!("  {}", dim(&line)));
    }
}

fn row(server: &Planned) -> String {
    let reason = server.standing.reason().map(|reason| format!(": {}", display(&reason))).unwrap_or_default();
    format!("{} - {}{reason}", what(server), standing(&server.standing, 0))
}

fn what(server: &Planned) -> String {
    let kind = server.kind.filter(|kind| kind.as_str() != "stdio");
    let kind = kind.map(|kind| format!(" ({})", kind.as_str().to_uppercase())).unwrap_or_default();
    format!("{}: {}{kind}", bold(server.name.as_str()), display(&target(server)))
}
