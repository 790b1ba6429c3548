//! Commands and options of the program mcparley, parsed. Their doc comments are the text of `--help` and of the
//! command reference.
//!
//! Pure on purpose: reads no environment and no file. Start reading at [`parse`], which arranges the words of a
//! command line for clap; [`RootCommand`] and [`McpCommand`] list the commands, whose options are in the modules
//! named like them. The program itself is the crate `mcparley-cli`.

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};

mod add;
mod add_words;
mod ask;
mod catalog;
mod command_table;
mod completion;
mod connect;
mod daemon;
mod help;
mod hooks;
mod needs;
mod offers;
mod option_table;
mod order;
mod pending;
mod permissions;
mod remote;
mod serve;
mod server_choice;
mod server_options;
mod sign_in;
mod tasks;
mod tool_path;
mod trailing;
mod typed_server;
mod ui;
mod values;

#[cfg(test)]
mod tests;

pub use add::{AddArgs, AddOptions};
pub use ask::AskArgs;
pub use catalog::{BudgetArgs, SearchArgs};
pub use completion::CompletionSource;
pub use connect::{ConnectArgs, SetupScopeArg};
pub use daemon::DaemonCommand;
pub use help::{HelpArgs, HelpPage, HelpPageError, help_command};
pub use hooks::{HooksApproveArgs, HooksCommand, HooksListArgs, HooksRejectArgs};
pub use needs::{AgentView, CommandNeeds, ConnectorNeed};
pub use offers::{PromptArgs, PromptsArgs, ReadArgs, ResourcesArgs, SkillsArgs};
pub use order::{open_screen_by_default, parse, parse_console};
pub use pending::{PendingAnswerArgs, PendingArgs, PendingCommand};
pub use permissions::{
    AllowArgs, PermissionsCommand, PermissionsListArgs, PermissionsTestArgs, RemoveRuleArgs, ReviewArgs,
    RuleArgs,
};
pub use remote::with_scheme;
pub use serve::{DeferArg, DoorArgs, ServeArgs};
pub use server_choice::{ApproveArgs, DisableArgs, EnableArgs, RejectArgs, TrustArgs};
pub use server_options::{
    CallArgs, CallCommandOptions, DoctorArgs, LogsArgs, ReconnectArgs, StateArgs, ToolsArgs, WaitReadyArgs,
};
pub use sign_in::{AuthCommand, AuthStatusArgs, IdpCommand, IdpSetupArgs, LoginArgs, LogoutArgs, WaitArgs};
pub use tasks::{TasksArgs, TasksCommand};
pub use ui::UiArgs;
pub use values::{FileArg, OwnScopeArg, ScopeArg, SettingSourceArg, ShellArg};

