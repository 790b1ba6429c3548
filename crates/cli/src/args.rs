//! Options and commands, as `--help` and the command reference show them.

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::engine::ArgValueCandidates;

use crate::complete;

mod add;
mod add_words;
mod catalogue;
mod hooks;
mod offers;
mod option_table;
mod order;
mod permissions;
mod remote;
mod serve;
mod sign_in;
mod talk;
mod values;

pub use add::{AddArgs, AddOptions};
pub use catalogue::{BudgetArgs, SearchArgs};
pub use hooks::{HooksApproveArgs, HooksCommand, HooksListArgs, HooksRejectArgs};
pub use offers::{PromptArgs, PromptsArgs, ReadArgs, ResourcesArgs, SkillsArgs};
pub use order::parse;
pub use permissions::{
    AllowArgs, PermissionsCommand, PermissionsListArgs, PermissionsTestArgs, RemoveRuleArgs, ReviewArgs,
    RuleArgs,
};
pub(crate) use remote::with_scheme;
pub use serve::{DeferArg, ServeArgs};
pub use sign_in::{AuthCommand, AuthStatusArgs, IdpCommand, IdpSetupArgs, LoginArgs, LogoutArgs, WaitArgs};
pub use talk::{
    CallArgs, CallOptions, DoctorArgs, LogsArgs, ReconnectArgs, StateArgs, ToolsArgs, WaitReadyArgs,
};
pub use values::{FileArg, OwnScopeArg, ScopeArg, SettingSourceArg, ShellArg};

/// Connect an agent to every MCP server its user has
///
/// mcparley reads MCP servers from user, project and local files, plugins and the command line, judges them
/// by policy and approval, and says what becomes of each. It reads and writes the files that Claude Code uses.
#[derive(Debug, Parser)]
#[command(
    name = "mcparley",
    version,
    disable_help_subcommand = true,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub global: Global,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The whole command line, for completion, the reference and the manual page.
#[must_use]
pub fn command() -> clap::Command {
    Cli::command()
}

/// Options of every command.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Add servers from files or from JSON; several may follow, the later one wins
    #[arg(long, global = true, value_name = "FILE-or-JSON")]
    pub mcp_config: Vec<String>,

    /// Use only the servers of `--mcp-config`
    #[arg(long, global = true)]
    pub strict_mcp_config: bool,

    /// Add settings from a file or from JSON
    #[arg(long, global = true, value_name = "FILE-or-JSON")]
    pub settings: Vec<String>,

    /// Read only these settings
    ///
    /// Naming `project` here in a run without a terminal also approves the project's servers.
    #[arg(long, global = true, value_enum, value_delimiter = ',', value_name = "user,project,local")]
    pub setting_sources: Option<Vec<SettingSourceArg>>,

    /// Load a plugin from a folder; may be repeated
    #[arg(long, global = true, value_name = "DIR")]
    pub plugin_dir: Vec<PathBuf>,

    /// Tell servers to work in this folder too; may be repeated
    ///
    /// They are told of the project's folder and of these, as roots: servers of the project, and your own whose arguments name no folder. Never `/` or the home directory.
    #[arg(long, global = true, value_name = "DIR")]
    pub add_dir: Vec<PathBuf>,

    /// Connect to the editor that has this folder open
    ///
    /// Editors with the extension tell where they listen in `~/.claude/ide`. In an editor's own terminal it is
    /// connected to without this option.
    #[arg(long, global = true)]
    pub ide: bool,

    /// Choose the permission mode
    #[arg(long, global = true, value_name = "MODE", value_parser = mode_words())]
    pub permission_mode: Option<String>,

    /// Allow tools by rule; may be repeated
    #[arg(long, global = true, value_name = "RULE,RULE")]
    pub allowed_tools: Vec<String>,

    /// Deny tools by rule; may be repeated
    #[arg(long, global = true, value_name = "RULE,RULE")]
    pub disallowed_tools: Vec<String>,

    /// Look for the user's settings in this folder instead of `~/.claude`
    #[arg(long, global = true, value_name = "DIR")]
    pub config_dir: Option<PathBuf>,

    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,

    /// Tell more; may be repeated
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

fn mode_words() -> Vec<&'static str> {
    mcparley::model::permission::Mode::ALL.into_iter().map(|mode| mode.as_str()).collect()
}

/// A command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Commands about MCP servers; the same as without `mcp`
    #[command(subcommand_required = true, arg_required_else_help = true)]
    Mcp {
        /// The command.
        #[command(subcommand)]
        command: McpCommand,
    },
    /// The commands themselves.
    #[command(flatten)]
    Direct(McpCommand),
    /// Print the script that teaches a shell to complete commands, options and server names
    Completions {
        /// The shell.
        #[arg(value_enum)]
        shell: ShellArg,
    },
}

