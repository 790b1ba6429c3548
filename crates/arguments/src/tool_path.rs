//! `server.tool` in place of a server and a tool.

use mcparley::config::LoadedConfig;

use super::{McpCommand, PermissionsCommand};

impl McpCommand {
    /// Splits `server.tool` into its two words, wherever a command takes a server and a tool.
    pub fn split_tool_path(&mut self, loaded: &LoadedConfig) {
        let split = |word: &str| {
            let (server, tool) = loaded.split_tool_path(word)?;
            Some((server.to_owned(), tool.to_owned()))
        };
        match self {
            Self::Call(args) => {
                if let Some((server, tool)) = split(&args.target) {
                    args.target = server;
                    args.words.insert(0, tool);
                }
            }
            Self::Prompt(args) => {
                if let Some((server, prompt)) = split(&args.target) {
                    args.target = server;
                    args.words.insert(0, prompt);
                }
            }
            Self::Tools(args) if args.tool.is_none() => {
                split_option(&mut args.server, &mut args.tool, split);
            }
            Self::Permissions { command: PermissionsCommand::Review(args) } if args.tool.is_none() => {
                split_option(&mut args.server, &mut args.tool, split);
            }
            Self::Permissions { command: PermissionsCommand::Test(args) } if args.tool.is_none() => {
                if let Some((server, tool)) = split(&args.server) {
                    (args.server, args.tool) = (server, Some(tool));
                }
            }
            Self::Enable(args) if args.tools.is_empty() => split_list(&mut args.name, &mut args.tools, split),
            Self::Disable(args) if args.tools.is_empty() => {
                split_list(&mut args.name, &mut args.tools, split)
            }
            _ => {}
        }
    }
}

type SplitWords = Option<(String, String)>;

fn split_option(server: &mut Option<String>, tool: &mut Option<String>, split: impl Fn(&str) -> SplitWords) {
    if let Some((first, second)) = server.as_deref().and_then(split) {
        (*server, *tool) = (Some(first), Some(second));
    }
}

fn split_list(name: &mut String, tools: &mut Vec<String>, split: impl Fn(&str) -> SplitWords) {
    if let Some((server, tool)) = split(name) {
        (*name, *tools) = (server, vec![tool]);
    }
}
