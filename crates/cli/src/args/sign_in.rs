//! Options of the commands about sign-in.

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCandidates;

use crate::complete;

/// Sign in to servers
///
/// Connects first: a server that lets us in needs no sign-in. Otherwise its page is opened in your browser, and its
/// address is shown, for a browser elsewhere. Without names, all servers that want a sign-in, one after the other.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley login api
  mcparley login api --no-browser      # on a machine without one: paste the address the browser ends on
  mcparley login api --device          # type a code on another device
  mcparley login api --wait --json     # for programs: one line with the page, one with the result

Without a terminal, and with `--json`, nobody is asked and no page is opened, unless `--wait`, `--no-browser` or
`--device` is given: servers that want a sign-in are named under `pendingAuth`, and the exit code is 12.")]
pub struct LoginArgs {
    /// The servers; all that want a sign-in if none is named
    #[arg(add = ArgValueCandidates::new(complete::remote_servers))]
    pub servers: Vec<String>,

    /// Sign in again, though the server lets us in
    #[arg(long)]
    pub force: bool,

    /// Sign in on another device, with a code
    #[arg(long, conflicts_with = "no_browser")]
    pub device: bool,

    /// How to wait for the person.
    #[command(flatten)]
    pub wait: WaitArgs,
}

/// How to wait for a person.
#[derive(Clone, Debug, Default, Args)]
pub struct WaitArgs {
    /// Open no browser: show the address, and take the one the browser ended on from standard input
    #[arg(long)]
    pub no_browser: bool,

    /// Wait for the person also without a terminal
    #[arg(long)]
    pub wait: bool,

    /// How long to wait for the person, in milliseconds [default: as long as the page is good]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: Option<u64>,
}

/// Sign out of servers
///
/// Gives the tokens back to whoever gave them, as far as that is offered, and forgets them in any case. The secret of a
/// client that you registered yourself is kept until the server is removed.
#[derive(Debug, Args)]
pub struct LogoutArgs {
    /// The servers
    #[arg(required_unless_present = "all", add = ArgValueCandidates::new(complete::remote_servers))]
    pub servers: Vec<String>,

    /// All servers you are signed in to
    #[arg(long, conflicts_with = "servers")]
    pub all: bool,
}

/// Look at sign-ins, and set up who knows you
#[derive(Debug, Subcommand)]
pub enum AuthCommand {
    /// Show where you are signed in, until when and with which rights, and where that is kept
    Status(AuthStatusArgs),
    /// The identity provider that knows you, for servers that ask there (`xaa`)
    Idp {
        /// What to do.
        #[command(subcommand)]
        command: IdpCommand,
    },
}

/// Show where you are signed in
///
/// Asks no server. Tokens and secrets are never shown.
#[derive(Debug, Args)]
pub struct AuthStatusArgs {
    /// Only these servers
    #[arg(add = ArgValueCandidates::new(complete::remote_servers))]
    pub servers: Vec<String>,
}

/// The identity provider that knows you
#[derive(Debug, Subcommand)]
pub enum IdpCommand {
    /// Name it, in your settings (`xaaIdp`)
    Setup(IdpSetupArgs),
    /// Sign in there, once for all servers that ask there
    Login(WaitArgs),
    /// Show which one it is, and as whom you are signed in
    Status,
    /// Forget who you are there, its secret, and its name in your settings
    Clear,
}

/// Name the identity provider
#[derive(Debug, Args)]
pub struct IdpSetupArgs {
    /// Its name, a URL, exactly as it calls itself
    #[arg(long, value_name = "URL")]
    pub issuer: String,

    /// The id it knows this program by
    #[arg(long, value_name = "ID")]
    pub client_id: String,

    /// There is a secret too, which is kept in the vault and in no file
    ///
    /// It is taken from `MCP_CLIENT_SECRET`, asked for on a terminal, or else read from standard input.
    #[arg(long)]
    pub client_secret: bool,

    /// Use this port for the browser's way back
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub callback_port: Option<u16>,
}
