//! Options of the `permissions` commands.

use clap::{Args, Subcommand};

use super::{CompletionSource, ScopeArg};

/// Show, test and edit permission rules
#[derive(Debug, Subcommand)]
#[expect(
    missing_docs,
    reason = "the doc of the arguments is the help; clap would show that of the variant instead"
)]
pub enum PermissionsCommand {
    Test(PermissionsTestArgs),
    List(PermissionsListArgs),
    Allow(AllowArgs),
    /// Add a rule that asks before tools are called
    #[command(after_help = "Example:\n  mcparley permissions ask mcp__files__write_file")]
    Ask(RuleArgs),
    /// Add a rule that denies tools
    #[command(after_help = "Example:\n  mcparley permissions deny 'mcp__files__delete_*' -s project")]
    Deny(RuleArgs),
    Remove(RemoveRuleArgs),
    Review(ReviewArgs),
}

/// Test the permission for a call, and show the rule that decides
///
/// Evaluates rules and permission mode as for a call by a model. Whether the tool changed since its review is
/// read from the cache; no server is started. Hooks do not run, but those that a call would run are listed: a
/// hook may still deny a call that is allowed here, or ask.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley permissions test files.write_file
  mcparley permissions test db.query --arguments '{\"sql\": \"SELECT 1\"}'")]
pub struct PermissionsTestArgs {
    /// The server, or the tool as `server.tool` or `mcp__server__tool`
    #[arg(add = CompletionSource::Servers)]
    pub server: String,

    /// The tool, unless the first word names it
    pub tool: Option<String>,

    /// Arguments of the call, as a JSON object
    #[arg(long, value_name = "JSON")]
    pub arguments: Option<String>,

    /// Treat the tool as read-only
    #[arg(long)]
    pub read_only: bool,
}

/// List permission rules and the tools they match
///
/// Tools are read from the cache; no server is started. A rule that cannot match any tool is shown with the
/// reason.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mcparley permissions list --json")]
pub struct PermissionsListArgs {}

/// Add a rule that allows tools
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley permissions allow mcp__files__read_file
  mcparley permissions allow 'mcp__db__query(sql:SELECT *)' -s user
  mcparley permissions allow mcp__files__write_file --as-is")]
pub struct AllowArgs {
    /// The rule to add.
    #[command(flatten)]
    pub rule: RuleArgs,

    /// Allow the tool only while its definition is unchanged; connects to its server
    #[arg(long)]
    pub as_is: bool,
}

/// Add a permission rule
#[derive(Debug, Args)]
pub struct RuleArgs {
    /// The rule: `mcp__server__tool` or `mcp__server`, with `*` in either part, and an optional condition
    /// such as `(path:/tmp/*)`
    pub rule: String,

    /// Scope of the settings to write to
    #[arg(short, long, value_enum, default_value = "local")]
    pub scope: ScopeArg,
}

/// Remove a permission rule
///
/// Removes it from your own settings and those of the project. Managed settings are not changed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley permissions remove mcp__files__read_file
  mcparley permissions remove mcp__files__read_file -s project")]
pub struct RemoveRuleArgs {
    /// The rule, exactly as written in the settings
    pub rule: String,

    /// Remove the rule only from the settings of this scope
    #[arg(short, long, value_enum)]
    pub scope: Option<ScopeArg>,
}

/// Review tools that changed since they were first seen or last reviewed
///
/// Connects to the servers and shows the changes line by line. Until a changed tool is accepted, allow rules
/// do not apply to it; with `toolPin` set to `strict` it is not offered at all. The exit code is 6 if a
/// changed tool is left to review.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley permissions review
  mcparley permissions review files --json
  mcparley permissions review files write_file --accept")]
pub struct ReviewArgs {
    /// Only this server
    #[arg(add = CompletionSource::Servers)]
    pub server: Option<String>,

    /// Only this tool
    #[arg(requires = "server")]
    pub tool: Option<String>,

    /// Accept the changed tools
    #[arg(long)]
    pub accept: bool,
}
