//! Options of the sign-in commands: `login`, `logout`, `auth`.

use clap::{Args, Subcommand};

use super::CompletionSource;

/// Sign in to servers
///
/// Connects first; a server that accepts the connection needs no sign-in. Otherwise the sign-in page is
/// opened in your browser, and its URL is printed for a browser on another machine. Servers are signed in to
/// one after the other.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley login api
  mcparley login api --no-browser    # no browser here: paste the last URL
  mcparley login api --device        # enter a code on another device
  mcparley login api --wait --json   # for scripts: a line with the page first

Without a terminal, and with `--json`, no page is opened and no question is asked, unless `--wait`, `--no-browser` or
`--device` is given. Servers that need a sign-in are listed under `pendingAuth`, and the exit code is 12.")]
pub struct LoginArgs {
    /// The servers [default: all that need a sign-in]
    #[arg(add = CompletionSource::RemoteServers)]
    pub servers: Vec<String>,

    /// Sign in again, even if the server accepts the connection
    #[arg(long)]
    pub force: bool,

    /// Sign in on another device, with a code (OAuth device flow)
    #[arg(long, conflicts_with = "no_browser")]
    pub device: bool,

    /// The options for waiting.
    #[command(flatten)]
    pub wait: WaitArgs,
}

/// Options for waiting until the user has signed in.
#[derive(Clone, Debug, Default, Args)]
pub struct WaitArgs {
    /// Open no browser: print the URL, and read the URL of the last page from standard input
    #[arg(long)]
    pub no_browser: bool,

    /// Wait for the user even without a terminal
    #[arg(long)]
    pub wait: bool,

    /// Timeout in milliseconds [default: until the page expires]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: Option<u64>,
}

/// Sign out of servers
///
/// Revokes the tokens if the authorization server supports it, and deletes them in any case. The secret of an
/// OAuth client that you registered yourself is kept until the server is removed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley logout api
  mcparley logout --all")]
pub struct LogoutArgs {
    /// The servers
    #[arg(required_unless_present = "all", add = CompletionSource::RemoteServers)]
    pub servers: Vec<String>,

    /// Sign out of all servers
    #[arg(long, conflicts_with = "servers")]
    pub all: bool,
}

/// Show sign-ins and configure an identity provider
#[derive(Debug, Subcommand)]
#[expect(
    missing_docs,
    reason = "the doc of the arguments is the help; clap would show that of the variant instead"
)]
pub enum AuthCommand {
    Status(AuthStatusArgs),
    /// Configure the identity provider for servers with `xaa` in their entry
    ///
    /// Also as `mcparley mcp xaa setup`, `login`, `show` and `clear`, the names in Claude Code.
    #[command(after_help = "\
Examples:
  mcparley auth idp setup --issuer https://idp.example.com --client-id me
  mcparley auth idp login")]
    Idp {
        /// The command below `idp`.
        #[command(subcommand)]
        command: IdpCommand,
    },
}

/// Show the sign-ins to servers
///
/// Shows issuer, OAuth client, scopes and expiry of each sign-in, and the location of the vault. Connects to
/// no server. Tokens and secrets are never shown.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley auth status
  mcparley auth status api --json")]
pub struct AuthStatusArgs {
    /// Only these servers
    #[arg(add = CompletionSource::RemoteServers)]
    pub servers: Vec<String>,
}

/// Configure the identity provider for servers with `xaa` in their entry
#[derive(Debug, Subcommand)]
#[expect(
    missing_docs,
    reason = "the doc of the arguments is the help; clap would show that of the variant instead"
)]
pub enum IdpCommand {
    Setup(IdpSetupArgs),
    /// Sign in to the identity provider, once for all servers that use it
    #[command(after_help = "Example:\n  mcparley auth idp login")]
    Login(WaitArgs),
    /// Show the identity provider and the signed-in user
    #[command(after_help = "Example:\n  mcparley auth idp status --json")]
    Status,
    /// Remove the identity provider, its client secret and the sign-in
    #[command(after_help = "Example:\n  mcparley auth idp clear")]
    Clear,
}

/// Set the identity provider in your settings (`xaaIdp`)
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  mcparley auth idp setup --issuer https://idp.example.com --client-id me")]
pub struct IdpSetupArgs {
    /// Issuer URL, exactly as in the provider's metadata
    #[arg(long, value_name = "URL")]
    pub issuer: String,

    /// OAuth client id of mcparley at the provider
    #[arg(long, value_name = "ID")]
    pub client_id: String,

    /// Use an OAuth client secret, stored in the vault and never in a configuration file
    ///
    /// Reads the secret from `MCP_XAA_IDP_CLIENT_SECRET` or `MCP_CLIENT_SECRET`, from a prompt on a terminal,
    /// or from standard input.
    #[arg(long)]
    pub client_secret: bool,

    /// Port for the OAuth redirect
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub callback_port: Option<u16>,
}
