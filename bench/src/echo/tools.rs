//! The tools of the server, the same over every transport.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

const NEW: &str = "2026-07-28";
const OLD: &str = "2025-11-25";
/// The time that the server waits for the answer to its question.
const PATIENCE: Duration = Duration::from_secs(120);

/// The protocol era of the server; it supports no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EchoEra {
    Old,
    New,
}

/// A server whose every message carries the nonce of its call.
#[derive(Debug)]
pub(crate) struct EchoServer {
    name: String,
    pub(crate) era: EchoEra,
    /// The number of the next question.
    next: AtomicU64,
    /// The questions that wait for an answer, by their numbers.
    waiting: Mutex<HashMap<u64, oneshot::Sender<Value>>>,
}

/// The output for the messages of one request.
#[derive(Clone, Debug)]
pub(crate) struct MessageOutput(mpsc::UnboundedSender<Value>);

impl MessageOutput {
    pub(crate) fn new(sender: mpsc::UnboundedSender<Value>) -> Self {
        Self(sender)
    }

    /// Sends a message; one for a client that is gone is dropped.
    pub(crate) fn send_message(&self, message: Value) {
        let _gone = self.0.send(message);
    }
}

impl EchoServer {
    pub(crate) fn new(name: String, era: EchoEra) -> Self {
        Self { name, era, next: AtomicU64::new(0), waiting: Mutex::default() }
    }

    /// Answers a message: the response to a request, or nothing.
    pub(crate) async fn answer_message(&self, message: &Value, output: &MessageOutput) -> Option<Value> {
        let id = message.get("id")?;
        let Some(method) = message.get("method").and_then(Value::as_str) else {
            let waiting = id.as_u64().and_then(|id| self.lock_waiting().remove(&id));
            if let Some(waiting) = waiting {
                let _gone = waiting.send(message.clone());
            }
            return None;
        };
        let result = match (self.era, method) {
            (EchoEra::New, "server/discover") => Some(self.discover_result()),
            (EchoEra::Old, "initialize") => Some(self.initialize_result()),
            (_, "ping" | "logging/setLevel") => Some(json!({})),
            (_, "tools/list") => {
                Some(json!({ "tools": tool_definitions(), "ttlMs": 0, "cacheScope": "private" }))
            }
            (_, "tools/call") => self.call_tool(message, output).await,
            _ => None,
        };
        Some(match result {
            Some(mut result) => {
                if self.era == EchoEra::New && result.get("resultType").is_none() {
                    result["resultType"] = json!("complete");
                }
                json!({ "jsonrpc": "2.0", "id": id, "result": result })
            }
            None => {
                let error = json!({ "code": -32601, "message": "method not found" });
                json!({ "jsonrpc": "2.0", "id": id, "error": error })
            }
        })
    }

    fn discover_result(&self) -> Value {
        json!({
            "supportedVersions": [NEW],
            "capabilities": { "tools": {}, "logging": {} },
            "_meta": { "io.modelcontextprotocol/serverInfo": { "name": self.name, "version": "1" } },
        })
    }

    fn initialize_result(&self) -> Value {
        json!({
            "protocolVersion": OLD,
            "capabilities": { "tools": {}, "logging": {} },
            "serverInfo": { "name": self.name, "version": "1" },
        })
    }

    async fn call_tool(&self, message: &Value, output: &MessageOutput) -> Option<Value> {
        let params = message.get("params")?;
        let tool = params.get("name")?.as_str()?;
        let nonce = params.pointer("/arguments/nonce")?.as_str()?;
        let meta = params.get("_meta");
        if let Some(token) = meta.and_then(|meta| meta.get("progressToken")) {
            let params = json!({ "progressToken": token, "progress": 1, "total": 2, "message": nonce });
            output.send_message(notification("notifications/progress", &params));
        }
        let wants_logs = self.era == EchoEra::Old
            || meta.is_some_and(|meta| meta.get("io.modelcontextprotocol/logLevel").is_some());
        if wants_logs {
            let params = json!({ "level": "info", "logger": "echo", "data": nonce });
            output.send_message(notification("notifications/message", &params));
        }
        let mut text = format!("{} {tool} {nonce}", self.name);
        match tool {
            "echo" => {}
            "work" => {
                let time = params.pointer("/arguments/ms")?.as_u64()?;
                tokio::time::sleep(Duration::from_millis(time)).await;
            }
            "ask" => {
                let answer = match self.era {
                    EchoEra::Old => self.ask_client(nonce, output).await,
                    EchoEra::New => match params.get("inputResponses") {
                        Some(responses) => responses.pointer("/it").cloned(),
                        None => return Some(input_required(nonce)),
                    },
                };
                let is_own = self.era == EchoEra::Old || params.get("requestState")?.as_str() == Some(nonce);
                let answer = answer.filter(|_| is_own).unwrap_or_default();
                text.push(' ');
                text.push_str(
                    answer.pointer("/content/nonce").and_then(Value::as_str).unwrap_or("unanswered"),
                );
            }
            _ => return None,
        }
        Some(json!({ "content": [{ "type": "text", "text": text }] }))
    }

    /// Sends an elicitation and waits for the client's result.
    async fn ask_client(&self, nonce: &str, output: &MessageOutput) -> Option<Value> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        self.lock_waiting().insert(number, sender);
        output.send_message(json!({
            "jsonrpc": "2.0", "id": number, "method": "elicitation/create", "params": form_params(nonce),
        }));
        let answer = tokio::time::timeout(PATIENCE, answer).await.ok()?.ok()?;
        answer.get("result").cloned()
    }

    fn lock_waiting(&self) -> MutexGuard<'_, HashMap<u64, oneshot::Sender<Value>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The id of the request that a message cancels.
pub(crate) fn canceled_id(message: &Value) -> Option<String> {
    let is_cancellation = message.get("method").and_then(Value::as_str) == Some("notifications/cancelled");
    message.pointer("/params/requestId").filter(|_| is_cancellation).map(Value::to_string)
}

fn form_params(nonce: &str) -> Value {
    let schema =
        json!({ "type": "object", "properties": { "nonce": { "type": "string" } }, "required": ["nonce"] });
    json!({ "mode": "form", "message": nonce, "requestedSchema": schema })
}

fn input_required(nonce: &str) -> Value {
    json!({
        "resultType": "input_required",
        "inputRequests": { "it": { "method": "elicitation/create", "params": form_params(nonce) } },
        "requestState": nonce,
    })
}

fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

fn tool_definitions() -> Value {
    let tool = |name: &str, description: &str| {
        let properties = json!({ "nonce": { "type": "string" }, "ms": { "type": "integer" } });
        json!({
            "name": name,
            "description": description,
            "inputSchema": { "type": "object", "properties": properties, "required": ["nonce"] },
        })
    };
    json!([
        tool("echo", "Repeats the nonce"),
        tool("ask", "Asks for the nonce and repeats it"),
        tool("work", "Repeats the nonce after some milliseconds"),
    ])
}
