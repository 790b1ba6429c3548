//! The instructions of the gateway for a client's model.

use mcparley::Host;
use mcparley::model::limits::SERVED_INSTRUCTIONS_CHARS;
use mcparley::model::text::truncate_text;

use crate::mode::Naming;
use crate::view::View;

const OWN: &str = "Tools of several MCP servers behind one gateway.";
const PERMISSION: &str =
    "Calls may need the permission of a person; a result that says so also says how to give it.";

/// The gateway's own instructions, followed by those of the known servers, up to a limit. In transparent mode
/// those of the server, whole.
pub(crate) fn client_instructions(host: &Host, view: &View) -> Option<String> {
    if view.mode.is_transparent() {
        let about = view.servers.first()?.about.as_ref()?;
        return about.whole_instructions.as_ref().map(|text| text.raw().to_owned());
    }
    let names = match view.mode.naming {
        Naming::Server => " A name `server__tool` says which server a tool is of.",
        Naming::Mcp => " A name `mcp__server__tool` says which server a tool is of.",
        Naming::Bare => "",
    };
    let own = format!("{OWN}{names} {PERMISSION}");
    let theirs = host.instructions().text();
    if theirs.is_empty() {
        return Some(own);
    }
    Some(truncate_text(&format!("{own}\n\n{theirs}"), SERVED_INSTRUCTIONS_CHARS).into_owned())
}
