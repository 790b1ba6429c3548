//! An entry of our own format while it is being put together, and the order of its keys.

use serde_json::{Map, Value, json};

use super::oauth::OAuth;

/// A server as we will write it.
pub(super) struct Draft {
    pub(super) launch: Launch,
    /// The limit for one call of a tool, in milliseconds.
    pub(super) timeout: Option<u64>,
    pub(super) disabled_tools: Vec<String>,
    /// An empty list is kept: it enables nothing.
    pub(super) enabled_tools: Option<Vec<String>>,
    pub(super) oauth: Option<OAuth>,
}

/// How the server is reached.
pub(super) enum Launch {
    /// A process to start.
    Stdio { command: String, args: Vec<String>, env: Map<String, Value>, cwd: Option<String> },
    /// An address to call.
    Remote { transport: Transport, url: String, headers: Map<String, Value> },
}

/// A transport of our format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    /// A child process.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// The older HTTP with server-sent events.
    Sse,
    /// A web socket.
    Ws,
}

impl Transport {
    /// The transport an app calls `word`; apps differ in little but spelling.
    pub(super) fn parse(word: &str) -> Option<Self> {
        match word {
            "stdio" | "local" => Some(Self::Stdio),
            "http" | "streamable-http" | "streamable_http" | "streamableHttp" | "remote" => Some(Self::Http),
            "sse" => Some(Self::Sse),
            "ws" | "websocket" => Some(Self::Ws),
            _ => None,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
            Self::Ws => "ws",
        }
    }
}

impl Draft {
    /// A draft that says only how the server is reached.
    pub(super) fn new(launch: Launch) -> Self {
        Self { launch, timeout: None, disabled_tools: Vec::new(), enabled_tools: None, oauth: None }
    }

    /// The entry, its keys in the order we write them.
    pub(super) fn into_entry(self) -> Map<String, Value> {
        let Self { launch, timeout, disabled_tools, enabled_tools, oauth } = self;
        let mut entry = launch.into_entry();
        if let Some(timeout) = timeout {
            entry.insert("timeout".to_owned(), json!(timeout));
        }
        if !disabled_tools.is_empty() {
            entry.insert("disabledTools".to_owned(), json!(disabled_tools));
        }
        if let Some(enabled_tools) = enabled_tools {
            entry.insert("enabledTools".to_owned(), json!(enabled_tools));
        }
        if let Some(oauth) = oauth {
            entry.insert("oauth".to_owned(), Value::Object(oauth.into_entry()));
        }
        entry
    }
}

impl Launch {
    fn into_entry(self) -> Map<String, Value> {
        let mut entry = Map::new();
        match self {
            Self::Stdio { command, args, env, cwd } => {
                entry.insert("type".to_owned(), json!(Transport::Stdio.as_str()));
                entry.insert("command".to_owned(), json!(command));
                if !args.is_empty() {
                    entry.insert("args".to_owned(), json!(args));
                }
                if !env.is_empty() {
                    entry.insert("env".to_owned(), Value::Object(env));
                }
                entry.extend(cwd.map(|cwd| ("cwd".to_owned(), json!(cwd))));
            }
            Self::Remote { transport, url, headers } => {
                entry.insert("type".to_owned(), json!(transport.as_str()));
                entry.insert("url".to_owned(), json!(url));
                if !headers.is_empty() {
                    entry.insert("headers".to_owned(), Value::Object(headers));
                }
            }
        }
        entry
    }
}
