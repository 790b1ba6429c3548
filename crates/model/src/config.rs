//! The configuration of a server: its entry in a file, parsed, expanded and validated.
//!
//! An entry goes through three forms. [`RawServer`] mirrors the file and keeps the location of every value;
//! [`ServerConfig`] is expanded and validated, and cannot be invalid; [`DisplayedServer`] is the masked
//! form for people. The fields of an entry are listed once, in [`field`].

mod credentials;
mod error;
pub mod field;
mod header;
mod literal;
mod mask;
mod oauth;
mod raw;
mod review;
mod roots;
pub mod schema;
mod share;
mod typed;

use std::time::Duration;

use serde::{Serialize, Serializer};
use url::Url;

use crate::secret::Secret;

pub use credentials::CredentialPolicy;
pub use error::{ConfigError, ValueProblem};
pub use header::{is_header_name, is_reserved_header};
pub(crate) use mask::mask_arguments;
pub use mask::{DisplayedServer, SecretVisibility, mask_secrets, secret_path_segments};
pub use oauth::{ConfiguredGrant, ConfiguredSecret, OauthConfig, RawOauth};
pub use raw::{EntryHint, RawServer, Spanned};
pub use review::ReviewField;
pub use roots::{RawRoots, RootsPolicy};
pub use share::SharePolicy;

/// The validated configuration of one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// The transport that reaches the server.
    pub transport: TransportConfig,
    /// The timeout of one tool call; absent means the general one.
    pub timeout: Option<Duration>,
    /// The idle time after which a local server is stopped; absent means never.
    pub idle_timeout: Option<Duration>,
    /// Whether the server's tools are always in the model's list.
    pub always_load: bool,
    /// Whether the host is not ready without this server.
    pub required: bool,
    /// The protocol era to speak with the server.
    pub era: Era,
    /// Globs of the tools to offer; empty means all.
    pub enabled_tools: Vec<String>,
    /// Globs of the tools to withhold.
    pub disabled_tools: Vec<String>,
    /// The folders offered to the server as roots.
    pub roots: RootsPolicy,
    /// The clients that may use one process of a local server.
    pub share: SharePolicy,
    /// The sign-in that a gateway uses at a remote server.
    pub credentials: CredentialPolicy,
}

/// The transport that reaches a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransportConfig {
    /// A child process with JSON-RPC on its standard streams.
    Stdio(StdioConfig),
    /// The old HTTP transport with an endless event stream.
    Sse(RemoteConfig),
    /// Streamable HTTP.
    Http(RemoteConfig),
    /// WebSocket.
    Ws(RemoteConfig),
    /// A server inside the embedding program.
    Sdk {
        /// The name the program registered it under.
        name: String,
    },
    /// An editor, over an event stream.
    SseIde(IdeConfig),
    /// An editor, over a WebSocket.
    WsIde(IdeConfig),
    /// A connector behind the organization's proxy.
    ClaudeAiProxy {
        /// The proxy's address for this connector.
        url: Url,
        /// The connector's id at the organization.
        id: String,
    },
}

/// The configuration of a local server: the process to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StdioConfig {
    /// The program.
    pub command: String,
    /// The program's arguments; they may hold tokens, so they are never printed.
    pub args: Vec<Secret<String>>,
    /// Environment variables for the child, in the order they are written.
    pub env: Vec<(String, Secret<String>)>,
    /// The working directory; absent means the project's folder.
    pub cwd: Option<String>,
    /// Whether the child inherits the whole environment of the host.
    pub inherit_env: bool,
}

/// The configuration of a remote server: its address and its credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteConfig {
    /// The server's address, in the parsed form that policy checks and the transport connects to.
    pub url: Secret<Url>,
    /// Headers for every request, in the order they are written.
    pub headers: Vec<(String, Secret<String>)>,
    /// A command that prints more headers.
    pub headers_helper: Option<Secret<String>>,
    /// The OAuth sign-in settings.
    pub oauth: Option<OauthConfig>,
}

/// The configuration of an editor that serves its own tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdeConfig {
    /// The editor's address on this machine.
    pub url: Url,
    /// The editor's name.
    pub name: String,
    /// The token from the editor's lock file.
    pub auth_token: Option<Secret<String>>,
}

/// The kinds of transport, named as in the field `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TransportKind {
    /// `stdio`
    Stdio,
    /// `sse`
    Sse,
    /// `http`, also written `streamable-http`
    Http,
    /// `ws`
    Ws,
    /// `sdk`
    Sdk,
    /// `sse-ide`
    SseIde,
    /// `ws-ide`
    WsIde,
    /// `claudeai-proxy`
    ClaudeAiProxy,
}

impl TransportKind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Stdio,
        Self::Sse,
        Self::Http,
        Self::Ws,
        Self::Sdk,
        Self::SseIde,
        Self::WsIde,
        Self::ClaudeAiProxy,
    ];

    /// The word used in configuration files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Sse => "sse",
            Self::Http => "http",
            Self::Ws => "ws",
            Self::Sdk => "sdk",
            Self::SseIde => "sse-ide",
            Self::WsIde => "ws-ide",
            Self::ClaudeAiProxy => "claudeai-proxy",
        }
    }

    /// Parses the word used in configuration files.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "streamable-http" => Some(Self::Http),
            _ => Self::ALL.into_iter().find(|kind| kind.as_str() == word),
        }
    }

    /// Whether only a running program can declare this kind, never a file.
    #[must_use]
    pub fn is_runtime_only(self) -> bool {
        match self {
            Self::Sdk | Self::SseIde | Self::WsIde | Self::ClaudeAiProxy => true,
            Self::Stdio | Self::Sse | Self::Http | Self::Ws => false,
        }
    }
}

impl std::fmt::Display for TransportKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for TransportKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The protocol era to speak with a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Era {
    /// Detect the era, and remember it.
    #[default]
    Auto,
    /// Up to 2025-11-25: `initialize` and sessions.
    Old,
    /// From 2026-07-28: stateless.
    New,
}

impl Era {
    /// All choices.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Old, Self::New];

    /// The word used in configuration files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Old => "old",
            Self::New => "new",
        }
    }
}

impl ServerConfig {
    /// Builds a configuration from a transport, with defaults for all other fields.
    #[must_use]
    pub fn new(transport: TransportConfig) -> Self {
        Self {
            transport,
            timeout: None,
            idle_timeout: None,
            always_load: false,
            required: false,
            era: Era::Auto,
            enabled_tools: Vec::new(),
            disabled_tools: Vec::new(),
            roots: RootsPolicy::Offered,
            share: SharePolicy::Auto,
            credentials: CredentialPolicy::Auto,
        }
    }

    /// The kind of the server's transport.
    #[must_use]
    pub fn kind(&self) -> TransportKind {
        match &self.transport {
            TransportConfig::Stdio(_) => TransportKind::Stdio,
            TransportConfig::Sse(_) => TransportKind::Sse,
            TransportConfig::Http(_) => TransportKind::Http,
            TransportConfig::Ws(_) => TransportKind::Ws,
            TransportConfig::Sdk { .. } => TransportKind::Sdk,
            TransportConfig::SseIde(_) => TransportKind::SseIde,
            TransportConfig::WsIde(_) => TransportKind::WsIde,
            TransportConfig::ClaudeAiProxy { .. } => TransportKind::ClaudeAiProxy,
        }
    }
}

#[cfg(test)]
mod tests;
