//! A scripted in-process server, which tracks its open connections.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use mcparley_wire::peer::{BoxedFuture, Handler, Peer};
use mcparley_wire::{Failure, Incoming, METHOD_NOT_FOUND, Notice, RawJson, RpcError};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::executor;
use crate::connection::State;

/// The method that closes its own connection.
pub(super) const DIE: &str = "test/die";

/// The behavior of the server when a client connects.
#[derive(Clone, Copy)]
pub(super) enum ServerBehavior {
    /// The server always answers.
    Steady,
    /// Out of four connections, the server refuses one and closes one before its lists are fetched.
    Moody,
}

pub(super) struct Server {
    behavior: ServerBehavior,
    /// The server's ends of all connections so far.
    ends: Mutex<Vec<Peer>>,
    /// The number of changes of its tools.
    changes: AtomicUsize,
    /// The published state of the server.
    published: OnceLock<watch::Receiver<State>>,
}

impl Server {
    pub(super) fn new(behavior: ServerBehavior) -> Self {
        let (ends, changes, published) = (Mutex::default(), AtomicUsize::new(0), OnceLock::new());
        Self { behavior, ends, changes, published }
    }

    /// Sets the published state of the server.
    pub(super) fn seen_through(&self, published: watch::Receiver<State>) {
        self.published.set(published).expect("it is shown once");
    }

    /// The number of connections so far.
    pub(super) fn openings(&self) -> usize {
        self.ends.lock().unwrap().len()
    }

    /// The number of open connections.
    pub(super) fn open(&self) -> usize {
        self.ends.lock().unwrap().iter().filter(|end| !end.is_ended()).count()
    }

    /// Changes the tools and notifies all connections.
    pub(super) async fn change(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
        let ends = self.ends.lock().unwrap().clone();
        for end in ends {
            // A closed connection gets no notification; the next one fetches the lists.
            let _over: Result<(), Failure> = end.notify("notifications/tools/list_changed", None).await;
        }
    }

    /// The name of the only tool.
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
        match self.behavior {
            ServerBehavior::Steady => false,
            ServerBehavior::Moody => executor::number().is_multiple_of(4),
        }
    }
}

impl Handler for Server {
    fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        let answer = match &*incoming.method {
            "initialize" => self.greeting(),
            "tools/list" => {
                Ok(json!({ "tools": [{ "name": self.tool(), "inputSchema": { "type": "object" } }] }))
            }
            _ => Err(RpcError::new(METHOD_NOT_FOUND, "method not found")),
        };
        Box::pin(std::future::ready(answer.map(|answer| RawJson::from_value(&answer).unwrap())))
    }

    fn handle_notice(&self, Notice { method, .. }: Notice) {
        if &*method == DIE || (&*method == "notifications/initialized" && self.is_moody()) {
            // A panicking handler closes its connection. This panic is not a test failure, so it is not
            // printed.
            std::panic::resume_unwind(Box::new("told to die"));
        }
    }

    fn on_connect(&self, peer: &Peer) {
        let published = self.published.get().expect("it is shown what is published");
        assert!(published.borrow().live.is_none(), "opened beside a connection that is in use");
        self.ends.lock().unwrap().push(peer.clone());
    }
}
