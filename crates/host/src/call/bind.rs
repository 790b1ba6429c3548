//! Tool lookup: binds a call to its catalog entry and to the server behind it.

use std::sync::Arc;

use mcparley_model::name::{ServerName, ToolName};
use mcparley_model::text::shell_word;
use mcparley_wire::Failure;

use super::client_sign_in::{ClientSignInError, sign_in_through_client};
use super::deadline::Deadline;
use super::recovery;
use super::requested_call::{Call, ToolSelector};
use crate::audit::AuditEntry;
use crate::call_error::CallError;
use crate::host::{Host, Roster};
use crate::permission::ToolFacts;
use mcparley_catalog::ArgumentFit;
use mcparley_catalog::{CatalogEntry, ChangedTool};
use mcparley_pool::connection::{Connection, ServerStatus, Unavailable};
use mcparley_pool::elicit::UnansweredRequest;
use mcparley_results::ResultBudget;

/// A tool that a call was bound to.
#[derive(Debug)]
pub(super) struct BoundTool {
    pub(super) entry: Arc<CatalogEntry>,
    /// Facts derived from the tool's definition, computed once.
    pub(super) facts: Arc<ToolFacts>,
    /// The connection of the tool's server; the host's built-in tools have none.
    pub(super) connection: Option<Arc<Connection>>,
    /// The maximum size of the result that a model is given.
    pub(super) result_budget: ResultBudget,
    /// Whether the entry is the server's current offer, and not one remembered from an earlier connection.
    pub(super) is_current: bool,
}

impl Host {
    /// Looks the tool up. A server that was not connected yet is connected first, to learn its tools.
    pub(super) async fn bind_tool(&self, call: &Call) -> Result<BoundTool, CallError> {
        let found = self.read_catalog(|snapshot| {
            Some(BoundTool::new(call.selector.find_entry(&snapshot.catalog)?, &snapshot.roster))
        });
        if let Some(bound) = found {
            return Ok(bound);
        }
        // Boxed: this rare, large future would enlarge the future of every call.
        let entry = Box::pin(self.resolve_uncataloged_tool(call)).await?;
        Ok(BoundTool::new(&entry, &self.roster()))
    }

    /// Finds a tool that is not in the catalog.
    async fn resolve_uncataloged_tool(&self, call: &Call) -> Result<Arc<CatalogEntry>, CallError> {
        match &call.selector {
            ToolSelector::Public(name) => self.resolve_late_name(name, call).await,
            ToolSelector::Entry(entry) => Ok(Arc::clone(entry)),
            ToolSelector::Tool { server, tool } => match self.connection(server) {
                Some(connection) => self.connect_and_find_tool(&connection, tool, call).await,
                None => Err(self.unknown_server_error(server.as_str())),
            },
        }
    }

    /// Connects to the server, which was not known to offer the tool, and looks the tool up again.
    async fn connect_and_find_tool(
        &self,
        connection: &Arc<Connection>,
        tool: &ToolName,
        call: &Call,
    ) -> Result<Arc<CatalogEntry>, CallError> {
        let server = &connection.name;
        if !matches!(connection.state().status, ServerStatus::Connected { .. }) {
            self.wait_until_connected(connection, call).await?;
        }
        let known = self.catalog();
        known.find_tool(server, tool).cloned().ok_or_else(|| self.not_offered_error(server, tool))
    }

    /// Connects to the tool's server; returns the tool as it is now if its definition has changed.
    pub(super) async fn rebind_tool(
        &self,
        bound: &BoundTool,
        call: &Call,
    ) -> Result<Option<BoundTool>, CallError> {
        let (Some(server), Some(connection)) = (bound.entry.server(), &bound.connection) else {
            return Ok(None);
        };
        let connection = self.wait_until_connected(connection, call).await?;
        let tool = &bound.entry.tool.name;
        let Some(entry) = self.catalog().find_tool(server, tool).cloned() else {
            return Err(self.not_offered_error(server, tool));
        };
        if entry.tool.digest() == bound.entry.tool.digest() {
            return Ok(None);
        }
        connection.log().add_event("calling a tool whose definition has changed");
        let roster = self.roster();
        let (facts, room) = (roster.tool_facts.facts_for(&entry), roster.result_budget.for_tool(&entry.tool));
        Ok(Some(BoundTool {
            entry,
            facts,
            connection: Some(connection),
            result_budget: room,
            is_current: true,
        }))
    }

