//! A server that this process runs for other processes: the daemon's side of [`crate::attach`].
//!
//! Its program is started exactly as its client asked, its process can be watched while it starts, and it is
//! not restarted here: the clients decide about that, as they do for servers of their own.

use std::sync::atomic::{AtomicBool, Ordering};

use mcparley_platform::process::ProgramLaunch;
use tokio::sync::Notify;

use crate::started_process::StartedProcess;

/// The launch of a server for other processes, and the observed requests of the server.
#[derive(Debug)]
pub struct HostedServer {
    /// The program, with the environment and the folder of the client.
    pub launch: ProgramLaunch,
    /// The process, once it is started.
    pub process: StartedProcess,
    /// The requests that the server has sent.
    pub requests: ObservedRequests,
}

impl HostedServer {
    /// A server that is started with this launch.
    #[must_use]
    pub fn new(launch: ProgramLaunch) -> Self {
        Self { launch, process: StartedProcess::default(), requests: ObservedRequests::default() }
    }
}

/// The kinds of requests that a server has sent to its client so far.
#[derive(Debug, Default)]
pub struct ObservedRequests {
    roots: AtomicBool,
    questions: AtomicBool,
    changed: Notify,
}

impl ObservedRequests {
    /// Records a request of the server.
    pub(crate) fn record_request(&self, method: &str) {
        let flag = match method {
            "roots/list" => &self.roots,
            "elicitation/create" | "sampling/createMessage" => &self.questions,
            _ => return,
        };
        if !flag.swap(true, Ordering::Relaxed) {
            self.changed.notify_one();
        }
    }

    /// Whether the server has asked for roots.
    #[must_use]
    pub fn has_read_roots(&self) -> bool {
        self.roots.load(Ordering::Relaxed)
    }

    /// Whether the server has asked a question: elicitation or sampling.
    #[must_use]
    pub fn has_asked(&self) -> bool {
        self.questions.load(Ordering::Relaxed)
    }

    /// Waits for a request of a new kind; only one caller may wait.
    pub async fn wait_for_change(&self) {
        self.changed.notified().await;
    }
}
