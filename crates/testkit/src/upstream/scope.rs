//! The scope of one request: its parameters, the client's capabilities, and the way back to the client.

use super::rpc::{RpcFailure, RpcOutcome, meta_key, notification};
use serde_json::{Value, json};

/// The protocol era of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// Revisions with a handshake, in which the server sends requests of its own.
    Old,
    /// The stateless revision, in which results ask for input.
    New,
}

/// The way back to the client of one request.
pub(crate) trait ClientChannel {
    /// Sends a notification on the stream of the request.
    fn notify(&self, message: &Value);

    /// Sends a request to the client and waits for its result; only the old era has it.
    fn ask(&self, request: &Value) -> RpcOutcome;

    /// Closes the stream of the request; the answer is left for a resumption.
    fn hang_up(&self);
}

/// One request while it is answered.
pub(crate) struct RequestScope<'a> {
    pub(crate) era: Era,
    pub(crate) params: &'a Value,
    pub(crate) capabilities: &'a Value,
    pub(crate) channel: &'a dyn ClientChannel,
}

impl RequestScope<'_> {
    pub(crate) fn arguments(&self) -> &Value {
        &self.params["arguments"]
    }

    /// An argument as text, empty if it is missing.
    pub(crate) fn argument(&self, name: &str) -> &str {
        self.arguments()[name].as_str().unwrap_or_default()
    }

    /// The client's answer to a question, if it is an object.
    pub(crate) fn input(&self, key: &str) -> Option<&Value> {
        Some(&self.params["inputResponses"][key]).filter(|value| value.is_object())
    }

    pub(crate) fn has_tasks(&self) -> bool {
        self.era == Era::New && self.capabilities["extensions"][meta_key("tasks")].is_object()
    }

    /// Sends a log message; the new era wants one only where the request names a level.
    pub(crate) fn log(&self, text: &str) {
        let is_wanted = self.era == Era::Old || self.params["_meta"][meta_key("logLevel")].is_string();
        if is_wanted {
            let params = json!({ "level": "info", "logger": "upstream", "data": text });
            self.channel.notify(&notification("notifications/message", &params));
        }
    }

    /// Reports progress, if the request has a token.
    pub(crate) fn report_progress(&self, progress: u32, total: u32) {
        let token = &self.params["_meta"]["progressToken"];
        if !token.is_null() {
            let params = json!({ "progressToken": token, "progress": progress, "total": total });
            self.channel.notify(&notification("notifications/progress", &params));
        }
    }

    /// Asks the client in the way of its era: by a request, or by a result that asks for input.
    pub(crate) fn ask(&self, request: &Value) -> Result<ClientInput, RpcFailure> {
        const KEY: &str = "answer";
        match (self.era, self.input(KEY)) {
            (Era::Old, _) => self.channel.ask(request).map(ClientInput::Given),
            (Era::New, Some(given)) => Ok(ClientInput::Given(given.clone())),
            (Era::New, None) => Ok(ClientInput::Wanted(input_required(&json!({ KEY: request }), None))),
        }
    }
}

/// The client's answer, or the result that asks for it.
#[derive(Debug)]
pub(crate) enum ClientInput {
    Given(Value),
    Wanted(Value),
}

/// A result that asks for input.
pub(crate) fn input_required(requests: &Value, state: Option<String>) -> Value {
    let mut result = json!({ "resultType": "input_required", "inputRequests": requests });
    if let Some(state) = state {
        result["requestState"] = json!(state);
    }
    result
}

/// An elicitation with a form; `required` lists the fields that must be filled in.
pub(crate) fn form(message: &str, properties: &Value, required: &[&str]) -> Value {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    json!({
        "method": "elicitation/create",
        "params": { "mode": "form", "message": message, "requestedSchema": schema },
    })
}

/// A sampling request with one message.
pub(crate) fn sampling(prompt: &str) -> Value {
    json!({
        "method": "sampling/createMessage",
        "params": {
            "messages": [{ "role": "user", "content": { "type": "text", "text": prompt } }],
            "maxTokens": 100,
        },
    })
}

pub(crate) fn roots() -> Value {
    json!({ "method": "roots/list", "params": {} })
}