    /// Waits until the server is connected. If its entry is replaced meanwhile, waits for the connection
    /// that has its name then. A principal of a gateway that has to sign in does so first.
    async fn wait_until_connected(
        &self,
        connection: &Arc<Connection>,
        call: &Call,
    ) -> Result<Arc<Connection>, CallError> {
        let (mut deadline, mut connection) = (Deadline::for_call(call, connection), Arc::clone(connection));
        let mut has_signed_in = false;
        loop {
            let Err(why) = deadline.lease_connection(&connection).await else { return Ok(connection) };
            if matches!(why, Unavailable::NeedsAuth) && !std::mem::replace(&mut has_signed_in, true) {
                // Boxed: this rare, large future would enlarge the future of every call.
                let signing = sign_in_through_client(&connection, call.context.as_deref());
                let signed_in = Box::pin(deadline.run_off_the_clock(signing)).await;
                signed_in.map_err(|why| client_sign_in_error(&connection, why))?;
                continue;
            }
            let server = connection.name.clone();
            let unavailable = || CallError::Unavailable { server, why: why.clone() };
            connection = self.successor_connection(&connection, &why).ok_or_else(unavailable)?;
        }
    }

    fn not_offered_error(&self, server: &ServerName, tool: &ToolName) -> CallError {
        CallError::UnknownTool {
            name: tool.as_str().to_owned(),
            similar: self.similar_tools(server, tool.as_str()),
            because: Some(
                self.withheld_reason(server, tool)
                    .unwrap_or_else(|| format!("server `{server}` does not offer it")),
            ),
        }
    }

    /// The reason why a tool is withheld that its server offers.
    fn withheld_reason(&self, server: &ServerName, tool: &ToolName) -> Option<String> {
        let known = self.catalog();
        let is_it = |changed: &&ChangedTool| changed.server == *server && changed.tool == *tool;
        let changed = known.changed_tools().iter().filter(is_it).find(|changed| changed.withheld)?;
        Some(format!("{changed} with `mcparley permissions review {}`", shell_word(server.as_str())))
    }

    /// Resolves a public name that is not in the catalog: its server may still be connecting.
    async fn resolve_late_name(&self, name: &str, call: &Call) -> Result<Arc<CatalogEntry>, CallError> {
        let known = self.catalog();
        let original = known.names().find_tool(name);
        if let Some((server, _)) = original
            && let Some(connection) = self.connection(server)
        {
            self.wait_until_connected(&connection, call).await?;
        } else {
            self.wait_until_settled().await;
        }
        let now = self.catalog();
        now.get(name).cloned().ok_or_else(|| CallError::UnknownTool {
            name: name.to_owned(),
            similar: now.similar_tool_names(name),
            because: original
                .and_then(|(server, tool)| self.withheld_reason(server, tool))
                .or_else(|| self.describe_unconnected_servers()),
        })
    }

    /// Describes the servers that are not connected, with the reasons: one of them may offer the tool.
    fn describe_unconnected_servers(&self) -> Option<String> {
        let missing: Vec<String> = self
            .roster()
            .connections()
            .filter_map(|connection| {
                let status = connection.state().status;
                let reason = status.reason().unwrap_or_else(|| status.as_str().to_owned());
                let is_there = matches!(status, ServerStatus::Connected { .. });
                (!is_there).then(|| format!("server `{}`: {reason}", connection.name))
            })
            .collect();
        (!missing.is_empty()).then(|| missing.join("; "))
    }

    fn unknown_server_error(&self, name: &str) -> CallError {
        let (similar, because) = (self.similar_servers(name), self.loaded_config().unavailable_reason(name));
        CallError::UnknownServer { name: name.to_owned(), similar, because }
    }
}

