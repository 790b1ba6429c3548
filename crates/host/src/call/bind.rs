//! Looks a tool up and freezes what belongs to the call: the entry and the server behind it.

use std::sync::Arc;

use mcparley_model::plan::Standing;
use mcparley_wire::Failure;

use super::error::CallError;
use super::recovery;
use super::wish::{Call, Wanted};
use crate::catalog::Entry;
use crate::connection::{Connection, Status, Unavailable};
use crate::host::Host;

/// A tool that was looked up.
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) entry: Arc<Entry>,
    /// The server behind it; the host's own tools have none.
    pub(super) connection: Option<Arc<Connection>>,
}

impl Host {
    /// Looks the tool up. A server nobody has needed yet is reached first, to learn what it offers.
    pub(super) async fn bind(&self, call: &Call) -> Result<Bound, CallError> {
        let entry = match &call.wanted {
            Wanted::Public(name) => match self.current().get(name).cloned() {
                Some(entry) => entry,
                None => self.late(name).await?,
            },
            Wanted::Tool { server, tool } => {
                let Some(connection) = self.connection(server) else {
                    return Err(self.unknown_server(server.as_str()));
                };
                if !matches!(connection.state().status, Status::Connected { .. }) {
                    let unavailable = |why| CallError::Unavailable { server: server.clone(), why };
                    connection.lease().await.map_err(unavailable)?;
                }
                let known = self.current();
                known.of(server, tool).cloned().ok_or_else(|| CallError::UnknownTool {
                    name: tool.as_str().to_owned(),
                    similar: self.tools_like(server, tool.as_str()),
                    because: Some(format!("server `{server}` does not offer it")),
                })?
            }
        };
        let connection = entry.server().and_then(|server| self.connection(server)).cloned();
        Ok(Bound { entry, connection })
    }

    /// A name that is not in the catalogue: perhaps its server is only on its way.
    async fn late(&self, name: &str) -> Result<Arc<Entry>, CallError> {
        let known = self.current();
        if let Some((server, _)) = known.names().original(name)
            && let Some(connection) = self.connection(server)
        {
            let unavailable = |why| CallError::Unavailable { server: server.clone(), why };
            connection.lease().await.map_err(unavailable)?;
        } else {
            self.settled().await;
        }
        let known = self.current();
        known.get(name).cloned().ok_or_else(|| CallError::UnknownTool {
            name: name.to_owned(),
            similar: known.similar(name),
            because: self.missing(),
        })
    }

    /// The servers that offer nothing now, and why: one of them may have the tool.
    fn missing(&self) -> Option<String> {
        let missing: Vec<String> = self
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
        let plan = &self.loaded().plan;
        let because = plan.named(name).first().map(|server| {
            let reason = server.standing.reason().unwrap_or_default();
            match &server.standing {
                Standing::Ready => "it is not running".to_owned(),
                standing if reason.is_empty() => standing.as_str().to_owned(),
                standing => format!("{}: {reason}", standing.as_str()),
            }
        });
        CallError::UnknownServer { name: name.to_owned(), similar: self.servers_like(name), because }
    }
}

impl Bound {
    /// Checks the arguments against the tool's schema (N8).
    pub(super) fn check(&self, call: &Call) -> Result<(), CallError> {
        let misfits = self.entry.checker().check(&call.arguments).err();
        match misfits {
            None => Ok(()),
            Some(misfits) => Err(CallError::Arguments { tool: self.entry.name.clone(), misfits }),
        }
    }

    pub(super) fn failed(&self, failure: Failure) -> CallError {
        let executed = recovery::executed(&failure);
        let failure = match &self.connection {
            Some(connection) => connection.log.tellable(failure),
            None => failure,
        };
        CallError::Failed { tool: self.entry.name.clone(), failure, executed }
    }

    pub(super) fn unavailable(&self, why: Unavailable) -> CallError {
        match self.entry.server() {
            Some(server) => CallError::Unavailable { server: server.clone(), why },
            None => CallError::Own { message: Arc::from(why.to_string()) },
        }
    }
}
