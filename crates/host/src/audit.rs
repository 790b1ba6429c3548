//! One record for every call: who called what, what was decided, what came of it (H36, B118).
//!
//! JSON Lines, for the owner alone, without a value of any argument and without a word of any result. Calls put their
//! record into a bounded queue and go on; a task writes them down. What could not be kept is counted, and the next record
//! tells how much that was. Records have the order in which calls end, and a running number.
//!
//! | what | where |
//! |---|---|
//! | one record, as it is written | `record` |
//! | what is noted while a call runs, and that it ends | `trail` |

mod entry;
mod record;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcparley_model::limits::{AUDIT_FILE_BYTES, AUDIT_FILES, AUDIT_QUEUE};
use mcparley_platform::file::Journal;
use tokio::sync::Notify;

use crate::task::{self, Owned};
use record::Record;

pub(crate) use entry::AuditEntry;

/// The record of a host's calls. When it is dropped, what waits is written first.
#[derive(Debug)]
pub(crate) struct Audit {
    shared: Arc<Shared>,
    _writer: Owned<()>,
}

/// Who keeps the record, as every line of it tells.
#[derive(Debug)]
pub(crate) struct Keeper {
    /// The host's session, as its hooks are told.
    pub(crate) session: String,
    /// The program or door the calls come through.
    pub(crate) door: String,
}

#[derive(Debug)]
struct Shared {
    keeper: Keeper,
    journal: Journal,
    queue: Mutex<Queue>,
    news: Notify,
    /// Held while lines are written: they keep their order, and who waits for it knows that they are written.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Queue {
    records: VecDeque<Record>,
    /// The number of the last record.
    number: u64,
    /// How many are lost that no record has told of.
    lost: u64,
}

impl Audit {
    /// Begins to keep the record in this file.
    pub(crate) fn start(path: PathBuf, keeper: Keeper) -> Self {
        let shared = Arc::new(Shared {
            keeper,
            journal: Journal::new(path, AUDIT_FILE_BYTES, AUDIT_FILES),
            queue: Mutex::default(),
            news: Notify::new(),
            turn: tokio::sync::Mutex::default(),
        });
        let writer = Owned::start(write(Arc::clone(&shared)));
        Self { shared, _writer: writer }
    }

    /// Waits until everything is written that was recorded before.
    pub(crate) async fn settle(&self) {
        self.shared.write_down().await;
    }

    fn put(&self, record: Record) {
        self.shared.queue().put(record);
        self.shared.news.notify_one();
    }
}

impl Drop for Audit {
    fn drop(&mut self) {
        let waiting = self.shared.queue().take();
        self.shared.write(&waiting);
    }
}

async fn write(shared: Arc<Shared>) {
    loop {
        shared.news.notified().await;
        shared.write_down().await;
    }
}

impl Shared {
    async fn write_down(self: &Arc<Self>) {
        let _turn = self.turn.lock().await;
        let waiting = self.queue().take();
        if !waiting.is_empty() {
            let this = Arc::clone(self);
            // Files are slow at times. Begun, it is finished, whoever has stopped to wait for it.
            let _broken = task::aside(move || this.write(&waiting)).await;
        }
    }

    /// Writes lines; those that cannot be written are lost, and counted.
    fn write(&self, records: &[Record]) {
        let lines: String = records.iter().map(|record| record.line(&self.keeper)).collect();
        if !lines.is_empty() && self.journal.append(&lines).is_err() {
            let told: u64 = records.iter().map(Record::lost).sum();
            self.queue().lost += told + u64::try_from(records.len()).unwrap_or(u64::MAX);
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn put(&mut self, record: Record) {
        self.number += 1;
        if self.records.len() >= AUDIT_QUEUE {
            self.lost += 1;
            return;
        }
        let lost = std::mem::take(&mut self.lost);
        self.records.push_back(record.numbered(self.number, lost));
    }

    fn take(&mut self) -> Vec<Record> {
        std::mem::take(&mut self.records).into()
    }
}

#[cfg(test)]
mod tests;