/// Connect an agent to every MCP server its user has
///
/// mcparley reads MCP servers from user, project and local files, plugins and the command line, validates
/// them against policy and approvals, and shows the status of each. It reads and writes the files that Claude
/// Code uses.
#[derive(Debug, Parser)]
#[command(
    name = "mcparley",
    version = VERSION,
    disable_help_subcommand = true,
    after_help = help::EXAMPLES,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub struct Cli {
    /// Options that every command takes.
    #[command(flatten)]
    pub global: GlobalOptions,
    /// The selected command.
    #[command(subcommand)]
    pub command: RootCommand,
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The root clap command with all subcommands, for shell completion, the command reference and the manual
/// pages.
#[must_use]
pub fn root_command() -> clap::Command {
    Cli::command()
}

/// Global options, which every command takes.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct GlobalOptions {
    /// Add servers from JSON files or JSON text; takes several values, the last one wins
    #[arg(long, global = true, value_name = "FILE-or-JSON")]
    pub mcp_config: Vec<String>,

    /// Add a server for this run: a name and a command, URL or JSON entry; may be repeated
    ///
    /// As in `--mcp-server 'files=npx -y server-files .'`. The command is split like a shell splits it. Nothing
    /// is written to a configuration file.
    #[arg(long, global = true, value_name = "NAME=COMMAND-or-URL")]
    pub mcp_server: Vec<String>,

    /// Use only the servers of `--mcp-config` and `--mcp-server`
    #[arg(long, global = true)]
    pub strict_mcp_config: bool,

    /// Add settings from a JSON file or JSON text
    #[arg(long, global = true, value_name = "FILE-or-JSON")]
    pub settings: Vec<String>,

    /// Read settings only from these sources
    ///
    /// Without a terminal, including `project` also approves the project's servers.
    #[arg(long, global = true, value_enum, value_delimiter = ',', value_name = "user,project,local")]
    pub setting_sources: Option<Vec<SettingSourceArg>>,

    /// Load a plugin from a folder; may be repeated
    #[arg(long, global = true, value_name = "DIR")]
    pub plugin_dir: Vec<PathBuf>,

    /// Search tools also by the meaning of words, with the static word vectors in this folder
    ///
    /// The folder has model2vec's form: `model.safetensors` and `tokenizer.json`.
    #[arg(long, global = true, value_name = "DIR")]
    pub search_vectors: Option<PathBuf>,

    /// Add a root folder for servers; may be repeated
    ///
    /// Servers of the project, and your own servers without a folder among their arguments, get the
    /// project folder and these folders as roots. `/` and the home directory are never offered.
    #[arg(long, global = true, value_name = "DIR")]
    pub add_dir: Vec<PathBuf>,

    /// Connect to the editor that has this folder open
    ///
    /// Editors with the Claude Code extension list their port in `~/.claude/ide`. In an editor's own terminal
    /// mcparley connects to that editor without this option.
    #[arg(long, global = true)]
    pub ide: bool,

    /// Permission mode for this run
    #[arg(long, global = true, value_name = "MODE", value_parser = mode_words())]
    pub permission_mode: Option<String>,

    /// Allow tools by rule; may be repeated
    #[arg(long, global = true, value_name = "RULE,RULE")]
    pub allowed_tools: Vec<String>,

    /// Deny tools by rule; may be repeated
    #[arg(long, global = true, value_name = "RULE,RULE")]
    pub disallowed_tools: Vec<String>,

    /// Read user settings from this folder instead of `~/.claude`
    #[arg(long, global = true, value_name = "DIR")]
    pub config_dir: Option<PathBuf>,

    /// Start local servers here, even if the daemon is enabled
    #[arg(long, global = true)]
    pub no_daemon: bool,

    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,

    /// More output; may be repeated
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

fn mode_words() -> Vec<&'static str> {
    mcparley::model::permission::PermissionMode::ALL.into_iter().map(|mode| mode.as_str()).collect()
}

/// The top-level commands.
#[derive(Debug, Subcommand)]
pub enum RootCommand {
    /// Open the screen of the servers, or run a command: `mcparley mcp list` is `mcparley list`
    ///
    /// Alone and on a terminal, `mcparley mcp` shows every server with its state, tools and errors, and
    /// enables, disables, reconnects, approves and signs in to them by single keys.
    #[command(
        subcommand_required = true,
        arg_required_else_help = true,
        after_help = "Examples:\n  mcparley mcp\n  mcparley mcp list\n  mcparley mcp add files npx -y @modelcontextprotocol/server-filesystem ."
    )]
    Mcp {
        /// The command below `mcp`.
        #[command(subcommand)]
        command: McpCommand,
    },
    /// The commands without the prefix `mcp`.
    #[command(flatten)]
    Direct(McpCommand),
    /// Print a shell completion script
    ///
    /// The script completes commands, options and their values; the names of servers, agents, hooks, open
    /// questions and tools, also as `server.tool` and `mcp__server__tool`; and the arguments of a tool. Servers that need a
    /// sign-in or an approval are offered where only those fit. Tools are read from the cache, so completing
    /// starts no server.
    #[command(after_help = "\
Examples:
  source <(mcparley completions bash)
  mcparley completions fish > ~/.config/fish/completions/mcparley.fish
  mcparley completions zsh > ~/.zfunc/_mcparley")]
    Completions {
        /// The shell to complete in
        #[arg(value_enum)]
        shell: ShellArg,
    },
    #[expect(missing_docs, reason = "the doc of the arguments is the help")]
    Help(HelpArgs),
}

