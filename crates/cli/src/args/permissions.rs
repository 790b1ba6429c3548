//! Options of the commands about permissions.

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCandidates;

use super::ScopeArg;
use crate::complete;

/// Look into permissions, and change them
#[derive(Debug, Subcommand)]
pub enum PermissionsCommand {
    /// Explain what would be decided about a call, and which rule decides
    Test(PermissionsTestArgs),
    /// Show every rule, where it stands, and which tools it means
    List(PermissionsListArgs),
    /// Write a rule that allows tools
    Allow(AllowArgs),
    /// Write a rule that has a person asked about tools
    Ask(RuleArgs),
    /// Write a rule that denies tools
    Deny(RuleArgs),
    /// Remove a rule, whatever it says
    Remove(RemoveRuleArgs),
    /// Show the tools that have changed since they were first seen or last reviewed
    Review(ReviewArgs),
}

/// Explain what would be decided about a call
///
/// Rules and mode are asked as for a call of a model. What is remembered of the server says whether its tool has changed
/// since it was reviewed; no server is reached for it. Hooks are not asked: one may deny what is allowed here, or ask
/// about it.
#[derive(Debug, Args)]
pub struct PermissionsTestArgs {
    /// The server, or the tool's whole name `mcp__server__tool`
    #[arg(add = ArgValueCandidates::new(complete::servers))]
    pub server: String,

    /// The tool, unless the whole name was given
    pub tool: Option<String>,

    /// The call's arguments, as a JSON object
    #[arg(long, value_name = "JSON")]
    pub arguments: Option<String>,

    /// Judge as if the tool said it only reads
    #[arg(long)]
    pub read_only: bool,
}

/// Show every rule, where it stands, and which tools it means
///
/// Which tools there are is known from what is remembered of the servers; none is reached. A rule that can match
/// nothing is told with the reason.
#[derive(Debug, Args)]
pub struct PermissionsListArgs {}

/// Write a rule that allows tools
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley permissions allow mcp__files__read_file
  mcparley permissions allow 'mcp__db__query(sql:SELECT *)' -s user
  mcparley permissions allow mcp__files__write_file --as-is")]
pub struct AllowArgs {
    /// The rule.
    #[command(flatten)]
    pub rule: RuleArgs,

    /// Only as long as the tool is what it is now; asks its server what that is
    #[arg(long)]
    pub as_is: bool,
}

/// Write a rule
#[derive(Debug, Args)]
pub struct RuleArgs {
    /// The rule: `mcp__server__tool`, `mcp__server`, `*` in either part, and a condition such as `(path:/tmp/*)` behind it
    pub rule: String,

    /// Whose settings to write it to
    #[arg(short, long, value_enum, default_value = "local")]
    pub scope: ScopeArg,
}

/// Remove a rule, whatever it says
///
/// From your own settings and the project's; the administrator's are not touched.
#[derive(Debug, Args)]
pub struct RemoveRuleArgs {
    /// The rule as it is written
    pub rule: String,

    /// Only from these settings
    #[arg(short, long, value_enum)]
    pub scope: Option<ScopeArg>,
}

/// Show the tools that have changed since they were first seen or last reviewed
///
/// Asks the servers what they offer now, and shows what is different, line by line. Until a changed tool is accepted,
/// rules that allow it do not count; with `toolPin` set to `strict` it is not even offered. The exit code is 6 when
/// something is left to review.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley permissions review
  mcparley permissions review files --json
  mcparley permissions review files write_file --accept")]
pub struct ReviewArgs {
    /// Only this server
    #[arg(add = ArgValueCandidates::new(complete::servers))]
    pub server: Option<String>,

    /// Only this tool
    #[arg(requires = "server")]
    pub tool: Option<String>,

    /// Accept them as they are now
    #[arg(long)]
    pub accept: bool,
}
