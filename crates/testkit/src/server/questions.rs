//! Requests from the server to its client, and their replies.

use super::Request;
use crate::lock::lock;
use crate::message::ClientMessage;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

/// The timeout for a reply of the client.
const PATIENCE: Duration = Duration::from_secs(60);

/// The pending server requests.
#[derive(Debug, Default)]
pub(crate) struct PendingQuestions {
    open: Mutex<HashMap<String, Sender<Value>>>,
    asked: AtomicU64,
}

impl PendingQuestions {
    /// Sends a request on the stream of `request` and waits for the reply.
    pub(crate) fn ask_client(&self, request: &Request<'_>, method: &str) -> io::Result<Value> {
        self.send_question(request, method, &request_params(method))
    }

    /// Asks for one kind of input, as the script `asks` names it, and waits for the reply.
    pub(crate) fn ask_for_input(&self, request: &Request<'_>, kind: &str) -> io::Result<Value> {
        let wanted = input_request(kind);
        let (method, params) = (wanted["method"].as_str().unwrap_or_default(), &wanted["params"]);
        let answer = self.send_question(request, method, params)?;
        if let Some(id) = params.get("elicitationId") {
            let params = json!({ "elicitationId": id });
            let done =
                json!({ "jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": params });
            request.out.send_lines(format!("{done}\n").as_bytes())?;
        }
        Ok(answer)
    }

    /// Asks for a form on behalf of a task, and waits for the reply.
    pub(crate) fn ask_for_task(&self, request: &Request<'_>, task: &str) -> io::Result<Value> {
        let mut params = form_params();
        if let Some(params) = params.as_object_mut() {
            let related = json!({ "io.modelcontextprotocol/related-task": { "taskId": task } });
            params.insert("_meta".to_owned(), related);
        }
        self.send_question(request, "elicitation/create", &params)
    }

    fn send_question(&self, request: &Request<'_>, method: &str, params: &Value) -> io::Result<Value> {
        let id = format!("ask-{}", self.asked.fetch_add(1, Ordering::Relaxed) + 1);
        let (sender, answers) = channel();
        lock(&self.open).insert(json!(id).to_string(), sender);
        let question = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        request.out.send_lines(format!("{question}\n").as_bytes())?;
        let answer = answers.recv_timeout(PATIENCE);
        Ok(answer.unwrap_or_else(|_| json!("no answer")))
    }

    /// Delivers a reply to the waiting request.
    pub(crate) fn deliver_reply(&self, message: &ClientMessage) {
        let id = message.id().unwrap_or(&Value::Null).to_string();
        if let Some(sender) = lock(&self.open).remove(&id) {
            // A closed channel means that the reply is too late.
            sender.send(message.to_value()).unwrap_or_default();
        }
    }
}

/// An elicitation form; every field has a default, with each field type of the protocol.
fn form_params() -> Value {
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

fn url_params(url: &str) -> Value {
    json!({ "mode": "url", "message": "Please visit this page.", "url": url, "elicitationId": "visit-1" })
}

/// A form elicitation in the new era's format.
pub(crate) fn form_request() -> Value {
    json!({ "it": { "method": "elicitation/create", "params": form_params() } })
}

/// A result that requires input before the call is answered.
pub(crate) fn input_required_result(kind: &str, id: &Value) -> Value {
    let wanted = if kind == "state" { json!({}) } else { json!({ "it": input_request(kind) }) };
    json!({ "resultType": "input_required", "inputRequests": wanted, "requestState": format!("after {id}") })
}

/// The request for one kind of input.
fn input_request(kind: &str) -> Value {
    let (method, params) = match kind {
        "form" => ("elicitation/create", form_params()),
        "url" => ("elicitation/create", url_params("https://example.com/visit")),
        "roots" => ("roots/list", json!({})),
        "sampling" => ("sampling/createMessage", request_params("sampling/createMessage")),
        _ => ("bogus/method", json!({})),
    };
    json!({ "method": method, "params": params })
}

/// The error data of a required URL elicitation.
pub(crate) fn url_required_data(url: &str) -> Value {
    json!({ "elicitations": [url_params(url)] })
}

fn request_params(method: &str) -> Value {
    match method {
        "sampling/createMessage" => {
            let content = json!({ "type": "text", "text": "Say hello." });
            json!({ "messages": [{ "role": "user", "content": content }], "maxTokens": 10 })
        }
        "elicitation/create" => form_params(),
        _ => json!({}),
    }
}
