//! Detached calls: permitted here, and made by the daemon after this process has ended.

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::TOOL_TIME;
use mcparley_model::name::{PublicName, ServerName, ToolName};
use mcparley_model::text::display_line;
use mcparley_pool::attach::DaemonLink;
use mcparley_pool::attach::protocol::AttachRequest;
use mcparley_pool::connection::Connection;
use mcparley_results::ForwardableOutcome;
use mcparley_wire::{Failure, RawJson};

use super::bind::BoundTool;
use super::call_hooks::HookState;
use super::requested_call::Call;
use crate::audit::AuditEntry;
use crate::call_error::CallError;
use crate::host::Host;

/// A permitted call that was not sent.
#[derive(Debug)]
pub struct DetachedCall {
    /// The server, for the daemon.
    pub attach: AttachRequest,
    /// The server's own name of the tool.
    pub tool: ToolName,
    /// The arguments, as hooks left them.
    pub arguments: RawJson,
    /// The time that the server may be silent.
    pub limit: Duration,
}

/// The reason why a call cannot be detached.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DetachError {
    /// The call cannot be made at all.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The tool is not one of a server that the daemon can run.
    #[error("`{tool}` cannot be called detached: {}", describe_provider(server.as_ref()))]
    NotLocal {
        /// The tool.
        tool: PublicName,
        /// The server; `None` for a built-in tool.
        server: Option<ServerName>,
    },
}

impl DetachError {
    /// The next action for the user, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Call(error) => error.hint(),
            Self::NotLocal { .. } => Some("call it without `--detach`".to_owned()),
        }
    }
}

/// The rest of a permitted call: it is made here, or recorded as one that the daemon makes.
#[derive(Debug)]
pub struct PermittedCall {
    host: Host,
    call: Call,
    bound: BoundTool,
    hook_state: HookState,
    audit_entry: AuditEntry,
}

impl PermittedCall {
    /// Records that the daemon makes the call.
    pub fn record_detached(mut self) {
        self.audit_entry.set_detached(Ok(()));
    }

    /// Makes the call here, like [`Host::call_to_forward`] after the permission.
    ///
    /// # Errors
    /// A [`CallError`].
    pub async fn send_here(self) -> Result<ForwardableOutcome, CallError> {
        let Self { host, mut call, bound, mut hook_state, mut audit_entry } = self;
        call.is_forwarded = true;
        let result = host.send_permitted_call(&mut call, &bound, &mut hook_state).await;
        audit_entry.set_outcome(&result);
        result
    }
}

impl Host {
    /// Takes a call through all steps before it is sent: lookup, validation, pre hooks and permission. The daemon of
    /// this link makes it then. Post hooks do not run, because no caller waits for the result.
    ///
    /// # Errors
    /// [`DetachError::NotLocal`] for a tool of a remote server, before hooks run and the user is asked.
    pub async fn prepare_detached_call(
        &self,
        call: Call,
        link: &DaemonLink,
    ) -> Result<DetachedCall, DetachError> {
        let (detached, permitted) = self.permit_detached_call(call, link).await?;
        permitted.record_detached();
        Ok(detached)
    }

    /// Like [`Host::prepare_detached_call`], for a caller that can also make the call here if the daemon does not take
    /// it.
    ///
    /// # Errors
    /// As for [`Host::prepare_detached_call`].
    pub async fn permit_detached_call(
        &self,
        mut call: Call,
        link: &DaemonLink,
    ) -> Result<(DetachedCall, PermittedCall), DetachError> {
        let mut audit_entry = self.audit_entry(call.client_identity(), || call.selector.display_name());
        let mut hook_state = HookState::default();
        let state = (&mut hook_state, &mut audit_entry);
        match self.authorize_detached_call(&mut call, link, state).await {
            Ok((detached, bound)) => {
                let host = self.clone();
                Ok((detached, PermittedCall { host, call, bound, hook_state, audit_entry }))
            }
            Err(error) => {
                match &error {
                    DetachError::Call(error) => audit_entry.set_outcome(&Err(error.clone())),
                    DetachError::NotLocal { .. } => audit_entry.set_detached(Err("not-local")),
                }
                Err(error)
            }
        }
    }

    async fn authorize_detached_call(
        &self,
        call: &mut Call,
        link: &DaemonLink,
        (hook_state, audit_entry): (&mut HookState, &mut AuditEntry),
    ) -> Result<(DetachedCall, BoundTool), DetachError> {
        let found = self.bind_tool(call).await?;
        let server = found.entry.server();
        let attach = found.connection.as_ref().and_then(|connection| {
            let context = self.connect_context().for_server(&connection.name);
            context.request_from_daemon(&connection.config, link)
        });
        let Some(attach) = attach else {
            return Err(DetachError::NotLocal { tool: found.entry.name.clone(), server: server.cloned() });
        };
        let bound = self.authorize_call(call, hook_state, audit_entry).await?;
        let set_limit =
            |connection: &Arc<Connection>| connection.config.timeout.unwrap_or(connection.tool_limit);
        let limit = call.limit.or(bound.connection.as_ref().map(set_limit)).unwrap_or(TOOL_TIME);
        let arguments = match &call.raw_arguments {
            Some(written) => written.clone(),
            None => RawJson::from_value(&call.arguments)
                .map_err(|error| bound.call_failed_error(Failure::Protocol(error.to_string().into())))?,
        };
        let detached = DetachedCall { attach, tool: bound.entry.tool.name.clone(), arguments, limit };
        Ok((detached, bound))
    }
}

fn describe_provider(server: Option<&ServerName>) -> String {
    match server {
        Some(server) => {
            format!("`{}` is not a program that the daemon can start", display_line(server.as_str()))
        }
        None => "it is a built-in tool".to_owned(),
    }
}
