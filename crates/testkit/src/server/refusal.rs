//! The JSON-RPC errors of a correct server.

use super::ServerReply;
use serde_json::{Value, json};

/// A JSON-RPC error.
#[derive(Clone, Debug)]
pub(crate) struct RpcRefusal {
    code: i64,
    message: String,
    data: Option<Value>,
}

impl RpcRefusal {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(crate) fn invalid_request(message: &str) -> Self {
        Self::new(-32600, format!("Invalid request: {message}"))
    }

    pub(crate) fn unknown_method(method: &str) -> Self {
        Self::new(-32601, format!("Method not found: {method}"))
    }

    pub(crate) fn invalid_params(message: &str) -> Self {
        Self::new(-32602, format!("Invalid params: {message}"))
    }

    pub(crate) fn internal_error() -> Self {
        Self::new(-32603, "Internal error")
    }

    pub(crate) fn header_mismatch(message: &str) -> Self {
        Self::new(-32020, format!("Header mismatch: {message}"))
    }

    pub(crate) fn unsupported_version(requested: &str, supported: &[String]) -> Self {
        let data = json!({ "supported": supported, "requested": requested });
        Self { data: Some(data), ..Self::new(-32022, "Unsupported protocol version") }
    }

    pub(crate) fn url_required(data: Value) -> Self {
        Self { data: Some(data), ..Self::new(-32042, "A page has to be visited") }
    }

    /// The complete message; without an id where the request's could not be read.
    pub(crate) fn to_message(&self, id: Option<&Value>) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let (Some(data), Some(object)) = (&self.data, error.as_object_mut()) {
            object.insert("data".to_owned(), data.clone());
        }
        match id {
            Some(id) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
            None => json!({ "jsonrpc": "2.0", "error": error }),
        }
    }

    pub(crate) fn to_reply(&self, id: &Value) -> ServerReply {
        ServerReply::from_message(&self.to_message(Some(id)), Some(self.code))
    }
}
