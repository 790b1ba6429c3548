//! The host, the budget and the roots that all clients of a gateway share.

pub(crate) mod roots;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcparley::catalog::Budget;
use mcparley::elicit::{Elicitation, ElicitationReply, Elicitor};
use mcparley::{BoxedFuture, Host, HostBuilder};

use crate::gateway::roots::ClientRoots;

/// A host that is served to clients. Cheap to clone; all clones are one gateway.
#[derive(Clone, Debug)]
pub struct Gateway {
    pub(crate) host: Host,
    /// The host that receives the servers' log messages, if it is another one: an agent does not receive
    /// those of shared servers.
    pub(crate) log_host: Option<Host>,
    /// The token budget for tool definitions in a model's context.
    pub(crate) budget: Budget,
    /// The roots of the clients.
    pub(crate) roots: Arc<ClientRoots>,
    /// The number of clients.
    pub(crate) clients: Arc<AtomicUsize>,
}

impl Gateway {
    /// Serves a host that was started with [`Gateway::prepare_host`]. Tools beyond the budget are found by
    /// tool search.
    #[must_use]
    pub fn new(host: Host, budget: Budget) -> Self {
        let roots = Arc::new(ClientRoots::new(host.clone()));
        Self { host, log_host: None, budget, roots, clients: Arc::default() }
    }

    /// Forwards the log messages of `host` to clients, where the served host is an agent of `host`.
    #[must_use]
    pub fn with_log_host(mut self, host: &Host) -> Self {
        self.log_host = Some(host.clone());
        self
    }

    /// Prepares a host to be served: elicitation is declared to its servers, and only the clients' roots are
    /// offered. Each client answers for its own calls, so the host itself has no elicitor or roots.
    #[must_use]
    pub fn prepare_host(host: HostBuilder) -> HostBuilder {
        host.elicitor(DecliningElicitor).client_roots_only()
    }

    /// Whether there is at most one client.
    pub(crate) fn has_one_client(&self) -> bool {
        self.clients.load(Ordering::Relaxed) <= 1
    }
}

/// Declines questions that a server asks outside of any client's call.
struct DecliningElicitor;

impl Elicitor for DecliningElicitor {
    fn ask<'q>(&'q self, _question: Elicitation<'q>) -> BoxedFuture<'q, ElicitationReply> {
        Box::pin(std::future::ready(ElicitationReply::Decline))
    }
}
