//! What a client is told about using this server.

use mcparley::Host;
use mcparley::model::limits::SERVED_INSTRUCTIONS_CHARS;
use mcparley::model::text::cut;

const OWN: &str = "Tools of several MCP servers behind one gateway. A name `mcp__server__tool` says which server a tool is of. \
    Calls may need the permission of a person; a result that says so also says how to give it.";

/// Our own words, and behind them those of the servers that are known, as far as there is room.
pub(crate) fn of(host: &Host) -> String {
    let theirs = host.instructions().text();
    if theirs.is_empty() {
        return OWN.to_owned();
    }
    cut(&format!("{OWN}\n\n{theirs}"), SERVED_INSTRUCTIONS_CHARS).into_owned()
}
