//! The instructions of the gateway for a client's model.

use mcparley::Host;
use mcparley::model::limits::SERVED_INSTRUCTIONS_CHARS;
use mcparley::model::text::truncate_text;

const OWN: &str = "Tools of several MCP servers behind one gateway. A name `mcp__server__tool` says which server a tool is of. \
    Calls may need the permission of a person; a result that says so also says how to give it.";

/// The gateway's own instructions, followed by those of the known servers, up to a limit.
pub(crate) fn gateway_instructions(host: &Host) -> String {
    let theirs = host.instructions().text();
    if theirs.is_empty() {
        return OWN.to_owned();
    }
    truncate_text(&format!("{OWN}\n\n{theirs}"), SERVED_INSTRUCTIONS_CHARS).into_owned()
}
