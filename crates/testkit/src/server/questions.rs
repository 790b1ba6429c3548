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

/// What the form asks for; every field has a default, in each form the protocol has.
fn form() -> Value {
    let fields = json!({
        "name": { "type": "string", "title": "Name", "default": "Ada" },
        "age": { "type": "integer", "minimum": 0, "default": 36 },
        "score": { "type": "number", "default": 0.5 },
        "sure": { "type": "boolean", "default": true },
        "colour": { "type": "string", "enum": ["red", "green"], "default": "green" },
    });
    let schema = json!({ "type": "object", "properties": fields, "required": ["name"] });
    json!({ "mode": "form", "message": "Who are you?", "requestedSchema": schema })
}

fn page(url: &str) -> Value {
    json!({ "mode": "url", "message": "Please visit this page.", "url": url, "elicitationId": "visit-1" })
}

/// A form that is wanted, as the new era asks for it.
pub(crate) fn form_request() -> Value {
    json!({ "it": { "method": "elicitation/create", "params": form() } })
}

/// The result that wants something before the call is answered.
pub(crate) fn wanted(kind: &str, id: &Value) -> Value {
    let request = |method: &str, params: Value| json!({ "it": { "method": method, "params": params } });
    let wanted = match kind {
        "form" => request("elicitation/create", form()),
        "url" => request("elicitation/create", page("https://example.com/visit")),
        "roots" => request("roots/list", json!({})),
        "sampling" => request("sampling/createMessage", params("sampling/createMessage")),
        "bogus" => request("bogus/method", json!({})),
        _ => json!({}),
    };
    json!({ "resultType": "input_required", "inputRequests": wanted, "requestState": format!("after {id}") })
}

/// What goes with the error that a page has to be visited.
pub(crate) fn pages(url: &str) -> Value {
    json!({ "elicitations": [page(url)] })
}

fn params(method: &str) -> Value {
    match method {
        "sampling/createMessage" => {
            let content = json!({ "type": "text", "text": "Say hello." });
            json!({ "messages": [{ "role": "user", "content": content }], "maxTokens": 10 })
        }
        "elicitation/create" => form(),
        _ => json!({}),
    }
}
