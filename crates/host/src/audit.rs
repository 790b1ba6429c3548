//! The audit log: one record for every call, with caller, tool, decision and outcome.
//!
//! JSON Lines, readable by the file's owner alone, without any argument value and without any text of a
//! result. Calls push their record into a bounded queue and go on; a background task writes the queue to the
//! file. Records that could not be written are counted, and the next record states how many are missing.
//! Records are in the order in which calls end, with a running number.
//!
//! | part | module |
//! |---|---|
//! | one record, and the JSON line it becomes | `record` |
//! | a request that a gateway refused | `refused_request` |
//! | the entry of a running call, written when the call ends | `entry` |

mod entry;
mod record;
mod refused_request;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcparley_model::limits::{AUDIT_FILE_BYTES, AUDIT_FILES, AUDIT_PAUSE, AUDIT_QUEUE};
use mcparley_platform::file::JournalFile;
use mcparley_platform::thread::run_blocking;
use tokio::sync::Notify;

use mcparley_pool::task::AbortOnDropTask;
use record::AuditRecord;

pub(crate) use entry::AuditEntry;
pub use refused_request::RefusedRequest;

/// The audit log of a host's calls. Dropping the log writes the queued records first.
#[derive(Debug)]
pub(crate) struct AuditLog {
    shared: Arc<Shared>,
    _writer: AbortOnDropTask<()>,
}

/// The identity of the host in its audit log; every line repeats these values.
#[derive(Debug)]
pub(crate) struct AuditSource {
    /// The host's session id, the same as in hook input.
    pub(crate) session: String,
    /// The entry point of the calls: a program, a command line or a gateway.
    pub(crate) door: String,
}

/// State that the log and its writer task share.
#[derive(Debug)]
struct Shared {
    source: AuditSource,
    journal: JournalFile,
    queue: Mutex<AuditQueue>,
    news: Notify,
    /// Held while lines are written: lines keep their order, and a flush that waits for the lock knows that
    /// all earlier lines are written.
    turn: tokio::sync::Mutex<()>,
}

/// The bounded queue of records that are not written yet.
#[derive(Debug, Default)]
struct AuditQueue {
    records: VecDeque<AuditRecord>,
    /// The number of the newest record.
    number: u64,
    /// The count of lost records that no written record has reported yet.
    lost: u64,
}

impl AuditLog {
    /// Starts the audit log in this file, with a background task that writes.
    pub(crate) fn start(path: PathBuf, source: AuditSource) -> Self {
        let shared = Arc::new(Shared {
            source,
            journal: JournalFile::new(path, AUDIT_FILE_BYTES, AUDIT_FILES),
            queue: Mutex::default(),
            news: Notify::new(),
            turn: tokio::sync::Mutex::default(),
        });
        let writer = AbortOnDropTask::start(run_writer(Arc::clone(&shared)));
        Self { shared, _writer: writer }
    }

    /// Flushes the queue: returns when all records pushed before are written.
    pub(crate) async fn flush(&self) {
        self.shared.flush_queue().await;
    }

    /// Queues a record and wakes the writer task.
    fn push_record(&self, record: AuditRecord) {
        let waiting = self.shared.lock_queue().push_record(record);
        // The writer waits for the first record, and may wait for more until the queue is half full.
        if waiting == 1 || waiting == AUDIT_QUEUE / 2 {
            self.shared.news.notify_one();
        }
    }
}

impl Drop for AuditLog {
    fn drop(&mut self) {
        let waiting = self.shared.lock_queue().drain_records();
        self.shared.append_records(&waiting);
    }
}

/// Writer task: flushes the queue whenever a record arrives.
async fn run_writer(shared: Arc<Shared>) {
    loop {
        shared.news.notified().await;
        // Records of calls that end at the same time are written together.
        tokio::select! {
            () = tokio::time::sleep(AUDIT_PAUSE) => {}
            () = shared.news.notified() => {}
        }
        shared.flush_queue().await;
    }
}

impl Shared {
    async fn flush_queue(self: &Arc<Self>) {
        let _turn = self.turn.lock().await;
        let waiting = self.lock_queue().drain_records();
        if !waiting.is_empty() {
            let this = Arc::clone(self);
            // File writes may be slow, so they run on a task of their own: once begun, a write finishes even
            // if the waiting caller is dropped.
            let _broken = run_blocking(move || this.append_records(&waiting)).await;
        }
    }

    /// Appends records to the file. Records that cannot be written are lost, and counted.
    fn append_records(&self, records: &[AuditRecord]) {
        let lines = record::write_json_lines(records, &self.source);
        if !lines.is_empty() && self.journal.append_lines(&lines).is_err() {
            let lost: u64 = records.iter().map(AuditRecord::lost_count).sum();
            self.lock_queue().lost += lost + u64::try_from(records.len()).unwrap_or(u64::MAX);
        }
    }

    fn lock_queue(&self) -> MutexGuard<'_, AuditQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AuditQueue {
    /// Numbers a record and appends it to the bounded queue. When the queue is full, the record is dropped
    /// and counted: a call never waits for the audit file. Returns the length of the queue.
    fn push_record(&mut self, record: AuditRecord) -> usize {
        self.number += 1;
        if self.records.len() >= AUDIT_QUEUE {
            self.lost += 1;
        } else {
            let lost = std::mem::take(&mut self.lost);
            self.records.push_back(record.with_number(self.number, lost));
        }
        self.records.len()
    }

    fn drain_records(&mut self) -> Vec<AuditRecord> {
        std::mem::take(&mut self.records).into()
    }
}

#[cfg(test)]
mod tests;
