//! Which servers a command talks to, and what became of those it cannot.

use std::sync::Arc;
use std::time::Duration;

use mcparley::model::limits::PUBLIC_NAME_LIMIT;
use mcparley::model::name::{ServerName, normalise_server};
use mcparley::model::plan::ServerStanding;
use mcparley::model::text::Untrusted;
use mcparley::{BuiltIn, CallError, Host, Loaded, Server, Status, Unavailable};
use serde::Serialize;

use super::tell_problems;
use super::waiting::tell_while_waiting;
use crate::error::CommandError;
use crate::out::Out;
use crate::report::effective;
use crate::sign_in::sign_in_hint;

/// Connecting ends by its own limits; this one is only there so that waiting has an end in any case.
const PATIENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// The built-in server, which stands in no file.
pub(super) const BUILT_IN: &str = "mcparley";

/// How many of its last lines are told of a server that fails.
const LAST_WORDS: usize = 5;

/// Whether a word is the whole name of a tool, and not of a server.
pub(super) fn is_tool_name(loaded: &Loaded, word: &str) -> bool {
    let own = [BuiltIn::ListResources, BuiltIn::ReadResource, BuiltIn::ReadResult, BuiltIn::ToolSearch];
    let built_in = own.iter().any(|tool| tool.as_str() == word);
    (built_in || word.starts_with("mcp__")) && loaded.plan.named(word).is_empty()
}

/// The servers one of which must have the tool of this name; nothing if it could be any.
///
/// A long name is a shortened one and says nothing about its server.
pub(super) fn owners(loaded: &Loaded, tool: &str) -> Option<Vec<ServerName>> {
    let ready = loaded.plan.ready().map(|server| server.name.clone());
    let all = ready.chain([ServerName::new(BUILT_IN)]);
    let fits = |name: &ServerName| tool.starts_with(&format!("mcp__{}__", normalise_server(name)));
    let owners: Vec<ServerName> = all.filter(fits).collect();
    (!owners.is_empty() && tool.len() < PUBLIC_NAME_LIMIT).then_some(owners)
}

/// Waits until every server that was started has answered, failed or run out of time.
pub(super) async fn settled(host: &Host, out: &mut Out) -> Vec<Server> {
    tell_while_waiting(host, out, |_| true, host.ready(PATIENCE)).await.servers
}

/// The server of this name among `servers`, or why there is none.
pub(super) fn named(
    loaded: &Loaded,
    servers: &[Server],
    name: &str,
    out: &mut Out,
) -> Result<ServerName, CommandError> {
    let server = ServerName::new(name);
    if servers.iter().any(|known| known.name == server) {
        return Ok(server);
    }
    let declared = effective(&loaded.plan).into_iter().find(|planned| planned.name == server);
    match declared {
        Some(planned) => {
            Err(CommandError::ServerStanding { name: server, standing: Box::new(planned.standing.clone()) })
        }
        None => {
            // It may stand in a file that could not be read.
            tell_problems(loaded, out);
            Err(CommandError::NotFound { name: name.to_owned(), similar: loaded.similar(name) })
        }
    }
}

/// Whether the server answers; what it wrote last is told when it does not.
pub(super) fn usable(servers: &[Server], name: &ServerName, out: &mut Out) -> Result<(), CommandError> {
    let server = servers.iter().find(|server| server.name == *name);
    if let Err(error) = answers(servers, name) {
        if let Some(Status::Failed(failure)) = server.map(|server| &server.state.status) {
            tell_last_words(&failure.stderr, out);
        }
        return Err(error);
    }
    Ok(())
}

