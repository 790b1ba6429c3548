//! Options of `serve`.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use mcparley::model::name::ServerName;
use mcparley::model::settings::{MergedSettings, TokenIssuer};
use mcparley_cluster::StoreAddress;
use mcparley_gateway::{GatewayMode, Naming};

use super::CompletionSource;

/// The maximum length of the name of a cluster or a gateway: that of a label in DNS.
const NAME_CHARS: usize = 63;

/// The condition under which tools are deferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DeferArg {
    /// If their definitions take more than 10,000 tokens, or as set in `ENABLE_TOOL_SEARCH`
    Auto,
    /// Always, except tools of servers with `alwaysLoad`
    Always,
    /// Never
    Never,
}

/// Serve all servers as one MCP server
///
/// Speaks MCP on standard input and output, with clients of every revision from 2024-11-05 to 2026-07-28,
/// until standard input closes; with `--http` or `--unix` over HTTP, until a signal ends it. Cached tools
/// are offered at once; a server starts when it is needed. Permission rules, modes and hooks apply to every
/// call. A permission question goes to the client that made the call; if the client cannot ask its user, the
/// call is denied.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley serve
  mcparley serve --only files --only search --permission-mode plan
  mcparley serve --tools 'files__read_*,search'
  mcparley serve --allowed-tools mcp__files --no-prefix
  mcparley serve --one files
  mcparley serve --tasks
  mcparley serve --http 8931 --ui
  mcparley serve --http 0.0.0.0:8931 --any-address --host tools.example.org
  mcparley serve --http 0.0.0.0:8931 --any-address --state redis://cache:6379
  mcparley serve --unix ~/.mcparley/serve.sock

To write it into the configuration of an agent: `mcparley connect CLIENT`")]
pub struct ServeArgs {
    /// Defer tools until a model searches for them
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    pub defer: DeferArg,

    /// Serve only this server; may be repeated
    #[arg(long, value_name = "SERVER", add = CompletionSource::Servers)]
    pub only: Vec<String>,

    /// Offer only these tools, as globs of `server`, `server__tool` or `mcp__server__tool`; may be repeated
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub tools: Vec<String>,

    /// Serve one server as it is: names, definitions, results, errors and instructions unchanged
    #[arg(long, value_name = "SERVER", add = CompletionSource::Servers,
        conflicts_with_all = ["only", "prefix", "no_prefix", "for_model", "defer"])]
    pub one: Option<String>,

    /// Offer names with this prefix; the default is `server__tool`
    #[arg(long, value_enum, value_name = "PREFIX", conflicts_with = "no_prefix")]
    pub prefix: Option<PrefixArg>,

    /// Offer bare names where they are unique, of all servers or of one (`--no-prefix=SERVER`, may be
    /// repeated)
    #[arg(long, value_name = "SERVER", num_args = 0..=1, require_equals = true, default_missing_value = "",
        add = CompletionSource::Servers)]
    pub no_prefix: Vec<String>,

    /// Apply the limits for models: short names, cut descriptions, stored results; the default, except
    /// with `--one` and over HTTP
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub for_model: Option<bool>,

    /// Keep hidden characters in definitions and results
    #[arg(long)]
    pub raw: bool,

    /// Let clients call any tool of a local server as a task, which goes on while they are away
    ///
    /// The daemon makes such calls, and keeps their results; it is started for them, also where it is not
    /// enabled. They ask no questions while they run.
    #[arg(long, conflicts_with = "one")]
    pub tasks: bool,

    /// The HTTP listeners
    #[command(flatten)]
    pub doors: DoorArgs,
}

/// The prefix of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PrefixArg {
    /// `mcp__server__tool`
    Mcp,
}

impl ServeArgs {
    /// The mode of the gateway.
    #[must_use]
    pub fn gateway_mode(&self) -> GatewayMode {
        if let Some(one) = &self.one {
            return GatewayMode::transparent(ServerName::new(one));
        }
        let is_bare = self.no_prefix.iter().any(String::is_empty);
        let naming = match (self.prefix, is_bare) {
            (Some(PrefixArg::Mcp), _) => Naming::Mcp,
            (None, true) => Naming::Bare,
            (None, false) => Naming::Server,
        };
        GatewayMode {
            one: None,
            naming,
            bare_servers: self.bare_servers().map(ServerName::new).collect(),
            // Clients over HTTP are programs as well as models.
            for_model: self.for_model.unwrap_or(!self.doors.is_used()),
            raw: self.raw,
            ..GatewayMode::default()
        }
    }

    /// The servers that are named after `--no-prefix`.
    pub fn bare_servers(&self) -> impl Iterator<Item = &str> {
        self.no_prefix.iter().map(String::as_str).filter(|name| !name.is_empty())
    }
}

/// Options of the HTTP listeners of `serve`.
#[derive(Debug, Args)]
#[command(next_help_heading = "HTTP", group = ArgGroup::new("door").args(["http", "unix"]).multiple(true))]
pub struct DoorArgs {
    /// Serve Streamable HTTP on this address or port, at `/mcp`; port 0 takes a free port
    ///
    /// Standard input is not read. Clients need the bearer token of the token file, which is created and
    /// shown at the first start.
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
    pub http: Option<SocketAddr>,

    /// Serve HTTP on a Unix socket that only this user can use; its folder must be private
    #[arg(long, value_name = "PATH")]
    pub unix: Option<PathBuf>,

    /// Serve HTTP+SSE of 2024-11-05 too, at `/sse`
    #[arg(long, requires = "door")]
    pub sse: bool,

    /// Serve the web page of the servers too, at `/ui/`, for the tokens of the gateway
    #[arg(long, requires = "http")]
    pub ui: bool,

