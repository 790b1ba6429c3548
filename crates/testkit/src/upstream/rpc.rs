//! JSON-RPC messages and the errors of the upstream server.

use serde_json::{Value, json};

/// An error answer, with the HTTP status that carries it in the new era.
#[derive(Debug)]
pub(crate) struct RpcFailure {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
    pub(crate) status: u16,
}

pub(crate) type RpcOutcome = Result<Value, RpcFailure>;

impl RpcFailure {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        let status = match code {
            -32601 => 404,
            -32022..=-32020 => 400,
            _ => 200,
        };
        Self { code, message: message.into(), data: None, status }
    }

    pub(crate) fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    pub(crate) fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// The error that names a capability the client lacks.
    pub(crate) fn missing_capability(required: &Value) -> Self {
        Self::new(-32021, "a client capability is missing")
            .with_data(json!({ "requiredCapabilities": required }))
    }

    /// The answer to the request with that id.
    pub(crate) fn to_answer(&self, id: &Value) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        json!({ "jsonrpc": "2.0", "id": id, "error": error })
    }
}

/// The answer to a request: its result or its error.
pub(crate) fn answer_message(id: &Value, outcome: &RpcOutcome) -> Value {
    match outcome {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(failure) => failure.to_answer(id),
    }
}

pub(crate) fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

/// A key of `_meta` in the namespace of the protocol.
pub(crate) fn meta_key(word: &str) -> String {
    format!("io.modelcontextprotocol/{word}")
}

/// A tool result with one text.
pub(crate) fn text_result(text: impl Into<String>) -> Value {
    content_result(&[text_block(text)])
}

pub(crate) fn content_result(blocks: &[Value]) -> Value {
    json!({ "content": blocks })
}

pub(crate) fn text_block(text: impl Into<String>) -> Value {
    json!({ "type": "text", "text": text.into() })
}
