//! The table of slash commands: names, usage and summaries for parsing, completion and `/help`.

/// One slash command of the console.
#[derive(Debug)]
pub(crate) struct SlashCommand {
    /// The name, without the slash.
    pub(crate) name: &'static str,
    /// The words after the name, as `/help` shows them.
    pub(crate) usage: &'static str,
    /// One line for `/help` and the completion menu.
    pub(crate) summary: &'static str,
    /// The effect.
    pub(crate) action: CommandAction,
    /// The kind of the first word, for completion.
    pub(crate) first_word: FirstWord,
}

/// The effect of a slash command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandAction {
    /// `/mcp`: the screen of the servers, and commands about them.
    Servers,
    /// A command of the command line. The words stand for the ones that the user leaves out.
    Program(&'static [&'static str]),
    /// Lists the last calls.
    Calls,
    /// Prints the last result in full.
    LastResult,
    /// Shows or changes the model.
    Model,
    /// Clears the screen and forgets the conversation.
    Clear,
    /// Prints the help.
    Help,
    /// Leaves the console.
    Quit,
}

/// The kind of the first word after a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstWord {
    /// No word that could be completed.
    Free,
    /// The name of a server.
    Server,
    /// One of these words.
    Choice(&'static [&'static str]),
}

use CommandAction::{Calls, Clear, Help, LastResult, Model, Program, Quit, Servers};
use FirstWord::{Choice, Free, Server};

/// The commands below `/mcp`.
pub(crate) const SERVERS_COMMANDS: [(&str, &str); 6] = [
    ("enable", "enable a server, or `all`"),
    ("disable", "disable a server, or `all`"),
    ("reconnect", "connect to a server again"),
    ("login", "sign in to a server"),
    ("logout", "sign out of a server"),
    ("add", "add a server: NAME COMMAND or NAME URL"),
];

macro_rules! commands {
    ($($name:literal $usage:literal $first:expr, $action:expr, $summary:literal;)*) => {
        /// All slash commands, in the order of `/help`.
        pub(crate) const SLASH_COMMANDS: &[SlashCommand] = &[
            $(SlashCommand { name: $name, usage: $usage, summary: $summary, action: $action, first_word: $first },)*
        ];
    };
}

commands! {
    "mcp" "[enable|disable|reconnect|login|logout|add …]" Free, Servers, "show the servers, or change one";
    "tools" "[SERVER] [TOOL]" Server, Program(&[]), "list tools, or show one";
    "search" "WORDS" Free, Program(&[]), "find a tool by words";
    "resources" "[SERVER]" Server, Program(&[]), "list resources";
    "prompts" "[SERVER]" Server, Program(&[]), "list prompts";
    "skills" "[SERVER]" Server, Program(&[]), "list skills";
    "list" "" Free, Program(&[]), "check every server";
    "plan" "" Free, Program(&[]), "show which servers run, and why";
    "get" "SERVER" Server, Program(&[]), "show a server's configuration";
    "permissions" "[list|test|allow|ask|deny|remove|review …]" Choice(&["list", "test", "allow", "ask", "deny", "remove", "review"]), Program(&["list"]), "show and edit permission rules";
    "trust" "[DIR]" Free, Program(&[]), "review the servers and rules of this folder";
    "approve" "SERVER" Server, Program(&[]), "approve a server of this project";
    "hooks" "[list|approve|reject …]" Choice(&["list", "approve", "reject"]), Program(&["list"]), "list hooks";
    "budget" "" Free, Program(&[]), "show the tokens of each server's tools";
    "logs" "SERVER" Server, Program(&[]), "show the log of a server";
    "doctor" "[SERVER]" Server, Program(&[]), "find out why a server fails";
    "import" "[PROGRAM]" Free, Program(&[]), "import servers of other programs";
    "calls" "" Free, Calls, "list the last calls with duration and outcome";
    "last" "" Free, LastResult, "print the last result in full (Ctrl-O)";
    "model" "[PROVIDER:MODEL]" Free, Model, "show the model, or change it";
    "clear" "" Free, Clear, "clear the screen and forget the conversation";
    "help" "" Free, Help, "show this help";
    "quit" "" Free, Quit, "leave (Ctrl-D)";
}

impl SlashCommand {
    /// The command of this name; `exit` is a second name of `quit`.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        let name = if name == "exit" { "quit" } else { name };
        SLASH_COMMANDS.iter().find(|command| command.name == name)
    }
}
