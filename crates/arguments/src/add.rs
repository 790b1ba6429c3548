//! Options of `add`.

use clap::Args;

use super::{FileArg, ScopeArg};

/// Add a server
///
/// Writes the entry to a configuration file and then tries to connect for up to five seconds. The entry stays
/// even if the server does not answer.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley add files npx -y @modelcontextprotocol/server-filesystem .
  mcparley add -e API_KEY='${API_KEY}' search -- search-server --fast
  mcparley add api https://example.com/mcp -H 'Authorization: Bearer ${TOKEN}'
  mcparley add build https://example.com/mcp --client-id ci --client-secret

Put options before the command or at the very end. Every word after `--` belongs to the command. `-e` and `-H` take
several values, as in `-e A=1 B=2`. `${VAR}` is written to the file unchanged and expanded when the server starts.")]
pub struct AddArgs {
    /// The options of `add`.
    #[command(flatten)]
    pub options: AddOptions,

    /// Server name: letters, digits, `-` and `_`
    pub name: String,

    /// A command with its arguments, or a URL
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required = true,
        value_name = "COMMAND-or-URL"
    )]
    pub target: Vec<String>,
}

/// Options of `add`, which may precede or follow the command.
#[derive(Clone, Debug, Default, Args)]
pub struct AddOptions {
    /// Scope to add the server to [default: local]
    #[arg(short, long, value_enum)]
    pub scope: Option<ScopeArg>,

    /// Do not connect to the server after adding it
    #[arg(long)]
    pub no_check: bool,

    /// Set an environment variable for the command; may be repeated
    #[arg(short, long, value_name = "KEY=VALUE")]
    pub env: Vec<String>,

    /// Transport [default: detected from the URL, or stdio for a command]
    #[arg(short, long, value_parser = ["stdio", "http", "streamable-http", "sse", "ws"])]
    pub transport: Option<String>,

    /// Send a header with every request; may be repeated
    #[arg(short = 'H', long, value_name = "Key: Value")]
    pub header: Vec<String>,

    /// OAuth client id
    #[arg(long, value_name = "ID")]
    pub client_id: Option<String>,

    /// Use an OAuth client secret, stored in the vault and never in a configuration file
    ///
    /// Reads the secret from `MCP_CLIENT_SECRET`, from a prompt on a terminal, or from standard input.
    #[arg(long, requires = "client_id")]
    pub client_secret: bool,

    /// URL of an OAuth client metadata document, for authorization servers that accept it as client id
    #[arg(long, value_name = "URL", conflicts_with = "client_id")]
    pub client_metadata_url: Option<String>,

    /// OAuth grant type
    #[arg(long, value_parser = ["authorization_code", "client_credentials", "jwt-bearer"])]
    pub grant: Option<String>,

    /// PEM file with the private key for client authentication; readable only by you
    #[arg(long, value_name = "FILE", conflicts_with = "client_secret")]
    pub private_key_file: Option<String>,

    /// File with the assertion for `--grant jwt-bearer`; read again for every token request
    #[arg(long, value_name = "FILE")]
    pub assertion_file: Option<String>,

    /// OAuth scopes to request, separated by spaces
    #[arg(long, value_name = "SCOPES")]
    pub oauth_scopes: Option<String>,

    /// Port for the OAuth redirect
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub callback_port: Option<u16>,

    /// Sign in through the identity provider (cross-app access)
    #[arg(long)]
    pub xaa: bool,

    /// File of the scope to write to [default: claude-json]
    ///
    /// `claude-json` is `~/.claude.json`. It lies outside of the project, and Claude Code reads user and
    /// local servers only from there. A replaced entry stays in its file.
    #[arg(long, value_enum)]
    pub file: Option<FileArg>,

    /// Replace an existing entry of the same name and scope, in the file that has it
    #[arg(long)]
    pub force: bool,
}