/// A command about MCP servers.
#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// Add a server
    Add(AddArgs),
    /// Add a server from its JSON entry
    AddJson(AddJsonArgs),
    /// Remove a server, and forget its sign-in
    Remove(RemoveArgs),
    /// Show one server: what it is, where it stands, what becomes of it
    Get(GetArgs),
    /// List the servers, one line each, with their health as it arrives
    List(ListArgs),
    /// Show the tools of the servers
    Tools(ToolsArgs),
    /// Find tools by what they do
    Search(SearchArgs),
    /// Show how much of a model's context the tools take
    Budget(BudgetArgs),
    /// Call a tool
    Call(CallArgs),
    /// Serve all servers to another program, as one MCP server
    Serve(ServeArgs),
    /// Show the resources of the servers
    Resources(ResourcesArgs),
    /// Print a resource
    Read(ReadArgs),
    /// Show the skills of the servers
    Skills(SkillsArgs),
    /// Show the prompts of the servers
    Prompts(PromptsArgs),
    /// Print what a prompt gives
    Prompt(PromptArgs),
    /// Wait until servers answer
    WaitReady(WaitReadyArgs),
    /// Connect anew to a server, here and in every running `serve`
    Reconnect(ReconnectArgs),
    /// Show everything that is known, as JSON
    State(StateArgs),
    /// Show what happened to servers, and what they wrote to their standard error
    Logs(LogsArgs),
    /// Find out why servers do not work, and what to do about it
    Doctor(DoctorArgs),
    /// Sign in to servers
    Login(LoginArgs),
    /// Sign out of servers
    Logout(LogoutArgs),
    /// Look at sign-ins, and set up who knows you
    Auth {
        /// What to do.
        #[command(subcommand)]
        command: AuthCommand,
    },
    /// Show what becomes of every declared server, and why
    Plan(PlanArgs),
    /// List the agents that files describe, with the servers they see and bring
    Agents(AgentsArgs),
    /// Switch a server on again
    Enable(EnableArgs),
    /// Switch a server off, or some of its tools
    Disable(DisableArgs),
    /// Show everything this folder brings that waits for approval, and approve it
    Trust(TrustArgs),
    /// Let a project's server run, as it is defined now
    Approve(ApproveArgs),
    /// Never let a project's server run
    Reject(RejectArgs),
    /// Forget every approval and rejection for this project
    ResetProjectChoices,
    /// Add the servers that another program has configured
    Import(ImportArgs),
    /// Look at hooks, and let those of a project run
    Hooks {
        /// What to do.
        #[command(subcommand)]
        command: HooksCommand,
    },
    /// Show the tools that were denied for want of permission, and the commands that allow them
    Pending,
    /// Look into permissions, and change them
    Permissions {
        /// What to do.
        #[command(subcommand)]
        command: PermissionsCommand,
    },
}

/// Add a server from its JSON entry
#[derive(Debug, Args)]
#[command(
    after_help = r#"Then the server is tried for up to five seconds, so that what it offers is known; the entry stays in any case.

Example:
  mcparley add-json api '{"type":"http","url":"https://example.com/mcp"}'"#
)]
pub struct AddJsonArgs {
    /// Where to add it
    #[arg(short, long, value_enum, default_value = "local")]
    pub scope: ScopeArg,

    /// Which file of the scope to write to [default: claude-json]
    #[arg(long, value_enum)]
    pub file: Option<FileArg>,

    /// Replace an entry of the same name and scope, in the file it stands in
    #[arg(long)]
    pub force: bool,

    /// Only write the entry, and do not try the server
    #[arg(long)]
    pub no_check: bool,

    /// Sign in with a secret too, which is kept in the vault and in no file
    ///
    /// It is taken from `MCP_CLIENT_SECRET`, asked for on a terminal, or else read from standard input.
    #[arg(long)]
    pub client_secret: bool,

    /// The server's name: letters, digits, `-` and `_`
    pub name: String,

    /// The entry, such as `{"type":"http","url":"https://example.com/mcp"}`; `-` reads it from standard input
    // Not called `json`: clap would take it for the global option of that name.
    #[arg(value_name = "JSON")]
    pub entry: String,
}

/// Remove a server, and forget its sign-in
///
/// If you are signed in to it, its tokens are given back first, unless another entry of that name needs them.
#[derive(Debug, Args)]
pub struct RemoveArgs {
    /// Where to remove it; needed only when it stands in several scopes
    #[arg(short, long, value_enum)]
    pub scope: Option<ScopeArg>,

    /// The server
    #[arg(add = ArgValueCandidates::new(complete::servers))]
    pub name: String,
}

/// Show one server
#[derive(Debug, Args)]
pub struct GetArgs {
    /// Whose view it is.
    #[command(flatten)]
    pub seen_by: SeenBy,

    /// The server
    #[arg(add = ArgValueCandidates::new(complete::servers))]
    pub name: String,