impl BoundTool {
    fn new(entry: &Arc<CatalogEntry>, roster: &Roster) -> Self {
        let connection = entry.server().and_then(|server| roster.connection(server)).cloned();
        let is_current = connection.as_ref().is_none_or(|connection| connection.is_live());
        let result_budget = roster.result_budget.for_tool(&entry.tool);
        let facts = roster.tool_facts.facts_for(entry);
        Self { entry: Arc::clone(entry), facts, connection, result_budget, is_current }
    }

    /// Records the tool and its server in the call's audit entry.
    pub(super) fn record_in_audit(&self, audit_entry: &mut AuditEntry) {
        if audit_entry.is_enabled() {
            let server = self.connection.as_ref().map(|it| (it.name.clone(), it.key.signature));
            audit_entry.set_tool(&self.entry, server);
        }
    }

    /// Validates the arguments of a call against the tool's schema. Optional arguments that are null, and
    /// must not be, are removed at every level: many models write null for an argument they do not give.
    pub(super) fn validate_arguments(&self, call: &mut Call) -> Result<(), CallError> {
        let misfits = match self.facts.argument_checker(&self.entry).fit_arguments(&call.arguments) {
            Ok(ArgumentFit::AsGiven) => return Ok(()),
            Ok(ArgumentFit::WithoutNulls(arguments)) => {
                (call.arguments, call.raw_arguments) = (arguments, None);
                return Ok(());
            }
            Err(misfits) => misfits,
        };
        Err(CallError::Arguments { tool: self.entry.name.clone(), misfits })
    }

    /// The error for a call that failed, with the answer to whether the tool was executed.
    pub(super) fn call_failed_error(&self, failure: Failure) -> CallError {
        let executed = recovery::execution_status(&failure);
        let failure = match &self.connection {
            Some(connection) => connection.log().redact_failure(failure),
            None => failure,
        };
        CallError::Failed { tool: self.entry.name.clone(), failure, executed }
    }

    /// The error for a tool whose definition changed again after it was permitted.
    pub(super) fn changed_tool_error(&self) -> CallError {
        let reason = "the tool has changed since it was permitted";
        self.call_failed_error(Failure::Protocol(Arc::from(reason)))
    }

    /// The error for a call that failed. If the server was stopped meanwhile, that is the reason.
    pub(super) fn final_error(&self, connection: &Connection, failure: Failure) -> CallError {
        let executed = recovery::execution_status(&failure);
        match (&failure, connection.state().status) {
            (Failure::Closed { .. }, ServerStatus::Stopped | ServerStatus::Disabled) => CallError::Stopped {
                tool: self.entry.name.clone(),
                server: connection.name.clone(),
                executed,
            },
            (Failure::Forbidden { challenge }, _) if connection.account().is_some() => {
                match recovery::missing_scopes(challenge.as_ref()) {
                    Some(scopes) => {
                        let (tool, server) = (self.entry.name.clone(), connection.name.clone());
                        CallError::MissingScopes { tool, server, scopes }
                    }
                    None => self.call_failed_error(failure),
                }
            }
            _ => self.call_failed_error(failure),
        }
    }

    pub(super) fn unanswered_error(&self, why: UnansweredRequest) -> CallError {
        CallError::Unanswered { tool: self.entry.name.clone(), why }
    }

    pub(super) fn sign_in_error(&self, page: Arc<str>) -> CallError {
        match self.entry.server() {
            Some(server) => CallError::SignInRequired { server: server.clone(), page },
            None => self.unavailable_error(Unavailable::NeedsAuth),
        }
    }

    pub(super) fn unavailable_error(&self, why: Unavailable) -> CallError {
        match self.entry.server() {
            Some(server) => CallError::Unavailable { server: server.clone(), why },
            None => CallError::BuiltInTool { message: Arc::from(why.to_string()) },
        }
    }
}

/// The error for a call of a client without a sign-in to the server.
fn client_sign_in_error(connection: &Connection, why: ClientSignInError) -> CallError {
    let server = connection.name.clone();
    match why {
        ClientSignInError::NotShown { page } => CallError::SignInRequired { server, page },
        ClientSignInError::Failed(error) => {
            connection.log().add_trouble(&error.to_single_line());
            CallError::Unavailable { server, why: Unavailable::NeedsAuth }
        }
        ClientSignInError::NotOffered => CallError::Unavailable { server, why: Unavailable::NeedsAuth },
    }
}
