//! The mailbox of one gateway, and the news for all: one reader for both, which outlives reconnects.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::instance_id::InstanceId;
use crate::key_names::KeyNames;
use crate::store::{LogEntry, LogPosition, SharedStore, SharedStoreError, StoreChange};

/// The time for which one read waits for messages.
const READ_WAIT: Duration = Duration::from_secs(2);
/// The pause after a failed read.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// A message as it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MailboxMessage {
    /// A message to this gateway.
    Direct(Vec<u8>),
    /// A message to all gateways, this one included.
    News(Vec<u8>),
}

/// The reader of the messages to one gateway.
#[derive(Debug)]
pub struct Mailbox {
    store: Arc<dyn SharedStore>,
    keys: KeyNames,
    /// The number of the gateway, which may get another one.
    instance: Arc<AtomicU32>,
    direct: (String, LogPosition),
    news: (String, LogPosition),
}

impl Mailbox {
    pub(crate) fn new(
        store: Arc<dyn SharedStore>,
        keys: KeyNames,
        instance: Arc<AtomicU32>,
        end_of_news: LogPosition,
    ) -> Self {
        let direct = keys.mailbox_log(InstanceId(instance.load(Ordering::Acquire)));
        let news = (keys.news_log(), end_of_news);
        Self { store, keys, instance, direct: (direct, LogPosition::start()), news }
    }

    /// Waits for messages. While the store is away, it waits for the store.
    pub async fn receive_messages(&mut self) -> Vec<MailboxMessage> {
        loop {
            let direct = self.keys.mailbox_log(InstanceId(self.instance.load(Ordering::Acquire)));
            if direct != self.direct.0 {
                self.direct = (direct, LogPosition::start());
            }
            let logs = vec![self.direct.clone(), self.news.clone()];
            match self.store.read_logs(logs, Some(READ_WAIT)).await {
                Ok(entries) if entries.is_empty() => {}
                Ok(entries) => return self.accept_entries(entries).await,
                Err(error) => {
                    if let SharedStoreError::Refused { reason, .. } = error {
                        tracing::warn!(reason, "the mailbox cannot be read");
                    }
                    tokio::time::sleep(RETRY_PAUSE).await;
                }
            }
        }
    }

    async fn accept_entries(&mut self, entries: Vec<LogEntry>) -> Vec<MailboxMessage> {
        let (mut messages, mut read) = (Vec::with_capacity(entries.len()), Vec::new());
        for entry in entries {
            if entry.log == self.news.0 {
                self.news.1 = entry.position;
                messages.push(MailboxMessage::News(entry.content));
            } else {
                self.direct.1 = entry.position.clone();
                read.push(entry.position);
                messages.push(MailboxMessage::Direct(entry.content));
            }
        }
        if !read.is_empty() {
            // Large results must not stay in the store; a failure costs only memory there, for a minute.
            let forget = StoreChange::Forget { log: self.direct.0.clone(), entries: read };
            let _removed = self.store.apply_changes(vec![forget]).await.is_ok();
        }
        messages
    }
}
