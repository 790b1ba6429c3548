//! Admission control for servers that are being reached (L2).
//!
//! Starting a process costs processor time, so only a few local servers may be *busy* at once. One that merely waits (for a
//! network, a lock, a timer) costs nothing: it gives its place to the next, and takes one again when it goes on working.
//! Remote servers are counted by a plain semaphore.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcparley_model::config::Kind;
use mcparley_model::expand::Env;
use mcparley_model::limits::{LOCAL_CONNECTS, REMOTE_CONNECTS};
use mcparley_platform::process::Activity;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

use crate::connect::{StartedProcess, number};

/// How often a server that is being reached is looked at while another waits for its place.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// How often one is looked at that has given its place away.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// After so many looks in a row without any work a server counts as waiting. One that waits for its turn on a processor is
/// runnable, and not taken for idle.
const IDLE_LOOKS: u32 = 1;

/// How many servers may be reached at the same time.
#[derive(Clone, Debug)]
pub(crate) struct StartGate {
    local: Arc<BusyLimit>,
    remote: Arc<Semaphore>,
}

/// The right to reach a server; given back when dropped.
#[derive(Debug)]
pub(crate) enum StartPlace {
    /// Among the local servers.
    Local(BusyPlace),
    /// Among the remote ones.
    Remote { _permit: Option<OwnedSemaphorePermit> },
    /// Servers inside this program cost nothing.
    Unlimited,
}

impl StartGate {
    /// The usual limits, unless variables say otherwise.
    pub(crate) fn from_env(env: &Env) -> Self {
        let set = |name: &str| number(env, name).and_then(|count| usize::try_from(count).ok());
        let local = set("MCP_SERVER_CONNECTION_BATCH_SIZE").unwrap_or_else(usual_local);
        let remote = set("MCP_REMOTE_SERVER_CONNECTION_BATCH_SIZE").unwrap_or(REMOTE_CONNECTS);
        Self::new(local, remote)
    }

    pub(crate) fn new(local: usize, remote: usize) -> Self {
        let remote = Arc::new(Semaphore::new(remote.min(Semaphore::MAX_PERMITS)));
        Self { local: Arc::new(BusyLimit::new(local)), remote }
    }

    /// Waits for a place for a server of this kind.
    pub(crate) async fn enter(&self, kind: Kind) -> StartPlace {
        match kind {
            Kind::Stdio => StartPlace::Local(BusyLimit::enter(&self.local).await),
            Kind::Sdk => StartPlace::Unlimited,
            Kind::Sse | Kind::Http | Kind::Ws | Kind::SseIde | Kind::WsIde | Kind::ClaudeAiProxy => {
                // A closed semaphore does not happen; were it so, there would be no limit to keep.
                StartPlace::Remote { _permit: Arc::clone(&self.remote).acquire_owned().await.ok() }
            }
        }
    }
}

/// As many as keep the processors busy, and one more.
fn usual_local() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    LOCAL_CONNECTS.min(cores.saturating_add(1))
}

impl StartPlace {
    /// Does the `work` of reaching a server; the place is lent to others while its `process` only waits.
    pub(crate) async fn while_reaching<T>(
        &mut self,
        process: &StartedProcess,
        work: impl Future<Output = T>,
    ) -> T {
        match self {
            Self::Local(place) => tokio::select! {
                biased;
                done = work => done,
                never = place.follow(process) => match never {},
            },
            Self::Remote { .. } | Self::Unlimited => work.await,
        }
    }
}

/// Counts busy servers, and lets the next in when there are fewer than the limit; first come, first served.
#[derive(Debug)]
struct BusyLimit {
    limit: usize,
    queue: Mutex<Queue>,
    /// How many wait.
    waiting: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct Queue {
    /// May be more than the limit: a server that wakes up asks nobody.
    busy: usize,
    waiting: VecDeque<oneshot::Sender<BusyPlace>>,
}

impl BusyLimit {
    fn new(limit: usize) -> Self {
        Self { limit, queue: Mutex::default(), waiting: watch::Sender::new(0) }
    }

    async fn enter(limit: &Arc<Self>) -> BusyPlace {
        let turn = {
            let (sender, turn) = oneshot::channel();
            limit.locked().waiting.push_back(sender);
            turn
        };
        Self::admit(limit);
        match turn.await {
            Ok(place) => place,
            // The queue lives as long as anybody stands in it, so this does not happen.
            Err(_) => BusyPlace { limit: Arc::clone(limit), is_held: false },
        }
    }

    /// Lets in as many as there is room for. A place that nobody takes comes back by being dropped.
    fn admit(limit: &Arc<Self>) {
        loop {
            let next = {
                let mut queue = limit.locked();
                let next = if queue.busy < limit.limit { queue.waiting.pop_front() } else { None };
                queue.busy += usize::from(next.is_some());
                limit.waiting.send_replace(queue.waiting.len());
                next
            };
            let Some(next) = next else { return };
            let _gone = next.send(BusyPlace { limit: Arc::clone(limit), is_held: true });
        }
    }

    fn locked(&self) -> MutexGuard<'_, Queue> {
        // Every change is one step, so a panic leaves nothing half done.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place among the busy local servers.
#[derive(Debug)]
pub(crate) struct BusyPlace {
    limit: Arc<BusyLimit>,
    is_held: bool,
}

impl BusyPlace {
    /// Gives the place away whenever the process waits, and takes one whenever it works. Looks only while others wait.
    async fn follow(&mut self, process: &StartedProcess) -> Infallible {
        let mut waiting = self.limit.waiting.subscribe();
        let (mut last, mut idle_looks) = (None, 0);
        loop {
            // Its sender lives as long as this place.
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
            self.limit.locked().busy -= 1;
            BusyLimit::admit(&self.limit);
        }
    }

    fn take_back(&mut self) {
        if !std::mem::replace(&mut self.is_held, true) {
            self.limit.locked().busy += 1;
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
