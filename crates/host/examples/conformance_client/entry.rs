//! From what the suite says about itself to the entry of a server.

use serde_json::{Map, Value, json};

/// The name the server goes by.
pub(crate) const SERVER: &str = "suite";

/// What the suite tells in `MCP_CONFORMANCE_CONTEXT`.
#[derive(Debug, Default)]
pub(crate) struct Context(Map<String, Value>);

impl Context {
    /// Reads it; absent is empty.
    pub(crate) fn read(text: Option<&str>) -> Result<Self, serde_json::Error> {
        text.map_or(Ok(Self::default()), |text| serde_json::from_str(text).map(Self))
    }

    /// The entry of the server at `url`, as a configuration file would have it.
    pub(crate) fn server_entry(&self, url: &str) -> Value {
        json!({ "type": "http", "url": url, "required": true })
    }

    /// The calls to make, if it names any.
    pub(crate) fn calls(&self) -> Option<Vec<(String, Value)>> {
        let calls = self.0.get("toolCalls")?.as_array()?;
        let call = |call: &Value| {
            let arguments = call.get("arguments").cloned().unwrap_or_else(|| json!({}));
            Some((call.get("name")?.as_str()?.to_owned(), without_nulls(arguments)))
        };
        Some(calls.iter().filter_map(call).collect())
    }
}

/// An argument that is null is one that is not given.
fn without_nulls(mut arguments: Value) -> Value {
    if let Some(members) = arguments.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    arguments
}
