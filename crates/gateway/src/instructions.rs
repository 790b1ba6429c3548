//! What a client is told about using this server.

use mcparley::Host;

const OWN: &str = "Tools of several MCP servers behind one gateway. A name `mcp__server__tool` says which server a tool is of. \
    Calls may need the permission of a person; a result that says so also says how to give it.";

/// The instructions of a host, as one text.
pub(crate) fn of(_host: &Host) -> String {
    OWN.to_owned()
}
