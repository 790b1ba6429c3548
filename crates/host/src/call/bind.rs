//! Looks a tool up and freezes what belongs to the call: the entry and the server behind it.

use std::sync::Arc;

use mcparley_model::name::{ServerName, ToolName};
use mcparley_model::text::shell_word;
use mcparley_wire::Failure;

use super::check::Fit;
use super::deadline::Deadline;
use super::error::CallError;
use super::recovery;
use super::wish::{Call, Wanted};
use crate::audit::AuditEntry;
use crate::catalog::{ChangedTool, Entry};
use crate::connection::{Connection, Status, Unavailable};
use crate::elicit::Unanswered;
use crate::host::{Host, Roster};
use crate::results::ResultBudget;

/// A tool that was looked up.
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) entry: Arc<Entry>,
    /// The server behind it; the host's own tools have none.
    pub(super) connection: Option<Arc<Connection>>,
    /// How much of its result a model is given.
    pub(super) room: ResultBudget,
    /// Whether the entry is what the server offers now, and not what it offered in an earlier life.
    pub(super) is_settled: bool,
}

impl Host {
    /// Looks the tool up. A server nobody has needed yet is reached first, to learn what it offers.
    pub(super) async fn bind(&self, call: &Call) -> Result<Bound, CallError> {
        let found = self.look_up(|catalog, roster| Some(Bound::new(call.wanted.find(catalog)?, roster)));
        if let Some(bound) = found {
            return Ok(bound);
        }
        // Rare and large: it would make every call's future as large.
        let entry = Box::pin(self.reached_for(call)).await?;
        Ok(Bound::new(&entry, &self.roster()))
    }

    /// The tool, when it is not in the catalogue.
    async fn reached_for(&self, call: &Call) -> Result<Arc<Entry>, CallError> {
        match &call.wanted {
            Wanted::Public(name) => self.late(name, call).await,
            Wanted::Tool { server, tool } => match self.connection(server) {
                Some(connection) => self.offered(&connection, tool, call).await,
                None => Err(self.unknown_server(server.as_str())),
            },
        }
    }

    /// The tool, when its server was not known to offer it: it is reached first.
    async fn offered(
        &self,
        connection: &Arc<Connection>,
        tool: &ToolName,
        call: &Call,
    ) -> Result<Arc<Entry>, CallError> {
        let server = &connection.name;
        if !matches!(connection.state().status, Status::Connected { .. }) {
            let unavailable = |why| CallError::Unavailable { server: server.clone(), why };
            self.reached(connection, call).await.map_err(unavailable)?;
        }
        let known = self.current();
        known.of(server, tool).cloned().ok_or_else(|| self.not_offered(server, tool))
    }

    /// Reaches the server of a tool; gives the tool as it is now if that is another than it was.
    pub(super) async fn rebind(&self, bound: &Bound, call: &Call) -> Result<Option<Bound>, CallError> {
        let (Some(server), Some(connection)) = (bound.entry.server(), &bound.connection) else {
            return Ok(None);
        };
        let connection = self.reached(connection, call).await.map_err(|why| bound.unavailable(why))?;
        let tool = &bound.entry.tool.name;
        let Some(entry) = self.current().of(server, tool).cloned() else {
            return Err(self.not_offered(server, tool));
        };
        if entry.tool.digest() == bound.entry.tool.digest() {
            return Ok(None);
        }
        connection.log().event("a tool is called that is another one than it was");
        let room = self.roster().room.for_tool(&entry.tool);
        Ok(Some(Bound { entry, connection: Some(connection), room, is_settled: true }))
    }

    /// Waits until the server is there; when its entry changes meanwhile, for the one that has its name then.
    async fn reached(
        &self,
        connection: &Arc<Connection>,
        call: &Call,
    ) -> Result<Arc<Connection>, Unavailable> {
        let (deadline, mut connection) = (Deadline::of(call, connection), Arc::clone(connection));
        loop {
            let Err(why) = deadline.lease(&connection).await else { return Ok(connection) };
            connection = self.successor(&connection, &why).ok_or(why)?;
        }
    }

    fn not_offered(&self, server: &ServerName, tool: &ToolName) -> CallError {
        CallError::UnknownTool {
            name: tool.as_str().to_owned(),
            similar: self.tools_like(server, tool.as_str()),
            because: Some(
                self.withheld(server, tool).unwrap_or_else(|| format!("server `{server}` does not offer it")),
            ),
        }
    }

    /// Why a tool is withheld that its server offers.
    fn withheld(&self, server: &ServerName, tool: &ToolName) -> Option<String> {
        let known = self.current();
        let is_it = |changed: &&ChangedTool| changed.server == *server && changed.tool == *tool;
        let changed = known.changed().iter().filter(is_it).find(|changed| changed.withheld)?;
        Some(format!("{changed} with `mcparley permissions review {}`", shell_word(server.as_str())))
    }