/// The commands about MCP servers.
#[derive(Debug, Subcommand)]
#[expect(
    missing_docs,
    reason = "the doc of the arguments is the help; clap would show that of the variant instead"
)]
pub enum McpCommand {
    Add(AddArgs),
    AddJson(AddJsonArgs),
    Remove(RemoveArgs),
    Get(GetArgs),
    List(ListArgs),
    Tools(ToolsArgs),
    Search(SearchArgs),
    Budget(BudgetArgs),
    Call(CallArgs),
    Ask(AskArgs),
    Serve(Box<ServeArgs>),
    Ui(UiArgs),
    Screen(ScreenArgs),
    Resources(ResourcesArgs),
    Read(ReadArgs),
    Skills(SkillsArgs),
    Prompts(PromptsArgs),
    Prompt(PromptArgs),
    WaitReady(WaitReadyArgs),
    Reconnect(ReconnectArgs),
    State(StateArgs),
    Logs(LogsArgs),
    Doctor(DoctorArgs),
    Login(LoginArgs),
    Logout(LogoutArgs),
    /// Show sign-ins and configure an identity provider
    #[command(after_help = "Examples:\n  mcparley auth status\n  mcparley auth idp status")]
    Auth {
        /// The command below `auth`.
        #[command(subcommand)]
        command: AuthCommand,
    },
    Plan(PlanArgs),
    Agents(AgentsArgs),
    Enable(EnableArgs),
    Disable(DisableArgs),
    Trust(TrustArgs),
    Approve(ApproveArgs),
    Reject(RejectArgs),
    /// Reset all approvals and rejections for this project
    ///
    /// Every server of the project needs approval again before it runs.
    #[command(after_help = "Example:\n  mcparley reset-project-choices")]
    ResetProjectChoices,
    Import(ImportArgs),
    Connect(ConnectArgs),
    /// List hooks, and approve or reject hooks of a project
    #[command(after_help = "Examples:\n  mcparley hooks list\n  mcparley hooks approve --all")]
    Hooks {
        /// The command below `hooks`.
        #[command(subcommand)]
        command: HooksCommand,
    },
    Pending(PendingArgs),
    Tasks(TasksArgs),
    /// Run local servers once for all clients: sessions, agents and commands share them
    ///
    /// Without the daemon, each `mcparley serve` and each command starts its own copy of every local server it
    /// uses. With it, the daemon starts them, and shares each with the clients from which the server would see
    /// the same folder, environment, capabilities and roots. Permissions and approvals stay those of each
    /// client.
    #[command(after_help = "\
Examples:
  mcparley daemon enable
  mcparley daemon status
  mcparley daemon disable")]
    Daemon {
        /// The command below `daemon`.
        #[command(subcommand)]
        command: DaemonCommand,
    },
    /// Show, test and edit permission rules
    #[command(after_help = "\
Examples:
  mcparley permissions list
  mcparley permissions test files.write_file
  mcparley permissions allow mcp__files__read_file")]
    Permissions {
        /// The command below `permissions`.
        #[command(subcommand)]
        command: PermissionsCommand,
    },
}

/// Add a server from a JSON entry
///
/// Writes the entry to a configuration file and then tries to connect for up to five seconds. The entry stays
/// even if the server does not answer.
#[derive(Debug, Args)]
#[command(after_help = r#"Examples:
  mcparley add-json api '{"type":"http","url":"https://example.com/mcp"}'
  mcparley add-json api - < entry.json"#)]
pub struct AddJsonArgs {
    /// Scope to add the server to
    #[arg(short, long, value_enum, default_value = "local")]
    pub scope: ScopeArg,

    /// File of the scope to write to [default: claude-json]
    #[arg(long, value_enum)]
    pub file: Option<FileArg>,

    /// Replace an existing entry of the same name and scope, in the file that has it
    #[arg(long)]
    pub force: bool,

    /// Do not connect to the server after adding it
    #[arg(long)]
    pub no_check: bool,

    /// Use an OAuth client secret, stored in the vault and never in a configuration file
    ///
    /// Reads the secret from `MCP_CLIENT_SECRET`, from a prompt on a terminal, or from standard input.
    #[arg(long)]
    pub client_secret: bool,

