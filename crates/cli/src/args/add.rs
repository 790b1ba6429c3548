//! Options of `add`.

use clap::Args;

use super::{FileArg, ScopeArg};

/// Add a server
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley add files npx -y @modelcontextprotocol/server-filesystem .
  mcparley add -e API_KEY='${API_KEY}' search -- search-server --fast
  mcparley add api https://example.com/mcp -H 'Authorization: Bearer ${TOKEN}'
  mcparley add build https://example.com/mcp --client-id ci --client-secret --grant client_credentials

Options stand before the command or at the very end; everything after `--` belongs to the command. `-e` and
`-H` take several values, as in `-e A=1 B=2`. `${VAR}` is written to the file as it is and replaced when the
server is used.")]
pub struct AddArgs {
    /// How to add it.
    #[command(flatten)]
    pub options: AddOptions,

    /// The server's name: letters, digits, `-` and `_`
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

/// How to add a server.
#[derive(Clone, Debug, Default, Args)]
pub struct AddOptions {
    /// Where to add it: for you in this project, for you everywhere, or for everyone in the project
    /// [default: local]
    #[arg(short, long, value_enum)]
    pub scope: Option<ScopeArg>,

    /// Only write the entry, and do not try the server
    #[arg(long)]
    pub no_check: bool,

    /// Set a variable for the command; may be repeated
    #[arg(short, long, value_name = "KEY=VALUE")]
    pub env: Vec<String>,

    /// How to reach it; found out from a URL unless given
    #[arg(short, long, value_parser = ["stdio", "http", "streamable-http", "sse", "ws"])]
    pub transport: Option<String>,

    /// Send a header with every request; may be repeated
    #[arg(short = 'H', long, value_name = "Key: Value")]
    pub header: Vec<String>,

    /// Sign in with this client id
    #[arg(long, value_name = "ID")]
    pub client_id: Option<String>,

    /// Sign in with a secret too, which is kept in the vault and in no file
    ///
    /// It is taken from `MCP_CLIENT_SECRET`, asked for on a terminal, or else read from standard input.
    #[arg(long, requires = "client_id")]
    pub client_secret: bool,

    /// Sign in as what this document describes, if the authorization server takes that
    #[arg(long, value_name = "URL", conflicts_with = "client_id")]
    pub client_metadata_url: Option<String>,

    /// What is shown for a token: the consent of a person, the client's own secret or key, or an assertion
    #[arg(long, value_parser = ["authorization_code", "client_credentials", "jwt-bearer"])]
    pub grant: Option<String>,

    /// Sign with this key, in PEM, that only you can read
    #[arg(long, value_name = "FILE", conflicts_with = "client_secret")]
    pub private_key_file: Option<String>,

    /// Show the assertion in this file, which is read whenever it is needed
    #[arg(long, value_name = "FILE")]
    pub assertion_file: Option<String>,

    /// Ask for these scopes, with blanks between them
    #[arg(long, value_name = "SCOPES")]
    pub oauth_scopes: Option<String>,

    /// Use this port for the browser's way back
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub callback_port: Option<u16>,

    /// Sign in across applications, through the identity provider
    #[arg(long)]
    pub xaa: bool,

    /// Which file of the scope to write to [default: claude-json]
    ///
    /// `claude-json` is `~/.claude.json`: it lies outside of the project, and Claude Code reads user and local
    /// servers nowhere else. An entry that is replaced stays in its file.
    #[arg(long, value_enum)]
    pub file: Option<FileArg>,

    /// Replace an entry of the same name and scope, in the file it stands in
    #[arg(long)]
    pub force: bool,
}
