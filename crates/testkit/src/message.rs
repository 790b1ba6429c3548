//! What the servers read in a message they received.

use serde_json::{Map, Value};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// One JSON-RPC message of a client.
#[derive(Clone, Debug)]
pub(crate) struct Message(Map<String, Value>);

impl Message {
    /// Reads one message; batches and everything else that is no object are none.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(object)) => Some(Self(object)),
            Ok(_) | Err(_) => None,
        }
    }

    /// The method; a message without one is the answer to a question of ours.
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

    /// The revision a stateless request is made in.
    pub(crate) fn version(&self) -> Option<&str> {
        self.param("_meta")?.get(VERSION)?.as_str()
    }

    /// Whether a stateless request says what its client can do.
    pub(crate) fn has_capabilities(&self) -> bool {
        self.param("_meta").and_then(|meta| meta.get(CAPABILITIES)).is_some_and(Value::is_object)
    }

    /// Whether its client can do this, by a pointer into the capabilities of a stateless request.
    pub(crate) fn can(&self, pointer: &str) -> bool {
        self.meta(CAPABILITIES).and_then(|capabilities| capabilities.pointer(pointer)).is_some()
    }

    /// A value of `_meta`.
    pub(crate) fn meta(&self, key: &str) -> Option<&Value> {
        self.param("_meta")?.get(key)
    }

    /// The token that progress is told with.
    pub(crate) fn progress_token(&self) -> Option<&Value> {
        self.param("_meta")?.get("progressToken")
    }

    /// What `Mcp-Name` has to say, for the methods that have it.
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
