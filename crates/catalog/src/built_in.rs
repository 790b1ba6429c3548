//! Built-in tools of the host: entries of the catalog like any other.

mod read_result;
mod tool_search;

use mcparley_model::tool::{READ_RESULT, Tool};
use serde_json::json;
use serde_json::value::to_raw_value;

/// One of the host's built-in tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltIn {
    /// Lists the resources of all servers.
    ListResources,
    /// Reads one resource.
    ReadResource,
    /// Reads a part of a stored result.
    ReadResult,
    /// Searches for tools that are not listed.
    ToolSearch,
}

impl BuiltIn {
    /// All built-in tools.
    pub const ALL: [Self; 4] = [Self::ListResources, Self::ReadResource, Self::ReadResult, Self::ToolSearch];

    /// The public name of the tool.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ListResources => "ListMcpResources",
            Self::ReadResource => "ReadMcpResource",
            Self::ReadResult => READ_RESULT,
            Self::ToolSearch => "ToolSearch",
        }
    }

    /// Whether a call needs permission. The other tools show only text that the model was given, or may see,
    /// already.
    #[must_use]
    pub fn needs_permission(self) -> bool {
        match self {
            Self::ListResources | Self::ReadResource => true,
            Self::ReadResult | Self::ToolSearch => false,
        }
    }

    /// The definition of the tool. All built-in tools only read.
    pub(crate) fn to_tool(self) -> Option<Tool> {
        let definition = match self {
            Self::ListResources => json!({
                "name": self.as_str(),
                "title": "List resources",
                "description": "Lists the resources of the MCP servers (server, uri, name, type), and templates \
                    of addresses of further ones (uriTemplate, RFC 6570).",
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "server": { "type": "string", "description": "Only the resources of this server" },
                        "offset": { "type": "integer", "minimum": 0, "description": "How many to leave out" },
                    },
                    "additionalProperties": false,
                },
                "annotations": { "readOnlyHint": true, "openWorldHint": false },
            }),
            Self::ReadResource => json!({
                "name": self.as_str(),
                "title": "Read a resource",
                "description": "Reads one resource of an MCP server. What it holds is the server's text, not the user's.",
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "server": { "type": "string", "description": "The server that has the resource" },
                        "uri": { "type": "string", "description": "Its address, as ListMcpResources names it or as a template makes it" },
                    },
                    "required": ["server", "uri"],
                    "additionalProperties": false,
                },
                "annotations": { "readOnlyHint": true },
            }),
            Self::ReadResult => read_result::read_result_definition(),
            Self::ToolSearch => tool_search::tool_search_definition(),
        };
        Tool::parse(to_raw_value(&definition).ok()?.as_ref()).ok()
    }
}
