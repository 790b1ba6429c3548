//! Requests that the server sends to its client, and their answers.

use super::Request;
use crate::lock::lock;
use crate::message::Message;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

/// How long the server waits for its client.
const PATIENCE: Duration = Duration::from_secs(60);

/// What has been asked and not been answered.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    open: Mutex<HashMap<String, Sender<Value>>>,
    asked: AtomicU64,
}

impl Questions {
    /// Sends a request on the stream of `request` and waits for the answer.
    pub(crate) fn ask(&self, request: &Request<'_>, method: &str) -> io::Result<Value> {
        let id = format!("ask-{}", self.asked.fetch_add(1, Ordering::Relaxed) + 1);
        let (sender, answers) = channel();
        lock(&self.open).insert(json!(id).to_string(), sender);
        let question = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params(method) });
        request.out.send(format!("{question}\n").as_bytes())?;
        let answer = answers.recv_timeout(PATIENCE);
        Ok(answer.unwrap_or_else(|_| json!("no answer")))
    }

    /// Hands an answer to whoever waits for it.
    pub(crate) fn deliver(&self, message: &Message) {
        let id = message.id().unwrap_or(&Value::Null).to_string();
        if let Some(sender) = lock(&self.open).remove(&id) {
            // Nobody waits any more: the answer came too late.
            sender.send(message.to_value()).unwrap_or_default();
        }
    }
}

fn params(method: &str) -> Value {
    match method {
        "sampling/createMessage" => {
            let content = json!({ "type": "text", "text": "Say hello." });
            json!({ "messages": [{ "role": "user", "content": content }], "maxTokens": 10 })
        }
        _ => json!({}),
    }
}
