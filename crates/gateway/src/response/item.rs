//! One item of a client's tool list.

use std::sync::{Arc, LazyLock};

use mcparley::catalog::CatalogEntry;
use serde_json::json;

use crate::view::View;
use crate::view::naming::CALL_TOOL;

/// One item of a client's tool list.
#[derive(Clone, Debug)]
pub(crate) enum ToolListItem {
    /// A tool of the host.
    Tool(Arc<CatalogEntry>),
    /// The tool that calls unlisted tools, for clients that never refresh their list.
    CallTool,
}

impl ToolListItem {
    /// The name in the catalog.
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
                    || (one.name == other.name && definition_text(one) == definition_text(other))
            }
            (Self::CallTool, Self::CallTool) => true,
            (Self::Tool(_), Self::CallTool) | (Self::CallTool, Self::Tool(_)) => false,
        }
    }

    /// The item as protocol JSON for the new or the old era; `None` if it cannot be serialized.
    pub(crate) fn to_json<'v>(&self, view: &'v View, is_new: bool) -> Option<&'v str> {
        match self {
            Self::Tool(entry) => view.rendered_tool(entry.name.as_str(), is_new),
            Self::CallTool => Some(&CALL_TOOL_JSON),
        }
    }

    /// The name for clients.
    pub(crate) fn client_name<'v>(&'v self, view: &'v View) -> &'v str {
        match self {
            Self::Tool(entry) => {
                view.client_name(entry.name.as_str()).map_or(entry.name.as_str(), |name| name)
            }
            Self::CallTool => CALL_TOOL,
        }
    }
}

/// The definition of `CallTool`.
static CALL_TOOL_JSON: LazyLock<String> = LazyLock::new(|| {
    json!({
        "name": CALL_TOOL,
        "title": "Call a tool",
        "description": "Calls a tool that is not in your list, by the name that `ToolSearch` gave. What that tool \
            may do is decided as if it were called itself.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "name": { "type": "string", "description": "The tool, as `ToolSearch` names it" },
                "arguments": { "type": "object", "description": "Its arguments, as its signature or input schema has them" },
            },
            "required": ["name"],
            "additionalProperties": false,
        },
        "annotations": { "readOnlyHint": false, "destructiveHint": true },
    })
    .to_string()
});

/// The definition of a tool as its server sent it.
fn definition_text(entry: &CatalogEntry) -> String {
    entry.tool.definition_text()
}