    /// Show secrets as they are written; only on a terminal
    #[arg(long)]
    pub show_secrets: bool,
}

/// List the servers
///
/// Reaches every server that may run, asks what it offers, and lets go of it again.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only read the configuration; connect to nothing
    #[arg(long)]
    pub offline: bool,

    /// Exit with code 9 when a server that may run does not work
    #[arg(long, conflicts_with = "offline")]
    pub check: bool,
}

/// Show what becomes of every declared server
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// Whose view it is.
    #[command(flatten)]
    pub seen_by: SeenBy,

    /// Exit with code 3 when a file or an entry cannot be used
    #[arg(long)]
    pub check: bool,
}

/// List the agents that files describe
///
/// Reads the markdown files in `~/.claude/agents` and in `.claude/agents` of the project; starts nothing.
#[derive(Debug, Args)]
pub struct AgentsArgs {}

/// Whose view of the servers it is.
#[derive(Clone, Debug, Default, Args)]
pub struct SeenBy {
    /// As this agent sees it: the shared servers it names, or all of them, and its own
    #[arg(long, value_name = "AGENT", add = ArgValueCandidates::new(complete::agents))]
    pub agent: Option<String>,
}

/// Switch a server on again
#[derive(Debug, Args)]
pub struct EnableArgs {
    /// The server, or `all`
    #[arg(add = ArgValueCandidates::new(complete::servers))]
    pub name: String,

    /// Switch only these of its tools on; `*` stands for any characters
    #[arg(value_name = "TOOL")]
    pub tools: Vec<String>,
}

/// Switch a server off, or some of its tools
#[derive(Debug, Args)]
pub struct DisableArgs {
    /// Where: for you in this project, or for you everywhere; for tools it is where the server's entry stands
    #[arg(short, long, value_enum, default_value = "local", conflicts_with = "tools")]
    pub scope: OwnScopeArg,

    /// The server, or `all`
    #[arg(add = ArgValueCandidates::new(complete::servers))]
    pub name: String,

    /// Switch only these of its tools off; `*` stands for any characters
    #[arg(value_name = "TOOL")]
    pub tools: Vec<String>,
}

/// Show everything a folder brings that waits for approval, and approve it
///
/// Servers, variables, hooks, rules that allow, servers of plugins and agents: as they are written and as they would run.
/// At a terminal it asks once; without one it approves nothing and ends with code 10, unless `--yes` is given.
///
/// Example: mcparley trust
#[derive(Debug, Args)]
pub struct TrustArgs {
    /// Approve without asking
    #[arg(short, long)]
    pub yes: bool,

    /// The folder; the current one unless given
    #[arg(value_hint = clap::ValueHint::DirPath)]
    pub folder: Option<PathBuf>,
}

/// Let a project's server run
///
/// It is shown first, whole; at a terminal you are asked. Without one, naming a server is consent enough, and `--all` needs
/// `--yes`.
#[derive(Debug, Args)]
pub struct ApproveArgs {
    /// Whose view it is.
    #[command(flatten)]
    pub seen_by: SeenBy,

    /// Approve only if the server is still this one, as `mcparley get` shows it
    #[arg(long, value_name = "sha256:…", conflicts_with = "all")]
    pub definition: Option<String>,

    /// Approve every server that waits for it
    #[arg(long, conflicts_with = "names")]
    pub all: bool,

    /// Approve without asking
    #[arg(short, long)]
    pub yes: bool,

    /// The servers
    #[arg(required_unless_present = "all", add = ArgValueCandidates::new(complete::pending_servers))]
    pub names: Vec<String>,
}

/// Never let a project's server run
#[derive(Debug, Args)]
pub struct RejectArgs {
    /// Whose view it is.
    #[command(flatten)]
    pub seen_by: SeenBy,

    /// Where to remember it: for you in this project, or for you everywhere
    #[arg(short, long, value_enum, default_value = "local")]
    pub scope: OwnScopeArg,

    /// The servers
    #[arg(required = true, add = ArgValueCandidates::new(complete::pending_servers))]
    pub names: Vec<String>,
}

/// Add the servers that another program has configured
///
/// Those of the user's own files are added for the user, everywhere; those of the project's files for the user in
/// this project.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Where to add them [default: user, and local for files of the project]
    #[arg(short, long, value_enum)]
    pub scope: Option<ScopeArg>,

    /// Which file of the scope to write to [default: claude-json]
    #[arg(long, value_enum)]
    pub file: Option<FileArg>,

    /// Read this file instead of the usual places; needs exactly one program
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,

    /// Take only this server; may be repeated
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,

    /// Add them without asking
    #[arg(short, long)]
    pub yes: bool,

    /// The programs to look at; all of them unless given
    #[arg(value_parser = program_words())]
    pub programs: Vec<String>,
}

fn program_words() -> Vec<&'static str> {
    mcparley::import::Program::ALL.into_iter().map(|program| program.as_str()).collect()
}