    /// Server name: letters, digits, `-` and `_`
    pub name: String,

    /// The entry, such as `{"type":"http","url":"https://example.com/mcp"}`; `-` reads it from standard input
    // Not named `json`: clap would confuse this argument with the global option of that name.
    #[arg(value_name = "JSON")]
    pub entry: String,
}

/// Remove a server and its sign-in
///
/// Revokes and deletes the tokens of the server, unless another entry of the same name needs them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley remove files
  mcparley remove files -s user")]
pub struct RemoveArgs {
    /// Scope to remove the server from; required only if several scopes have it
    #[arg(short, long, value_enum)]
    pub scope: Option<ScopeArg>,

    /// The server
    #[arg(add = CompletionSource::Servers)]
    pub name: String,
}

/// Show a server's configuration and status
///
/// Shows every entry of that name with its file, scope and status, and the state of the sign-in. Connects to
/// no server.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley get files
  mcparley get files --json")]
pub struct GetArgs {
    /// The agent that the servers are shown for.
    #[command(flatten)]
    pub seen_by: AgentOption,

    /// The server
    #[arg(add = CompletionSource::Servers)]
    pub name: String,

    /// Show secrets unmasked; only on a terminal
    #[arg(long)]
    pub show_secrets: bool,
}

/// List servers and check that they work
///
/// Connects to every server that may run, lists its tools, and disconnects. Prints one line per server as
/// soon as its health is known.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley list
  mcparley list --offline
  mcparley list --check --json")]
pub struct ListArgs {
    /// Only read the configuration; connect to no server
    #[arg(long)]
    pub offline: bool,

    /// Exit with code 9 if a server that may run does not work
    #[arg(long, conflicts_with = "offline")]
    pub check: bool,
}

/// Show the status of every configured server, and the reason
///
/// Reads the configuration and connects to no server. A server is ready, needs approval, or is rejected,
/// disabled, blocked, shadowed, duplicate or invalid.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley plan
  mcparley plan --check --json")]
pub struct PlanArgs {
    /// The agent that the servers are shown for.
    #[command(flatten)]
    pub seen_by: AgentOption,

    /// Exit with code 3 if a file or an entry is invalid
    #[arg(long)]
    pub check: bool,
}

/// List agents and the servers they use
///
/// Reads the Markdown files in `~/.claude/agents` and in `.claude/agents` of the project. Starts no server.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mcparley agents --json")]
pub struct AgentsArgs {}

/// Show every server on a screen with its state, tools and errors; also opened by `mcparley mcp` alone
#[derive(Debug, Args)]
#[command(hide = true, after_help = "Example:\n  mcparley mcp")]
pub struct ScreenArgs {}

/// The option `--agent`, which restricts a command to the servers of one agent.
#[derive(Clone, Debug, Default, Args)]
pub struct AgentOption {
    /// Use the servers of this agent: its own, and the shared servers it lists (all if it lists none)
    #[arg(long, value_name = "AGENT", add = CompletionSource::Agents)]
    pub agent: Option<String>,
}

/// Import servers from other programs
///
/// Servers from your own files are added to user scope, servers from files of the project to local scope. On a
/// terminal you choose the servers by their numbers; otherwise they are only shown, unless `--yes` is given.
/// `mcparley add-from-claude-desktop` is `mcparley import claude-desktop`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley import
  mcparley import cursor --only files --yes
  mcparley import cursor --from mcp.json")]
pub struct ImportArgs {
    /// Scope to add the servers to [default: user, and local for files of the project]
    #[arg(short, long, value_enum)]
    pub scope: Option<ScopeArg>,

    /// File of the scope to write to [default: claude-json]
    #[arg(long, value_enum)]
    pub file: Option<FileArg>,

    /// Read this file instead of the default locations; needs exactly one program
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,

    /// Import only this server; may be repeated
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,

    /// Import without asking
    #[arg(short, long)]
    pub yes: bool,

    /// The programs to import from [default: all]
    #[arg(value_parser = program_words())]
    pub programs: Vec<String>,
}

fn program_words() -> Vec<&'static str> {
    mcparley::config::import::Program::ALL.into_iter().map(|program| program.as_str()).collect()
}
