//! One line of a client's list of tools.

use std::sync::Arc;

use mcparley::Entry;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use crate::tool;

/// The name of the tool that calls others.
pub(crate) const CALL_TOOL: &str = "CallTool";

/// One line of a client's list of tools.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    /// A tool of the host.
    Tool(Arc<Entry>),
    /// The one that calls tools which are not listed, for clients that never look at their list again.
    CallTool,
}

impl Item {
    /// The name a model knows it by.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Tool(entry) => entry.name.as_str(),
            Self::CallTool => CALL_TOOL,
        }
    }

    /// Whether a client could see no difference. Most entries are the very same ones.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Tool(one), Self::Tool(other)) => {
                Arc::ptr_eq(one, other)
                    || (one.name == other.name && one.tool.digest() == other.tool.digest())
            }
            (Self::CallTool, Self::CallTool) => true,
            (Self::Tool(_), Self::CallTool) | (Self::CallTool, Self::Tool(_)) => false,
        }
    }

    /// As it stands in the list; nothing if it cannot be written.
    pub(crate) fn written(&self) -> Option<Box<RawValue>> {
        match self {
            Self::Tool(entry) => tool::written(entry),
            Self::CallTool => to_raw_value(&json!({
                "name": CALL_TOOL,
                "title": "Call a tool",
                "description": "Calls a tool that is not in your list, by the name that `ToolSearch` gave. What that tool \
                    may do is decided as if it were called itself.",
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "name": { "type": "string", "description": "The tool, as `ToolSearch` names it" },
                        "arguments": { "type": "object", "description": "Its arguments, as its schema has them" },
                    },
                    "required": ["name"],
                    "additionalProperties": false,
                },
                "annotations": { "readOnlyHint": false, "destructiveHint": true },
            }))
            .ok(),
        }
    }
}
