//! The host's own tools: entries of the catalogue like any other (N9).

mod read_result;
mod tool_search;

use mcparley_model::name::PublicName;
use mcparley_model::tool::Tool;
use serde_json::json;
use serde_json::value::to_raw_value;

use super::{Entry, Provider};

/// One of the host's own tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuiltIn {
    /// Lists the resources of all servers.
    ListResources,
    /// Reads one of them.
    ReadResource,
    /// Reads on in a result that was stored.
    ReadResult,
    /// Finds tools that are not listed.
    ToolSearch,
}

impl BuiltIn {
    pub(super) const ALL: [Self; 4] =
        [Self::ListResources, Self::ReadResource, Self::ReadResult, Self::ToolSearch];

    /// Its name for a model.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ListResources => "ListMcpResources",
            Self::ReadResource => "ReadMcpResource",
            Self::ReadResult => "ReadResult",
            Self::ToolSearch => "ToolSearch",
        }
    }

    /// Whether somebody is to be asked before it is used. What it shows otherwise is what the model was given, or may see, already.
    pub(crate) fn needs_permission(self) -> bool {
        match self {
            Self::ListResources | Self::ReadResource => true,
            Self::ReadResult | Self::ToolSearch => false,
        }
    }

    /// Its entry. All of them only read.
    pub(super) fn entry(self) -> Option<Entry> {
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
            Self::ReadResult => read_result::definition(),
            Self::ToolSearch => tool_search::definition(),
        };
        let tool = Tool::read(to_raw_value(&definition).ok()?.as_ref()).ok()?;
        Some(Entry::new(PublicName::built_in(self.as_str())?, Provider::Host(self), tool))
    }
}
