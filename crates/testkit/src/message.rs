//! The fields of a received JSON-RPC message that the servers use.

use serde_json::{Map, Value};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// One JSON-RPC message of a client.
#[derive(Clone, Debug)]
pub(crate) struct ClientMessage(Map<String, Value>);

impl ClientMessage {
    /// Parses one message; none for batches and other JSON that is not an object.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(object)) => Some(Self(object)),
            Ok(_) | Err(_) => None,
        }
    }

    /// The method; a message without one is the reply to a server request.
    pub(crate) fn method(&self) -> Option<&str> {
        self.0.get("method")?.as_str()
    }

    /// The id; a message without one is a notification.
    pub(crate) fn id(&self) -> Option<&Value> {
        self.0.get("id")
    }

    /// A value of the parameters.
    pub(crate) fn param(&self, key: &str) -> Option<&Value> {
        self.0.get("params")?.get(key)
    }

    /// A text of the parameters.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.param(key)?.as_str()
    }

    /// The protocol revision of a stateless request.
    pub(crate) fn version(&self) -> Option<&str> {
        self.param("_meta")?.get(VERSION)?.as_str()
    }

    /// Whether a stateless request states the capabilities of its client.
    pub(crate) fn has_capabilities(&self) -> bool {
        self.param("_meta").and_then(|meta| meta.get(CAPABILITIES)).is_some_and(Value::is_object)
    }

    /// Whether the client has the capability at this JSON pointer of a stateless request.
    pub(crate) fn has_capability(&self, pointer: &str) -> bool {
        self.meta(CAPABILITIES).and_then(|capabilities| capabilities.pointer(pointer)).is_some()
    }

    /// A value of `_meta`.
    pub(crate) fn meta(&self, key: &str) -> Option<&Value> {
        self.param("_meta")?.get(key)
    }

    /// The progress token.
    pub(crate) fn progress_token(&self) -> Option<&Value> {
        self.param("_meta")?.get("progressToken")
    }

    /// The value that `Mcp-Name` must have, for the methods that need it.
    pub(crate) fn target(&self) -> Option<&str> {
        match self.method()? {
            "tools/call" | "prompts/get" => self.text("name"),
            "resources/read" => self.text("uri"),
            "tasks/get" | "tasks/update" | "tasks/cancel" => self.text("taskId"),
            _ => None,
        }
    }

    pub(crate) fn to_value(&self) -> Value {
        Value::Object(self.0.clone())
    }
}
