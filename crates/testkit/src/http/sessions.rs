//! The sessions of the old era, and the messages that wait for their GET streams.

use crate::lock::lock;
use crate::server::Out;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

/// Every session that is alive.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    live: Mutex<HashMap<String, Session>>,
    issued: Mutex<u64>,
}

#[derive(Debug)]
struct Session {
    version: String,
    queue: Arc<Queue>,
    /// Here unless a stream is open.
    waiting: Option<Receiver<Vec<u8>>>,
}

/// The way to a session's GET stream.
#[derive(Debug)]
pub(crate) struct Queue(Mutex<Sender<Vec<u8>>>);

impl Sessions {
    /// Opens a session; the process is part of its name, so that none outlives a restart.
    pub(crate) fn open(&self, version: &str) -> String {
        let mut issued = lock(&self.issued);
        *issued += 1;
        let id = format!("session-{}-{issued}", std::process::id());
        let (sender, receiver) = channel();
        let queue = Arc::new(Queue(Mutex::new(sender)));
        let session = Session { version: version.to_owned(), queue, waiting: Some(receiver) };
        lock(&self.live).insert(id.clone(), session);
        id
    }

    /// Ends a session and its stream; says whether there was one.
    pub(crate) fn end(&self, id: &str) -> bool {
        lock(&self.live).remove(id).is_some()
    }

    /// The revision of a session that is alive.
    pub(crate) fn version(&self, id: &str) -> Option<String> {
        lock(&self.live).get(id).map(|session| session.version.clone())
    }

    /// The way to a session's stream, open or not.
    pub(crate) fn queue(&self, id: &str) -> Option<Arc<Queue>> {
        lock(&self.live).get(id).map(|session| Arc::clone(&session.queue))
    }

    /// The way to a session's stream, if it is open.
    pub(crate) fn open_queue(&self, id: &str) -> Option<Arc<Queue>> {
        let live = lock(&self.live);
        let session = live.get(id).filter(|session| session.waiting.is_none())?;
        Some(Arc::clone(&session.queue))
    }

    /// What a stream has to send; none if the session has one already.
    pub(crate) fn take_waiting(&self, id: &str) -> Option<Receiver<Vec<u8>>> {
        lock(&self.live).get_mut(id)?.waiting.take()
    }

    /// Keeps messages for the next stream of a session.
    pub(crate) fn return_waiting(&self, id: &str, waiting: Receiver<Vec<u8>>) {
        if let Some(session) = lock(&self.live).get_mut(id) {
            session.waiting = Some(waiting);
        }
    }

    pub(crate) fn count(&self) -> Value {
        json!(lock(&self.live).len())
    }
}

impl Out for Queue {
    fn send(&self, lines: &[u8]) -> io::Result<()> {
        lock(&self.0).send(lines.to_vec()).map_err(|_| io::Error::other("the session has ended"))
    }

    /// A stream may come back; requests outlive it.
    fn gone(&self) -> bool {
        false
    }
}
