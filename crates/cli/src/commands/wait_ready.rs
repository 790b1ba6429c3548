//! `wait-ready`: waits until servers answer, and says what became of each (L13).

use std::time::Duration;

use mcparley::model::name::ServerName;
use mcparley::{Host, Loaded, Readiness, Server, Start, Status};
use serde::Serialize;

use super::usable::{self, Lacking};
use super::waiting::tell_while_waiting;
use super::{Done, tell_problems};
use crate::args::WaitReadyArgs;
use crate::context::Context;
use crate::exit::{self, Code};
use crate::live;
use crate::out::{Out, bold};
use crate::sign_in::sign_in_hint;

/// What `wait-ready` shows.
#[derive(Serialize)]
struct Report {
    /// Whether all servers that were waited for answer.
    ready: bool,
    servers: Vec<Outcome>,
    /// Servers that were not waited for, because they may not run.
    others: Vec<Lacking>,
}

/// What became of one server.
#[derive(Serialize)]
struct Outcome {
    server: ServerName,
    is: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    milliseconds: u64,
    tools: usize,
}

pub(super) fn run(args: &WaitReadyArgs, context: &Context, loaded: Loaded, out: &mut Out) -> Done {
    let host = context.host_for_person(loaded).start_with(Start::OnDemand);
    live::with_host(host, async |host| wait(args, host, out).await)
}

async fn wait(args: &WaitReadyArgs, host: &Host, out: &mut Out) -> Done {
    let (loaded, known) = (host.loaded(), host.servers());
    let named: Vec<ServerName> = args
        .servers
        .iter()
        .map(|name| usable::named(&loaded, &known, name, out))
        .collect::<Result<_, _>>()?;
    let wanted = wanted(args, host, named);
    let limit = Duration::from_millis(args.timeout);
    let is_wanted = |server: &Server| wanted.contains(&server.name);
    let readiness = tell_while_waiting(host, out, is_wanted, host.require(&wanted, limit)).await;
    let others = usable::lacking(&loaded, &[], None);
    let report = Report {
        ready: code(&readiness) == exit::OK,
        servers: readiness.servers.iter().map(Outcome::of).collect(),
        others: if args.servers.is_empty() { others } else { Vec::new() },
    };
    if out.json {
        out.value(&report);
    } else {
        tell_problems(&host.loaded(), out);
        report.render(out);
    }
    Ok(code(&readiness))
}

fn wanted(args: &WaitReadyArgs, host: &Host, named: Vec<ServerName>) -> Vec<ServerName> {
    if !named.is_empty() {
        return named;
    }
    let all = host.servers().into_iter();
    all.filter(|server| server.required || !args.required).map(|server| server.name).collect()
}

/// The first reason why not all is well, the gravest first.
fn code(readiness: &Readiness) -> Code {
    let any = |is: fn(&Status) -> bool| readiness.servers.iter().any(|server| is(&server.state.status));
    if !any(|status| !matches!(status, Status::Connected { .. })) {
        exit::OK
    } else if any(|status| matches!(status, Status::NeedsAuth)) {
        exit::NEEDS_AUTH
    } else if any(|status| matches!(status, Status::Failed(_))) {
        exit::UNREACHABLE
    } else {
        exit::TIMED_OUT
    }
}

impl Outcome {
    fn of(server: &Server) -> Self {
        Self {
            server: server.name.clone(),
            is: server.state.status.as_str(),
            reason: server.state.status.reason(),
            hint: matches!(server.state.status, Status::NeedsAuth).then(|| sign_in_hint(&server.name)),
            milliseconds: u64::try_from(server.state.took.as_millis()).unwrap_or(u64::MAX),
            tools: server.state.surface.tools.len(),
        }
    }
}

impl Report {
    fn render(&self, out: &mut Out) {
        for Outcome { server, is, reason, hint, milliseconds, tools } in &self.servers {
            let more = match reason {
                Some(reason) => format!(": {}", mcparley::model::text::display(reason)),
                None => format!(", {tools} tool(s), {milliseconds} ms"),
            };
            out.line(format!("{}: {is}{more}", bold(server.as_str())));
            if let Some(hint) = hint {
                out.hint(hint);
            }
        }
        for other in &self.others {
            other.tell(out);
        }
    }
}
