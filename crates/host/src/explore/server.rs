//! A server inside the program that does as it is told, and knows which of its connections are open.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use mcparley_wire::peer::{Boxed, Handler, Peer};
use mcparley_wire::{Failure, METHOD_NOT_FOUND, RawJson, RpcError};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::executor;
use crate::connection::State;

/// Ends the connection it comes on.
pub(super) const DIE: &str = "test/die";

/// How the server takes being connected to.
#[derive(Clone, Copy)]
pub(super) enum Manner {
    /// It always answers.
    Steady,
    /// Of four times it refuses once and ends once before it has told what it offers.
    Moody,
}

pub(super) struct Server {
    manner: Manner,
    /// Its ends of all conversations there ever were.
    ends: Mutex<Vec<Peer>>,
    /// How often its tools have changed.
    changes: AtomicUsize,
    /// What is published of it.
    published: OnceLock<watch::Receiver<State>>,
}

impl Server {
    pub(super) fn new(manner: Manner) -> Self {
        let (ends, changes, published) = (Mutex::default(), AtomicUsize::new(0), OnceLock::new());
        Self { manner, ends, changes, published }
    }

    /// Shows it what the host publishes of it.
    pub(super) fn seen_through(&self, published: watch::Receiver<State>) {
        self.published.set(published).expect("it is shown once");
    }

    /// How often it was connected to.
    pub(super) fn openings(&self) -> usize {
        self.ends.lock().unwrap().len()
    }

    /// How many of its connections are open.
    pub(super) fn open(&self) -> usize {
        self.ends.lock().unwrap().iter().filter(|end| !end.is_over()).count()
    }

    /// Changes its tools and says so on all its connections.
    pub(super) async fn change(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
        let ends = self.ends.lock().unwrap().clone();
        for end in ends {
            // A connection that is over tells nobody; the next one asks.
            let _over: Result<(), Failure> = end.notify("notifications/tools/list_changed", None).await;
        }
    }

    /// The name of its only tool.
    pub(super) fn tool(&self) -> String {
        format!("tool-{}", self.changes.load(Ordering::Relaxed))
    }

    fn greeting(&self) -> Result<Value, RpcError> {
        let refused = || RpcError::new(-32000, "not today");
        let greeting = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": { "listChanged": true } },
            "serverInfo": { "name": "scripted", "version": "1" },
        });
        if self.is_moody() { Err(refused()) } else { Ok(greeting) }
    }

    fn is_moody(&self) -> bool {
        match self.manner {
            Manner::Steady => false,
            Manner::Moody => executor::number().is_multiple_of(4),
        }
    }
}

impl Handler for Server {
    fn request(&self, method: &str, _params: Option<RawJson>) -> Boxed<'static, Result<RawJson, RpcError>> {
        let answer = match method {
            "initialize" => self.greeting(),
            "tools/list" => {
                Ok(json!({ "tools": [{ "name": self.tool(), "inputSchema": { "type": "object" } }] }))
            }
            _ => Err(RpcError::new(METHOD_NOT_FOUND, "method not found")),
        };
        Box::pin(std::future::ready(answer.map(|answer| RawJson::of(&answer).unwrap())))
    }

    fn notification(&self, method: &str, _params: Option<RawJson>) {
        if method == DIE || (method == "notifications/initialized" && self.is_moody()) {
            // A handler that panics ends its connection. This panic is no failure of the test, so it is not told.
            std::panic::resume_unwind(Box::new("told to die"));
        }
    }

    fn joined(&self, peer: &Peer) {
        let published = self.published.get().expect("it is shown what is published");
        assert!(published.borrow().live.is_none(), "opened beside a connection that is in use");
        self.ends.lock().unwrap().push(peer.clone());
    }
}
