//! What all clients of a gateway share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mcparley::elicit::{Elicitation, Elicitor, Reply};
use mcparley::{Boxed, Budget, Host, HostBuilder};

use crate::roots::ClientRoots;
use crate::session::Session;

/// A host that is served to others. Cheap to clone; all clones are one gateway.
#[derive(Clone, Debug)]
pub struct Gateway {
    pub(crate) host: Host,
    /// The host that hears what the servers log, where that is another one: an agent hears nothing of shared servers.
    pub(crate) log_host: Option<Host>,
    /// What the definitions of tools may take of a model's context.
    pub(crate) budget: Budget,
    /// The roots of the clients.
    pub(crate) roots: Arc<ClientRoots>,
    /// How many sessions there have been.
    sessions: Arc<AtomicU64>,
}

impl Gateway {
    /// Serves a host that was started with [`Gateway::prepare`]. Tools beyond the budget are found by searching (N10).
    #[must_use]
    pub fn new(host: Host, budget: Budget) -> Self {
        let roots = Arc::new(ClientRoots::new(host.clone()));
        Self { host, log_host: None, budget, roots, sessions: Arc::default() }
    }

    /// The same where the served host is an agent of `host`, whose servers' log messages its clients are to hear.
    #[must_use]
    pub fn with_logs_of(mut self, host: &Host) -> Self {
        self.log_host = Some(host.clone());
        self
    }

    /// Prepares a host for being served: its servers are told that they can ask a person, and of no roots but the
    /// client's. Each client answers for its own calls, so nobody answers for the host.
    #[must_use]
    pub fn prepare(host: HostBuilder) -> HostBuilder {
        host.elicitor(NobodyHere).client_roots()
    }

    /// A new client.
    #[must_use]
    pub fn session(&self) -> Session {
        Session::new(self.clone(), self.sessions.fetch_add(1, Ordering::Relaxed))
    }
}

/// Answers what a server asks outside of any client's call.
struct NobodyHere;

impl Elicitor for NobodyHere {
    fn ask<'q>(&'q self, _question: Elicitation<'q>) -> Boxed<'q, Reply> {
        Box::pin(std::future::ready(Reply::Decline))
    }
}
