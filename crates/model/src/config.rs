//! What a server's entry says, typed: the shape everything behind the files works with.
//!
//! An entry goes through three forms. [`RawServer`] mirrors the file and keeps every place;
//! [`ServerConfig`] is expanded and validated, and cannot be wrong; [`Shown`] is what people may see of
//! it. The fields an entry may have are listed once, in [`field`].

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
mod typed;

use std::time::Duration;

use serde::{Serialize, Serializer};
use url::Url;

use crate::secret::Secret;

pub use error::{ConfigError, Problem};
pub use header::{is_header_name, is_reserved_header};
pub(crate) use mask::masked_arguments;
pub use mask::{Reveal, Shown, masked_text, secret_path_segments};
pub use oauth::{Grant, Held, Oauth, RawOauth};
pub use raw::{Hint, RawServer, Spanned};
pub use review::ReviewField;
pub use roots::{RawRoots, RootsPolicy};

/// One server, ready to be connected to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// How to reach it.
    pub transport: Transport,
    /// The time limit of one tool call; absent means the general one.
    pub timeout: Option<Duration>,
    /// After which idle time a local server is stopped; absent means never.
    pub idle_timeout: Option<Duration>,
    /// Whether its tools are always in the model's list.
    pub always_load: bool,
    /// Whether the host is not ready without it.
    pub required: bool,
    /// Which era of the protocol to speak.
    pub era: Era,
    /// Globs of the tools to offer; empty means all.
    pub enabled_tools: Vec<String>,
    /// Globs of the tools to withhold.
    pub disabled_tools: Vec<String>,
    /// The folders the server is told to work in.
    pub roots: RootsPolicy,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A child process that speaks on its standard streams.
    Stdio(Stdio),
    /// The old HTTP transport with an endless event stream.
    Sse(Remote),
    /// Streamable HTTP.
    Http(Remote),
    /// WebSocket.
    Ws(Remote),
    /// A server inside the embedding program.
    Sdk {
        /// The name the program registered it under.
        name: String,
    },
    /// An editor, over an event stream.
    SseIde(Ide),
    /// An editor, over a WebSocket.
    WsIde(Ide),
    /// A connector behind the organisation's proxy.
    ClaudeAiProxy {
        /// The proxy's address for it.
        url: Url,
        /// The connector's id at the organisation.
        id: String,
    },
}

/// A local server: what to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stdio {
    /// The program.
    pub command: String,
    /// Its arguments; they may hold tokens, so they do not print.
    pub args: Vec<Secret<String>>,
    /// Variables for the child, in the order they are written.
    pub env: Vec<(String, Secret<String>)>,
    /// Where to run it; absent means the project's folder.
    pub cwd: Option<String>,
    /// Whether the child sees the whole environment of the host.
    pub inherit_env: bool,
}

/// A remote server: where it is and how to be let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Its address. What was parsed and judged is what is connected to.
    pub url: Secret<Url>,
    /// Headers for every request, in the order they are written.
    pub headers: Vec<(String, Secret<String>)>,
    /// A command that prints more headers.
    pub headers_helper: Option<Secret<String>>,
    /// Settings for signing in.
    pub oauth: Option<Oauth>,
}

/// An editor that offers its own tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ide {
    /// Its address on this machine.
    pub url: Url,
    /// The editor's name.
    pub name: String,
    /// The token from its lock file.
    pub auth_token: Option<Secret<String>>,
}

/// The kinds of transport, as `type` names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
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

impl Kind {
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

    /// The word for it in a file.
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

    /// The kind a file's word means.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "streamable-http" => Some(Self::Http),
            _ => Self::ALL.into_iter().find(|kind| kind.as_str() == word),
        }
    }

    /// Whether only a running program can declare it, never a file.
    #[must_use]
    pub fn is_runtime_only(self) -> bool {
        match self {
            Self::Sdk | Self::SseIde | Self::WsIde | Self::ClaudeAiProxy => true,
            Self::Stdio | Self::Sse | Self::Http | Self::Ws => false,
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Which era of the protocol to speak with a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Era {
    /// Find out, and remember.
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

    /// The word for it in a file.
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
    /// A server of which only the transport is said; the rest is as usual.
    #[must_use]
    pub fn new(transport: Transport) -> Self {
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
        }
    }

    /// The kind of its transport.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match &self.transport {
            Transport::Stdio(_) => Kind::Stdio,
            Transport::Sse(_) => Kind::Sse,
            Transport::Http(_) => Kind::Http,
            Transport::Ws(_) => Kind::Ws,
            Transport::Sdk { .. } => Kind::Sdk,
            Transport::SseIde(_) => Kind::SseIde,
            Transport::WsIde(_) => Kind::WsIde,
            Transport::ClaudeAiProxy { .. } => Kind::ClaudeAiProxy,
        }
    }
}

#[cfg(test)]
mod tests;
