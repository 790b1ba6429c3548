//! Statistics of tool calls for the user: the calls that run now, and how often and how long tools ran.
//!
//! One table for all servers of a host, behind a lock that is held for a few instructions at the beginning
//! and at the end of a call. Only a host whose builder was told to `count_calls` has it: calls of others take
//! no lock.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use mcparley_model::name::{ServerName, ToolName};
use mcparley_wire::peer::{NewestProgress, ProgressUpdate};
use tokio::sync::watch;

use super::Host;
use super::finished_call::{CallEnding, FinishedCall, FinishedCalls};

/// The maximum number of tools whose calls are counted, so that servers that rename their tools all the time
/// do not fill the memory.
const COUNTED_TOOLS: usize = 20_000;

/// A call that runs now.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunningCall {
    /// The server.
    pub server: ServerName,
    /// The tool, by the server's own name for it.
    pub tool: ToolName,
    /// The time at which the call was sent.
    pub since: Instant,
    /// The newest progress, if the caller has requested progress and the server reports it.
    pub progress: Option<ProgressUpdate>,
}

/// The calls of one tool that have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallCount {
    /// The number of calls.
    pub calls: u64,
    /// The number of calls that failed, were cancelled, or whose tool reported an error.
    pub failures: u64,
    /// The duration of all calls together.
    pub time: Duration,
}

impl CallCount {
    /// The mean duration of a call; zero without calls.
    #[must_use]
    pub fn mean_time(&self) -> Duration {
        let calls = u32::try_from(self.calls).unwrap_or(u32::MAX);
        self.time.checked_div(calls).unwrap_or_default()
    }
}

impl Host {
    /// The calls that run now, of this host and of its agents, oldest first; empty unless calls are counted.
    #[must_use]
    pub fn running_calls(&self) -> Vec<RunningCall> {
        self.call_statistics().lock_table().running.iter().map(StartedCall::to_running_call).collect()
    }

    /// The calls of a server's tools that have ended, by tool; empty unless calls are counted.
    #[must_use]
    pub fn call_counts(&self, server: &ServerName) -> HashMap<ToolName, CallCount> {
        self.call_statistics().lock_table().ended.get(server).cloned().unwrap_or_default()
    }

    /// Subscribes to the beginnings and ends of counted calls. The value is their number.
    #[must_use]
    pub fn call_changes(&self) -> watch::Receiver<u64> {
        self.call_statistics().changes.subscribe()
    }
}

/// The statistics of a host's calls; an agent shares those of its host.
#[derive(Debug, Default)]
pub(crate) struct CallStatistics {
    /// Whether calls are recorded at all.
    is_enabled: bool,
    table: Mutex<CallRecords>,
    changes: watch::Sender<u64>,
}

#[derive(Debug, Default)]
pub(super) struct CallRecords {
    /// Oldest first.
    running: Vec<StartedCall>,
    ended: HashMap<ServerName, HashMap<ToolName, CallCount>>,
    /// The number of tools in `ended`.
    tools: usize,
    last_id: u64,
    /// The newest ended calls.
    pub(super) finished: FinishedCalls,
}

#[derive(Debug)]
struct StartedCall {
    id: u64,
    server: ServerName,
    tool: ToolName,
    since: Instant,
    began: SystemTime,
    progress: Option<NewestProgress>,
}

impl StartedCall {
    fn to_running_call(&self) -> RunningCall {
        RunningCall {
            server: self.server.clone(),
            tool: self.tool.clone(),
            since: self.since,
            progress: self.progress.as_ref().and_then(NewestProgress::newest_update),
        }
    }
}

impl CallStatistics {
    pub(crate) fn new(is_enabled: bool) -> Self {
        Self { is_enabled, ..Self::default() }
    }

    /// Records the beginning of a call, if calls are recorded. The call counts as canceled unless its guard is
    /// told otherwise.
    pub(crate) fn begin_call(
        self: &Arc<Self>,
        server: &ServerName,
        tool: &ToolName,
        progress: Option<NewestProgress>,
    ) -> Option<Box<CallGuard>> {
        if !self.is_enabled {
            return None;
        }
        let mut table = self.lock_table();
        table.last_id += 1;
        let id = table.last_id;
        let (server, tool) = (server.clone(), tool.clone());
        let (since, began) = (Instant::now(), SystemTime::now());
        table.running.push(StartedCall { id, server, tool, since, began, progress });
        drop(table);
        self.announce_change();
        // Boxed: a call whose host records none keeps no space for it.
        Some(Box::new(CallGuard { statistics: Arc::clone(self), id, ending: CallEnding::Canceled }))
    }