    /// A name that is not in the catalogue: perhaps its server is only on its way.
    async fn late(&self, name: &str, call: &Call) -> Result<Arc<Entry>, CallError> {
        let known = self.current();
        let original = known.names().original(name);
        if let Some((server, _)) = original
            && let Some(connection) = self.connection(server)
        {
            let unavailable = |why| CallError::Unavailable { server: server.clone(), why };
            self.reached(&connection, call).await.map_err(unavailable)?;
        } else {
            self.settled().await;
        }
        let now = self.current();
        now.get(name).cloned().ok_or_else(|| CallError::UnknownTool {
            name: name.to_owned(),
            similar: now.similar(name),
            because: original
                .and_then(|(server, tool)| self.withheld(server, tool))
                .or_else(|| self.missing()),
        })
    }

    /// The servers that offer nothing now, and why: one of them may have the tool.
    fn missing(&self) -> Option<String> {
        let missing: Vec<String> = self
            .roster()
            .connections()
            .filter_map(|connection| {
                let status = connection.state().status;
                let reason = status.reason().unwrap_or_else(|| status.as_str().to_owned());
                let is_there = matches!(status, Status::Connected { .. });
                (!is_there).then(|| format!("server `{}`: {reason}", connection.name))
            })
            .collect();
        (!missing.is_empty()).then(|| missing.join("; "))
    }

    fn unknown_server(&self, name: &str) -> CallError {
        let (similar, because) = (self.servers_like(name), self.loaded().why_not(name));
        CallError::UnknownServer { name: name.to_owned(), similar, because }
    }
}

impl Bound {
    fn new(entry: &Arc<Entry>, roster: &Roster) -> Self {
        let connection = entry.server().and_then(|server| roster.connection(server)).cloned();
        let is_settled = connection.as_ref().is_none_or(|connection| connection.is_live());
        let room = roster.room.for_tool(&entry.tool);
        Self { entry: Arc::clone(entry), connection, room, is_settled }
    }

    /// Notes what was found for the call's record.
    pub(super) fn note(&self, audit_entry: &mut AuditEntry) {
        if audit_entry.is_kept() {
            let server = self.connection.as_ref().map(|it| (it.name.clone(), it.signature));
            audit_entry.found(&self.entry, server);
        }
    }

    /// Checks the arguments of a call against the tool's schema. Optional ones that are null and must not be are left out,
    /// at every level: many models write null for an argument they do not give.
    pub(super) fn check(&self, call: &mut Call) -> Result<(), CallError> {
        let misfits = match self.entry.checker().fit(&call.arguments) {
            Ok(Fit::AsGiven) => return Ok(()),
            Ok(Fit::WithoutNulls(arguments)) => {
                (call.arguments, call.written) = (arguments, None);
                return Ok(());
            }
            Err(misfits) => misfits,
        };
        Err(CallError::Arguments { tool: self.entry.name.clone(), misfits })
    }

    pub(super) fn failed(&self, failure: Failure) -> CallError {
        let executed = recovery::executed(&failure);
        let failure = match &self.connection {
            Some(connection) => connection.log().tellable(failure),
            None => failure,
        };
        CallError::Failed { tool: self.entry.name.clone(), failure, executed }
    }

    /// The tool is not the one that was permitted any more.
    pub(super) fn restless(&self) -> CallError {
        let reason = "the tool has become another one than was permitted";
        self.failed(Failure::Protocol(Arc::from(reason)))
    }

    /// The call failed; when its server was told to end meanwhile, that is why.
    pub(super) fn gave_up(&self, connection: &Connection, failure: Failure) -> CallError {
        let executed = recovery::executed(&failure);
        match (&failure, connection.state().status) {
            (Failure::Closed { .. }, Status::Stopped | Status::Disabled) => CallError::Stopped {
                tool: self.entry.name.clone(),
                server: connection.name.clone(),
                executed,
            },
            (Failure::Forbidden { challenge }, _) if connection.account().is_some() => {
                match recovery::wanted_scopes(challenge.as_ref()) {
                    Some(scopes) => {
                        let (tool, server) = (self.entry.name.clone(), connection.name.clone());
                        CallError::Rights { tool, server, scopes }
                    }
                    None => self.failed(failure),
                }
            }
            _ => self.failed(failure),
        }
    }

    pub(super) fn unanswered(&self, why: Unanswered) -> CallError {
        CallError::Unanswered { tool: self.entry.name.clone(), why }
    }

    pub(super) fn unavailable(&self, why: Unavailable) -> CallError {
        match self.entry.server() {
            Some(server) => CallError::Unavailable { server: server.clone(), why },
            None => CallError::Own { message: Arc::from(why.to_string()) },
        }
    }
}