    /// Allow an address that other machines can reach
    #[arg(long, requires = "http")]
    pub any_address: bool,

    /// Accept clients without a token
    #[arg(long, requires = "http", conflicts_with = "token_file")]
    pub no_token: bool,

    /// Use the tokens of this file, one `name:token` per line
    #[arg(long, value_name = "FILE", requires = "http")]
    pub token_file: Option<PathBuf>,

    /// Accept the access tokens of this issuer, in place of the default token file
    ///
    /// They are JSON Web Tokens, signed with the keys of the issuer's metadata. The setting `tokenIssuer` does
    /// the same.
    #[arg(long, value_name = "URL", requires = "http", conflicts_with = "no_token")]
    pub issuer: Option<String>,

    /// Require this audience of tokens: the URL of `/mcp`, as clients and the issuer know it
    #[arg(long, value_name = "URL", requires = "issuer")]
    pub audience: Option<String>,

    /// Require this scope of tokens of the issuer; may be repeated
    #[arg(long, value_name = "NAME", requires = "issuer")]
    pub scope: Vec<String>,

    /// Accept this name in the `Host` header, at this port if a proxy listens on another one; may be repeated
    #[arg(long, value_name = "NAME[:PORT]", requires = "http")]
    pub host: Vec<String>,

    /// The address under which browsers reach the gateway, if it stands behind a proxy
    ///
    /// Clients that sign in to a server are sent back to `/oauth/callback` below it.
    #[arg(long, value_name = "URL", requires = "http")]
    pub public_url: Option<url::Url>,

    /// Accept requests of web pages of this origin; may be repeated
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub allow_origin: Vec<String>,

    /// Limit the requests per second of each client token
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..), requires = "door")]
    pub rate: Option<u32>,

    /// Share sessions with other gateways through this Redis server: `redis://HOST:PORT/DATABASE`, or `rediss://`
    /// for TLS
    ///
    /// All gateways that use the same database are one cluster: a load balancer may send each request to any of
    /// them. They need the same configuration and the same tokens. A password in the address is better given in
    /// `MCPARLEY_STATE`.
    #[arg(long, value_name = "URL", value_parser = parse_state, requires = "door")]
    pub state: Option<StoreAddress>,

    /// Share the state of the cluster with this name: several clusters may use one database
    #[arg(long, value_name = "NAME", default_value = "main", value_parser = parse_name, requires = "door")]
    pub state_name: String,

    /// The name of this gateway in messages of the others; the default is its host name and its address
    #[arg(long, value_name = "NAME", value_parser = parse_name, requires = "door")]
    pub gateway_name: Option<String>,

    /// Seal ids with the key of this file, the same for all gateways; it is created if it is missing. Without it
    /// the key is in Redis
    #[arg(long, value_name = "FILE", requires = "door")]
    pub state_key_file: Option<PathBuf>,

    /// Answer `/readyz` with 503 while Redis is away
    #[arg(long, requires = "door")]
    pub state_required: bool,
}

impl DoorArgs {
    /// Whether clients connect over HTTP, in place of standard input.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.http.is_some() || self.unix.is_some()
    }

    /// The issuer of tokens, by the options or else by the settings.
    #[must_use]
    pub fn token_issuer(&self, settings: &MergedSettings) -> Option<TokenIssuer> {
        let named = self.issuer.clone().map(|issuer| {
            let (audience, scopes) = (self.audience.clone(), self.scope.clone());
            TokenIssuer { issuer, audience, scopes }
        });
        named.or_else(|| settings.token_issuer.as_ref().map(|set| set.value.clone()))
    }
}

fn parse_state(text: &str) -> Result<StoreAddress, String> {
    // The text may hold a password, so it is not in the message.
    StoreAddress::parse(text).map_err(|error| error.to_string())
}

/// Parses the name of a cluster or a gateway.
fn parse_name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    match (1..=NAME_CHARS).contains(&text.len()) && text.chars().all(is_plain) {
        true => Ok(text.to_owned()),
        false => Err(format!("write at most {NAME_CHARS} letters, digits, `-`, `_` and `.`")),
    }
}

/// Parses `ADDRESS:PORT`, `localhost:PORT` or a port of this machine.
fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost:").or_else(|| text.strip_prefix(':')).unwrap_or(text);
    if let Ok(port) = port.parse::<u16>() {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    text.parse()
        .map_err(|_| "write a port, such as `8931`, or an address, such as `127.0.0.1:8931`".to_owned())
}

#[cfg(test)]
mod tests {
    //! Addresses as people write them.
    use super::*;

    // G9
    #[test]
    fn name_of_a_cluster_has_only_characters_that_no_key_gives_a_meaning() {
        let longest = "x".repeat(NAME_CHARS);
        for name in ["main", "team-2", "gateway_7f9.example", longest.as_str()] {
            assert_eq!(parse_name(name).as_deref(), Ok(name));
        }
        for name in ["", "a:b", "{a}", "a b", "a*", &format!("{longest}x")] {
            assert!(parse_name(name).is_err(), "{name}");
        }
    }

    // G1 G4
    #[test]
    fn port_without_an_address_is_on_this_machine() {
        for text in ["8931", ":8931", "localhost:8931", "127.0.0.1:8931"] {
            assert_eq!(parse_address(text), Ok(SocketAddr::from(([127, 0, 0, 1], 8931))), "{text}");
        }
        assert_eq!(parse_address("[::1]:80"), Ok("[::1]:80".parse().unwrap()));
        for text in ["", "host:8931", "127.0.0.1", "99999", "http://127.0.0.1:8931"] {
            assert!(parse_address(text).is_err(), "{text}");
        }
    }
}
