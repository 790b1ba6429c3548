//! State that all requests of the page share: the host, the sessions of browsers, and work that outlives a
//! request.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use mcparley::{Host, RunOptions};
use mcparley_gateway::Gateway;
use tokio::sync::{broadcast, watch};
use tokio::task::JoinSet;

use crate::session::PageSessions;
use crate::visitors::Visitors;

/// The number of notices that wait for a slow page.
const NOTICES: usize = 32;

/// The options of the page.
#[derive(Clone, Debug)]
pub struct PageOptions {
    /// The options of the run, to find the items that wait for approval.
    pub run_options: RunOptions,
    /// The folder of the control sockets, to find questions of other gateways.
    pub control_folder: PathBuf,
}

/// State that all requests of the page share.
#[derive(Debug)]
pub(crate) struct PageState {
    pub(crate) host: Host,
    pub(crate) gateway: Gateway,
    pub(crate) options: PageOptions,
    pub(crate) visitors: Visitors,
    pub(crate) sessions: PageSessions,
    /// Messages for the people at the pages.
    notices: broadcast::Sender<String>,
    /// The number of changes here that nothing else announces: approvals, answers to other gateways.
    pub(crate) refreshes: watch::Sender<u64>,
    /// Sign-ins in progress.
    tasks: Mutex<JoinSet<()>>,
}

impl PageState {
    /// The state of the page of a host.
    pub(crate) fn new(host: &Host, gateway: &Gateway, options: PageOptions) -> Self {
        Self {
            host: host.clone(),
            gateway: gateway.clone(),
            options,
            visitors: Visitors::new(),
            sessions: PageSessions::default(),
            notices: broadcast::channel(NOTICES).0,
            refreshes: watch::Sender::default(),
            tasks: Mutex::default(),
        }
    }

    /// Tells the people at the pages.
    pub(crate) fn send_notice(&self, text: String) {
        // Without a page there is no reader.
        let _unread = self.notices.send(text);
    }

    pub(crate) fn subscribe_notices(&self) -> broadcast::Receiver<String> {
        self.notices.subscribe()
    }

    /// Makes every page look for approvals and questions of other gateways again.
    pub(crate) fn refresh_pages(&self) {
        self.refreshes.send_modify(|count| *count += 1);
    }

    /// Runs work that outlives its request, until the page ends.
    pub(crate) fn spawn_task(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(work);
    }
}
