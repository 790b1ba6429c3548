//! `list`: one line per server name.

use mcparley::Loaded;
use mcparley::model::plan::Planned;
use mcparley::model::text::display;

use super::{Done, code_of, tell_problems};
use crate::args::ListArgs;
use crate::out::{Out, bold, standing};
use crate::report::{ListReport, effective, target};

pub(super) fn run(args: &ListArgs, loaded: &Loaded, out: &mut Out) -> Done {
    if out.json {
        out.value(&ListReport::of(loaded));
        return Ok(code_of(loaded));
    }
    tell_problems(loaded, out);
    if !args.offline {
        out.say("This version reads the configuration only; it does not connect yet.");
    }
    let servers = effective(&loaded.plan);
    if servers.is_empty() {
        out.line("No servers are configured.");
        out.hint("add one: `mcparley add NAME COMMAND [ARGUMENT…]` or `mcparley add NAME URL`");
    }
    for server in servers {
        out.line(row(server));
    }
    Ok(code_of(loaded))
}

fn row(server: &Planned) -> String {
    let kind = server.kind.filter(|kind| kind.as_str() != "stdio");
    let kind = kind.map(|kind| format!(" ({})", kind.as_str().to_uppercase())).unwrap_or_default();
    let reason = server.standing.reason().map(|reason| format!(": {}", display(&reason))).unwrap_or_default();
    format!(
        "{}: {}{kind} - {}{reason}",
        bold(server.name.as_str()),
        display(&target(server)),
        standing(&server.standing, 0)
    )
}
