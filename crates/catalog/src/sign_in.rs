//! Sign-in tools: stand in for the tools of a server that asks for a sign-in.
//!
//! Permissions recognize them by their provider, never by their name: a server can have a tool called
//! `authenticate` too.

use mcparley_model::name::{PublicName, PublicNames, ServerName};
use mcparley_model::text::display_line;
use mcparley_model::tool::Tool;
use serde_json::json;
use serde_json::value::to_raw_value;

/// The sign-in steps that a model can take for a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignInTool {
    /// Starts the sign-in.
    Authenticate,
    /// Completes the sign-in with the browser's final URL, when the browser is on another machine.
    Complete,
}

impl SignInTool {
    pub(crate) const ALL: [Self; 2] = [Self::Authenticate, Self::Complete];

    /// The reserved names of these tools.
    pub(crate) const NAMES: [&str; 2] = ["authenticate", "complete_authentication"];

    /// The last part of the public name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        let [authenticate, complete] = Self::NAMES;
        match self {
            Self::Authenticate => authenticate,
            Self::Complete => complete,
        }
    }

    /// The public name and definition for `server`, if a name was reserved.
    pub(crate) fn definition_for(
        self,
        server: &ServerName,
        names: &PublicNames,
    ) -> Option<(PublicName, Tool)> {
        let name = names.host_tool_name(server, self.as_str())?.clone();
        let shown = display_line(server.as_str());
        let definition = match self {
            Self::Authenticate => json!({
                "name": self.as_str(),
                "title": format!("Sign in to {shown}"),
                "description": format!(
                    "The MCP server `{shown}` offers its tools only to users who have signed in. This begins the \
                     sign-in and returns a URL; show it to the user in full and ask them to open it. The server's \
                     own tools take the place of this one when the user has signed in."
                ),
                "inputSchema": { "type": "object", "properties": {}, "additionalProperties": false },
            }),
            Self::Complete => json!({
                "name": self.as_str(),
                "title": format!("Enter the redirect address for {shown}"),
                "description": format!(
                    "Completes a sign-in to the MCP server `{shown}` that was begun with `{}`, when the user's \
                     browser is on another machine and ends on a page that cannot be reached: takes the address \
                     of that page.",
                    names.host_tool_name(server, Self::Authenticate.as_str())?
                ),
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "callback_url": {
                            "type": "string",
                            "description": "The whole address the browser ended on, with `code` and `state`",
                        },
                    },
                    "required": ["callback_url"],
                    "additionalProperties": false,
                },
            }),
        };
        let tool = Tool::parse(to_raw_value(&definition).ok()?.as_ref()).ok()?;
        Some((name, tool))
    }
}
