//! The tools that stand in for those of a server which wants a sign-in (A5, N9).
//!
//! They are permitted as what they are, entries of this kind, and never by their name: a server can have a tool
//! called `authenticate` too (B38).

use mcparley_model::name::{Names, ServerName};
use mcparley_model::text::display;
use mcparley_model::tool::Tool;
use serde_json::json;
use serde_json::value::to_raw_value;

use super::{Entry, Provider};

/// What a model can do about a server that wants a sign-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignInTool {
    /// Begin to sign in.
    Authenticate,
    /// Hand in where the browser ended, when it is on another machine.
    Complete,
}

impl SignInTool {
    pub(super) const ALL: [Self; 2] = [Self::Authenticate, Self::Complete];

    /// The names that are kept for them.
    pub(super) const NAMES: [&str; 2] = ["authenticate", "complete_authentication"];

    /// The last part of its name for a model.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        let [authenticate, complete] = Self::NAMES;
        match self {
            Self::Authenticate => authenticate,
            Self::Complete => complete,
        }
    }

    /// Its entry for `server`, if a name was kept for it.
    pub(super) fn entry(self, server: &ServerName, names: &Names) -> Option<Entry> {
        let name = names.of_host(server, self.as_str())?.clone();
        let shown = display(server.as_str());
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
                "title": format!("Complete the sign-in to {shown}"),
                "description": format!(
                    "Completes a sign-in to the MCP server `{shown}` that was begun with `{}`, when the user's \
                     browser is on another machine and ends on a page that cannot be reached: takes the address \
                     of that page.",
                    names.of_host(server, Self::Authenticate.as_str())?
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
        let tool = Tool::read(to_raw_value(&definition).ok()?.as_ref()).ok()?;
        Some(Entry::new(name, Provider::SignIn { server: server.clone(), tool: self }, tool))
    }
}
