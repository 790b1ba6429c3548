//! Errors of typed lines, with hints.

use mcparley::model::explain::Explain;
use mcparley::model::text::display_line;

/// The reason why a typed line cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InputError {
    /// No slash command or prompt has this name.
    #[error("there is no command `/{}`", display_line(name))]
    UnknownCommand {
        /// The name, without the slash.
        name: String,
        /// Similar commands and prompts.
        similar: Vec<String>,
    },
    /// A command got a word that it does not take.
    #[error("`{}` is unexpected after `/{command}`", display_line(word))]
    SurplusWord {
        /// The command.
        command: &'static str,
        /// The first surplus word.
        word: String,
    },
    /// No server has this name.
    #[error("there is no server `{}`", display_line(name))]
    UnknownServer {
        /// The name, as typed.
        name: String,
        /// Similar names.
        similar: Vec<String>,
    },
    /// A command needs the name of a server.
    #[error("the name of a server is missing")]
    ServerMissing {
        /// The usage of the command.
        usage: &'static str,
    },
    /// `/mcp add` without a server.
    #[error("the server to add is missing")]
    EntryMissing,
    /// The name of a server alone.
    #[error("the tool of server `{}` is missing", display_line(server))]
    ToolMissing {
        /// The server.
        server: String,
    },
    /// A server has no tool of this name.
    #[error("server `{}` has no tool `{}`", display_line(server), display_line(tool))]
    UnknownTool {
        /// The server.
        server: String,
        /// The tool, as typed.
        tool: String,
        /// Similar names.
        similar: Vec<String>,
    },
    /// A quote or bracket is never closed.
    #[error("`{opening}` is never closed")]
    Unclosed {
        /// The quote or bracket.
        opening: char,
    },
}

impl Explain for InputError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::UnknownCommand { similar, .. } => {
                let similar: Vec<String> = similar.iter().map(|name| format!("/{name}")).collect();
                suggest_names(&similar, "type /help to see all commands")
            }
            Self::SurplusWord { command, .. } => format!("write `/{command}` alone; /help shows its usage"),
            Self::UnknownServer { similar, .. } => {
                suggest_names(similar, "type /plan to see the configured servers")
            }
            Self::ServerMissing { usage } => format!("write `{usage}`"),
            Self::EntryMissing => "write `/mcp add NAME COMMAND …` or `/mcp add NAME URL`".to_owned(),
            Self::ToolMissing { server } => {
                format!("write `{server}.TOOL key=value`; /tools {server} lists its tools")
            }
            Self::UnknownTool { server, similar, .. } => {
                suggest_names(similar, &format!("type /tools {server} to see its tools"))
            }
            Self::Unclosed { opening } => {
                format!("close it, or write `\\{opening}` for the character itself")
            }
        };
        Some(display_line(&hint).into_owned())
    }
}

/// The question after similar names, or another hint without any.
pub(crate) fn suggest_names(similar: &[String], otherwise: &str) -> String {
    match similar {
        [] => otherwise.to_owned(),
        similar => format!("did you mean `{}`?", similar.join("`, `")),
    }
}
