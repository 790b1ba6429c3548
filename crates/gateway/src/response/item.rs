//! One item of a client's tool list.

use std::sync::Arc;

use mcparley::catalog::CatalogEntry;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use crate::response::tool;

/// The name of the tool that calls unlisted tools.
pub(crate) const CALL_TOOL: &str = "CallTool";

/// One item of a client's tool list.
#[derive(Clone, Debug)]
pub(crate) enum ToolListItem {
    /// A tool of the host.
    Tool(Arc<CatalogEntry>),
    /// The tool that calls unlisted tools, for clients that never refresh their list.
    CallTool,
}

impl ToolListItem {
    /// The name that a model calls it by.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Tool(entry) => entry.name.as_str(),
            Self::CallTool => CALL_TOOL,
        }
    }

    /// Whether a client sees no difference. Most entries are identical pointers.
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

    /// The tool as protocol JSON; `None` if it cannot be serialized.
    pub(crate) fn to_json(&self) -> Option<Box<RawValue>> {
        match self {
            Self::Tool(entry) => tool::to_json(entry),
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
