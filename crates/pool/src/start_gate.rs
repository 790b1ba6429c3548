//! Admission control: limits the number of servers that start at once.
//!
//! Starting a process costs CPU time, so only a few local servers may be *busy* at once. A server that merely
//! waits (for the network, a lock, a timer) costs nothing: it gives its place to the next, and takes it back
//! when it works again. Remote servers are limited by a plain semaphore.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcparley_model::config::TransportKind;
use mcparley_model::expand::Env;
use mcparley_model::limits::{LOCAL_CONNECTS, REMOTE_CONNECTS};
use mcparley_platform::process::Activity;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

use crate::started_process::StartedProcess;

/// The interval at which the activity of a starting server is checked while another waits for its place.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// The interval of the checks after a server has given its place away.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The number of consecutive checks without activity after which a server counts as waiting. A server that
/// waits for a CPU is runnable, and does not count as idle.
const IDLE_LOOKS: u32 = 1;

/// Limits the number of servers that connect at the same time.
#[derive(Clone, Debug)]
pub struct StartGate {
    local: Arc<BusyLimit>,
    remote: Arc<Semaphore>,
}

/// The permit to connect to a server; released when dropped.
#[derive(Debug)]
pub enum StartPlace {
    /// For a local server.
    Local(BusyPlace),
    /// For a remote server.
    Remote {
        /// The semaphore permit, held while connecting.
        _permit: Option<OwnedSemaphorePermit>,
    },
    /// For an in-process server, which costs nothing to connect.
    Unlimited,
}

impl StartGate {
    /// A gate with the default limits, or those of the environment.
    pub fn from_env(env: &Env) -> Self {
        let set = |name: &str| env.positive_number(name).and_then(|count| usize::try_from(count).ok());
        let local = set("MCP_SERVER_CONNECTION_BATCH_SIZE").unwrap_or_else(default_local_limit);
        let remote = set("MCP_REMOTE_SERVER_CONNECTION_BATCH_SIZE").unwrap_or(REMOTE_CONNECTS);
        Self::new(local, remote)
    }

    /// A gate with these limits for local and remote servers.
    pub fn new(local: usize, remote: usize) -> Self {
        let remote = Arc::new(Semaphore::new(remote.min(Semaphore::MAX_PERMITS)));
        Self { local: Arc::new(BusyLimit::new(local)), remote }
    }

    /// Waits for a place for a server of this kind.
    pub async fn acquire_place(&self, kind: TransportKind) -> StartPlace {
        match kind {
            TransportKind::Stdio => StartPlace::Local(BusyLimit::acquire_place(&self.local).await),
            TransportKind::Sdk => StartPlace::Unlimited,
            TransportKind::Sse
            | TransportKind::Http
            | TransportKind::Ws
            | TransportKind::SseIde
            | TransportKind::WsIde
            | TransportKind::ClaudeAiProxy => {
                // The semaphore is never closed; if it were, no limit would apply.
                StartPlace::Remote { _permit: Arc::clone(&self.remote).acquire_owned().await.ok() }
            }
        }
    }
}

/// The default limit of local servers: the number of CPUs and one more.
fn default_local_limit() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    LOCAL_CONNECTS.min(cores.saturating_add(1))
}

impl StartPlace {
    /// Runs the `work` of connecting; the place is lent to other servers while the `process` only waits.
    pub async fn while_reaching<T>(&mut self, process: &StartedProcess, work: impl Future<Output = T>) -> T {
        match self {
            Self::Local(place) => tokio::select! {
                biased;
                done = work => done,
                never = place.follow_activity(process) => match never {},
            },
            Self::Remote { .. } | Self::Unlimited => work.await,
        }
    }
}

/// Counts busy servers and admits the next one below the limit, first come, first served.
#[derive(Debug)]
struct BusyLimit {
    limit: usize,
    queue: Mutex<StartQueue>,
    /// The number of waiting servers.
    waiting: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct StartQueue {
    /// The number of busy servers. It may exceed the limit: a server that resumes work does not queue again.
    busy: usize,
    waiting: VecDeque<oneshot::Sender<BusyPlace>>,
}

impl BusyLimit {
    fn new(limit: usize) -> Self {
        Self { limit, queue: Mutex::default(), waiting: watch::Sender::new(0) }
    }

    /// Waits in the queue for a place.
    async fn acquire_place(limit: &Arc<Self>) -> BusyPlace {
        let turn = {
            let (sender, turn) = oneshot::channel();
            limit.lock_queue().waiting.push_back(sender);
            turn
        };
        Self::admit_waiting(limit);
        match turn.await {
            Ok(place) => place,
            // The queue outlives all waiting servers, so this does not happen.
            Err(_) => BusyPlace { limit: Arc::clone(limit), is_held: false },
        }
    }

    /// Admits as many servers as there is room for. A place of a server that has given up returns when it is
    /// dropped.
    fn admit_waiting(limit: &Arc<Self>) {
        loop {
            let next = {
                let mut queue = limit.lock_queue();
                let next = if queue.busy < limit.limit { queue.waiting.pop_front() } else { None };
                queue.busy += usize::from(next.is_some());
                limit.waiting.send_replace(queue.waiting.len());
                next
            };
            let Some(next) = next else { return };
            let _gone = next.send(BusyPlace { limit: Arc::clone(limit), is_held: true });
        }
    }

    fn lock_queue(&self) -> MutexGuard<'_, StartQueue> {
        // Every change is a single step, so a panic leaves the queue consistent.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place among the busy local servers.
#[derive(Debug)]
pub struct BusyPlace {
    limit: Arc<BusyLimit>,
    is_held: bool,
}

impl BusyPlace {
    /// Gives the place away while the process waits, and takes it back while it works. Checks only while
    /// others queue.
    async fn follow_activity(&mut self, process: &StartedProcess) -> Infallible {
        let mut waiting = self.limit.waiting.subscribe();
        let (mut last, mut idle_looks) = (None, 0);
        loop {
            // The sender lives as long as this place, so this does not fail.
            drop(waiting.wait_for(|count| *count > 0).await);
            tokio::time::sleep(if self.is_held { LOOK_EVERY } else { LOOK_AGAIN }).await;
            let now = process.id().and_then(|id| Some((id, Activity::of_tree(id)?)));
            let is_idle = match (&now, &last) {
                (Some((id, now)), Some((last_id, last))) => id == last_id && now.is_idle_since(last),
                _ => false,
            };
            last = now;
            idle_looks = if is_idle { idle_looks + 1 } else { 0 };
            match (self.is_held, idle_looks) {
                (true, IDLE_LOOKS..) => self.give_away(),
                (false, 0) => self.take_back(),
                (true | false, _) => {}
            }
        }
    }

    fn give_away(&mut self) {
        if std::mem::take(&mut self.is_held) {
            self.limit.lock_queue().busy -= 1;
            BusyLimit::admit_waiting(&self.limit);
        }
    }

    fn take_back(&mut self) {
        if !std::mem::replace(&mut self.is_held, true) {
            self.limit.lock_queue().busy += 1;
        }
    }
}

impl Drop for BusyPlace {
    fn drop(&mut self) {
        self.give_away();
    }
}

#[cfg(test)]
mod tests;