    fn end_call(&self, id: u64, ending: CallEnding) {
        let mut table = self.lock_table();
        // The newest calls end first more often than the oldest.
        if let Some(at) = table.running.iter().rposition(|call| call.id == id) {
            let call = table.running.remove(at);
            table.count_call(call, ending);
        }
        drop(table);
        self.announce_change();
    }

    /// Wakes the listeners. Most hosts have none, and then a call costs no notification.
    fn announce_change(&self) {
        if self.changes.receiver_count() > 0 {
            self.changes.send_modify(|count| *count += 1);
        }
    }

    pub(super) fn lock_table(&self) -> MutexGuard<'_, CallRecords> {
        // Every change leaves plain data that is valid, so a panic elsewhere does not matter.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallRecords {
    fn count_call(&mut self, call: StartedCall, ending: CallEnding) {
        let StartedCall { id: number, server, tool, since, began, .. } = call;
        let (duration, has_failed) = (since.elapsed(), ending.is_failure());
        let finished =
            FinishedCall { number, server: server.clone(), tool: tool.clone(), began, duration, ending };
        self.finished.push_call(finished);
        let of_server = self.ended.entry(server).or_default();
        if !of_server.contains_key(&tool) {
            if self.tools == COUNTED_TOOLS {
                return;
            }
            self.tools += 1;
        }
        let count = of_server.entry(tool).or_default();
        count.calls += 1;
        count.failures += u64::from(has_failed);
        count.time = count.time.saturating_add(duration);
    }
}

/// Guard of a running call: the call ends when it is dropped.
#[derive(Debug)]
pub(crate) struct CallGuard {
    statistics: Arc<CallStatistics>,
    id: u64,
    ending: CallEnding,
}

impl CallGuard {
    /// Records the way in which the call ended, and ends it.
    pub(crate) fn record_ending(mut self, ending: CallEnding) {
        self.ending = ending;
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        let ending = std::mem::replace(&mut self.ending, CallEnding::Canceled);
        self.statistics.end_call(self.id, ending);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // U4
    #[test]
    fn call_is_listed_while_it_runs_and_counted_when_it_has_ended() {
        let statistics = Arc::new(CallStatistics::new(true));
        let (server, tool) = (ServerName::new("git"), ToolName::new("log"));
        let (sender, _progress) = mcparley_wire::peer::progress_channel();
        let succeeding = statistics.begin_call(&server, &tool, Some(sender.observe_newest())).unwrap();
        let cancelled = statistics.begin_call(&server, &tool, None);
        sender.send_update(ProgressUpdate { progress: 1.0, total: Some(4.0), message: None, raw: None });
        let running: Vec<RunningCall> =
            statistics.lock_table().running.iter().map(StartedCall::to_running_call).collect();
        assert_eq!(running.len(), 2);
        assert_eq!(running[0].progress.as_ref().and_then(|progress| progress.total), Some(4.0));
        succeeding.record_ending(CallEnding::Succeeded);
        drop(cancelled);
        let table = statistics.lock_table();
        assert!(table.running.is_empty());
        let count = table.ended[&server][&tool];
        assert_eq!((count.calls, count.failures), (2, 1));
    }

    // U4
    #[test]
    fn host_that_counts_no_calls_records_none() {
        let statistics = Arc::new(CallStatistics::new(false));
        let call = statistics.begin_call(&ServerName::new("git"), &ToolName::new("log"), None);
        assert!(call.is_none() && statistics.lock_table().running.is_empty());
    }

    // U4
    #[test]
    fn mean_time_is_that_of_one_call() {
        let count = CallCount { calls: 4, failures: 0, time: Duration::from_millis(48) };
        assert_eq!(count.mean_time(), Duration::from_millis(12));
        assert_eq!(CallCount::default().mean_time(), Duration::ZERO);
    }

    // U4
    #[test]
    fn number_of_counted_tools_is_limited() {
        let statistics = Arc::new(CallStatistics::new(true));
        let server = ServerName::new("renames");
        for index in 0..COUNTED_TOOLS + 5 {
            drop(statistics.begin_call(&server, &ToolName::new(&index.to_string()), None));
        }
        assert_eq!(statistics.lock_table().ended[&server].len(), COUNTED_TOOLS);
    }
}
