//! The sessions of the old era, with the messages queued for their GET streams.

use crate::lock::lock;
use crate::server::MessageSink;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

/// All live sessions.
#[derive(Debug, Default)]
pub(crate) struct LiveSessions {
    live: Mutex<HashMap<String, LiveSession>>,
    issued: Mutex<u64>,
}

#[derive(Debug)]
struct LiveSession {
    version: String,
    queue: Arc<StreamQueue>,
    /// The receiver; taken while a stream is open.
    waiting: Option<Receiver<Vec<u8>>>,
}

/// The queue of messages for a session's GET stream.
#[derive(Debug)]
pub(crate) struct StreamQueue(Mutex<Sender<Vec<u8>>>);

impl LiveSessions {
    /// Opens a session; its id contains the process id, so that no session survives a restart.
    pub(crate) fn open_session(&self, version: &str) -> String {
        let mut issued = lock(&self.issued);
        *issued += 1;
        let id = format!("session-{}-{issued}", std::process::id());
        let (sender, receiver) = channel();
        let queue = Arc::new(StreamQueue(Mutex::new(sender)));
        let session = LiveSession { version: version.to_owned(), queue, waiting: Some(receiver) };
        lock(&self.live).insert(id.clone(), session);
        id
    }

    /// Ends a session and its stream; returns whether it existed.
    pub(crate) fn end_session(&self, id: &str) -> bool {
        lock(&self.live).remove(id).is_some()
    }

    /// The protocol revision of a live session.
    pub(crate) fn version(&self, id: &str) -> Option<String> {
        lock(&self.live).get(id).map(|session| session.version.clone())
    }

    /// The queue of a session, whether its stream is open or not.
    pub(crate) fn queue(&self, id: &str) -> Option<Arc<StreamQueue>> {
        lock(&self.live).get(id).map(|session| Arc::clone(&session.queue))
    }

    /// The queue of a session whose stream is open.
    pub(crate) fn open_queue(&self, id: &str) -> Option<Arc<StreamQueue>> {
        let live = lock(&self.live);
        let session = live.get(id).filter(|session| session.waiting.is_none())?;
        Some(Arc::clone(&session.queue))
    }

    /// Takes the queued messages for a new stream; none if the session already has one.
    pub(crate) fn take_waiting(&self, id: &str) -> Option<Receiver<Vec<u8>>> {
        lock(&self.live).get_mut(id)?.waiting.take()
    }

    /// Puts the queue back for the next stream of a session.
    pub(crate) fn return_waiting(&self, id: &str, waiting: Receiver<Vec<u8>>) {
        if let Some(session) = lock(&self.live).get_mut(id) {
            session.waiting = Some(waiting);
        }
    }

    pub(crate) fn count(&self) -> Value {
        json!(lock(&self.live).len())
    }
}

impl MessageSink for StreamQueue {
    fn send_lines(&self, lines: &[u8]) -> io::Result<()> {
        lock(&self.0).send(lines.to_vec()).map_err(|_| io::Error::other("the session has ended"))
    }

    /// Never closed: a stream may be reopened, and requests outlive it.
    fn is_closed(&self) -> bool {
        false
    }
}