/// Whether the server answers, or would: one that is remembered is not asked. What is remembered of one that failed lately
/// is worth showing too.
pub(super) fn answers(servers: &[Server], name: &ServerName) -> Result<(), CommandError> {
    let server = servers.iter().find(|server| server.name == *name);
    let why = match server.map(|server| &server.state.status) {
        Some(Status::Connected { .. } | Status::Dormant) => return Ok(()),
        Some(Status::Failed(error)) if error.ago.is_some() && offers_something(server) => return Ok(()),
        Some(Status::Failed(error)) => Unavailable::Failed(Arc::clone(error)),
        Some(Status::NeedsAuth) => Unavailable::NeedsAuth,
        Some(Status::Disabled) => Unavailable::Disabled,
        _ => Unavailable::Stopped,
    };
    Err(CallError::Unavailable { server: name.clone(), why }.into())
}

fn offers_something(server: Option<&Server>) -> bool {
    server.is_some_and(|server| {
        let surface = &server.state.surface;
        !(surface.tools.is_empty() && surface.prompts.is_empty() && surface.resources.is_empty())
    })
}

/// The last lines a server wrote to its standard error, for people.
pub(super) fn tell_last_words(stderr: &Untrusted, out: &mut Out) {
    if out.json {
        return;
    }
    let said = stderr.clean();
    let lines: Vec<&str> = said.trim().lines().collect();
    for line in lines.iter().skip(lines.len().saturating_sub(LAST_WORDS)) {
        out.remark(&format!("it said: {line}"));
    }
}

/// A server that offers nothing now, and why; or one that offers less than it should.
#[derive(Serialize)]
pub(super) struct Lacking {
    server: ServerName,
    /// The state of a server, or the standing of one that may not run.
    is: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// Why its list of tools is not whole; stands among the notes too.
    #[serde(skip)]
    gap: Option<String>,
    /// Whether it is as it should be, apart from the notes.
    #[serde(skip)]
    is_fine: bool,
}

/// Every server with something to say about it. Servers nobody asked for say nothing.
pub(super) fn lacking(loaded: &Loaded, servers: &[Server], only: Option<&ServerName>) -> Vec<Lacking> {
    let wanted = |name: &ServerName| only.is_none_or(|only| only == name);
    let running = servers.iter().filter(|server| wanted(&server.name)).filter_map(of_server);
    let plan = effective(&loaded.plan);
    let resting =
        plan.into_iter().filter(|planned| planned.standing != ServerStanding::Ready).map(|planned| Lacking {
            server: planned.name.clone(),
            is: planned.standing.as_str(),
            reason: planned.standing.reason(),
            hint: planned.standing.hint(&planned.name),
            notes: Vec::new(),
            gap: None,
            is_fine: false,
        });
    running.chain(resting.filter(|resting| wanted(&resting.server))).collect()
}

fn of_server(server: &Server) -> Option<Lacking> {
    let status = &server.state.status;
    let hint = match status {
        Status::Failed(error) => error.hint(),
        Status::NeedsAuth => Some(sign_in_hint(&server.name)),
        _ => None,
    };
    let notes = server.state.surface.notes();
    let is_fine = matches!(status, Status::Connected { .. } | Status::Dormant);
    let is_whole = notes.is_empty() && is_fine;
    let gap = server.state.surface.gaps.iter().find(|gap| gap.method == "tools/list");
    (!is_whole).then(|| Lacking {
        server: server.name.clone(),
        is: status.as_str(),
        reason: status.reason(),
        hint,
        notes,
        gap: gap.map(ToString::to_string),
        is_fine,
    })
}

impl Lacking {
    /// Why it does not offer everything, in one sentence; nothing when all that lacks is told elsewhere.
    pub(super) fn in_words(&self) -> Option<String> {
        let reason = match self.is_fine {
            true => self.gap.as_deref()?,
            false => self.reason.as_deref().unwrap_or(self.is),
        };
        Some(format!("server `{}`: {reason}", self.server))
    }

    pub(super) fn tell(&self, out: &mut Out) {
        if !self.is_fine {
            let reason = self.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            out.warn(&format!("server `{}`: {}{reason}", self.server, self.is));
        }
        for note in &self.notes {
            out.warn(&format!("server `{}`: {note}", self.server));
        }
        if let Some(hint) = &self.hint {
            out.hint(hint);
        }
    }
}
