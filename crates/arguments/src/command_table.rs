//! The commands by name, each with the function that adds its arguments: a run of the program builds the options of
//! one command instead of those of more than forty.
//!
//! Help, completion and error messages come from the whole tree. A test compares the two.

use std::ffi::OsString;

use clap::{Args, Command, Subcommand};

use super::{
    AddArgs, AddJsonArgs, AgentsArgs, ApproveArgs, AskArgs, AuthCommand, BudgetArgs, CallArgs, ConnectArgs,
    DaemonCommand, DisableArgs, DoctorArgs, EnableArgs, GetArgs, GlobalOptions, HelpArgs, HooksCommand,
    ImportArgs, ListArgs, LoginArgs, LogoutArgs, LogsArgs, PendingArgs, PermissionsCommand, PlanArgs,
    PromptArgs, PromptsArgs, ReadArgs, ReconnectArgs, RejectArgs, RemoveArgs, ResourcesArgs, ScreenArgs,
    SearchArgs, ServeArgs, SkillsArgs, StateArgs, TasksArgs, ToolsArgs, TrustArgs, UiArgs, VERSION,
    WaitReadyArgs,
};

/// Adds the arguments of a command.
type AugmentFunction = fn(Command) -> Command;

/// The commands that also stand after `mcp`, and `help`. `completions` is rare enough for the whole tree.
const COMMANDS: [(&str, AugmentFunction); 42] = [
    ("add", AddArgs::augment_args),
    ("add-json", AddJsonArgs::augment_args),
    ("remove", RemoveArgs::augment_args),
    ("get", GetArgs::augment_args),
    ("list", ListArgs::augment_args),
    ("tools", ToolsArgs::augment_args),
    ("search", SearchArgs::augment_args),
    ("budget", BudgetArgs::augment_args),
    ("call", CallArgs::augment_args),
    ("ask", AskArgs::augment_args),
    ("serve", ServeArgs::augment_args),
    ("ui", UiArgs::augment_args),
    ("screen", ScreenArgs::augment_args),
    ("resources", ResourcesArgs::augment_args),
    ("read", ReadArgs::augment_args),
    ("skills", SkillsArgs::augment_args),
    ("prompts", PromptsArgs::augment_args),
    ("prompt", PromptArgs::augment_args),
    ("wait-ready", WaitReadyArgs::augment_args),
    ("reconnect", ReconnectArgs::augment_args),
    ("state", StateArgs::augment_args),
    ("logs", LogsArgs::augment_args),
    ("doctor", DoctorArgs::augment_args),
    ("login", LoginArgs::augment_args),
    ("logout", LogoutArgs::augment_args),
    ("auth", AuthCommand::augment_subcommands),
    ("plan", PlanArgs::augment_args),
    ("agents", AgentsArgs::augment_args),
    ("enable", EnableArgs::augment_args),
    ("disable", DisableArgs::augment_args),
    ("trust", TrustArgs::augment_args),
    ("approve", ApproveArgs::augment_args),
    ("reject", RejectArgs::augment_args),
    ("reset-project-choices", std::convert::identity),
    ("import", ImportArgs::augment_args),
    ("connect", ConnectArgs::augment_args),
    ("hooks", HooksCommand::augment_subcommands),
    ("pending", PendingArgs::augment_args),
    ("tasks", TasksArgs::augment_args),
    ("daemon", DaemonCommand::augment_subcommands),
    ("permissions", PermissionsCommand::augment_subcommands),
    ("help", HelpArgs::augment_args),
];

/// Names at the root that are not in the table.
const OTHER_NAMES: [&str; 2] = ["mcp", "completions"];

/// Whether this word is the name of a command at the root.
pub(super) fn is_command_name(word: &str) -> bool {
    OTHER_NAMES.contains(&word) || COMMANDS.iter().any(|(name, _)| *name == word)
}

/// The global options, without any command.
pub(super) fn global_command() -> Command {
    GlobalOptions::augment_args(Command::new("mcparley"))
}

/// A command with its own arguments only; `None` if no command has this name.
pub(super) fn own_command(name: &str) -> Option<Command> {
    let (name, augment) = COMMANDS.iter().find(|(known, _)| *known == name)?;
    Some(augment(Command::new(*name)))
}

/// The root command with no other subcommands than those that `words` could name.
pub(super) fn narrow_command(words: &[OsString]) -> Command {
    let is_named = |name: &str| words.iter().any(|word| word == name);
    let named: Vec<Command> = COMMANDS
        .iter()
        .filter(|(name, _)| is_named(name))
        .map(|(name, augment)| augment(Command::new(*name)))
        .collect();
    let root = global_command().version(VERSION).disable_help_subcommand(true);
    let root = match is_named("mcp") {
        true => root.subcommand(Command::new("mcp").subcommands(named.iter().cloned())),
        false => root,
    };
    root.subcommands(named)
}

#[cfg(test)]
mod tests {
    //! The table against the whole tree.

    use super::*;

    fn argument_ids(command: &Command) -> Vec<String> {
        command.get_arguments().map(|argument| argument.get_id().to_string()).collect()
    }

    #[test]
    fn table_has_every_command_with_its_arguments() {
        let root = crate::root_command();
        for command in root.get_subcommands() {
            let name = command.get_name();
            assert!(is_command_name(name), "`{name}` is not in the table");
            let Some(own) = own_command(name) else { continue };
            assert_eq!(argument_ids(&own), argument_ids(command), "{name}");
            let names = |command: &Command| {
                command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect::<Vec<_>>()
            };
            assert_eq!(names(&own), names(command), "{name}");
        }
        assert_eq!(root.get_subcommands().count(), COMMANDS.len() + OTHER_NAMES.len());
        assert_eq!(argument_ids(&global_command()), argument_ids(&root));
    }
}
