//! Entry draft: an imported entry of our own format, with a fixed order of keys.

use serde_json::{Map, Value, json};

use super::oauth::DraftOAuth;

/// An entry in our format before it is written.
pub(super) struct EntryDraft {
    pub(super) launch: DraftLaunch,
    /// The timeout for one tool call, in milliseconds.
    pub(super) timeout: Option<u64>,
    pub(super) disabled_tools: Vec<String>,
    /// The allow-list of tools. An empty list is kept: it enables no tool.
    pub(super) enabled_tools: Option<Vec<String>>,
    pub(super) oauth: Option<DraftOAuth>,
}

/// The command or the URL of the server.
pub(super) enum DraftLaunch {
    /// A process to start.
    Stdio { command: String, args: Vec<String>, env: Map<String, Value>, cwd: Option<String> },
    /// A URL to connect to.
    Remote { transport: DraftTransport, url: String, headers: Map<String, Value> },
}

/// A transport of our format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DraftTransport {
    /// A child process.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// The older HTTP transport with server-sent events.
    Sse,
    /// A WebSocket.
    Ws,
}

impl DraftTransport {
    /// The transport that an app calls `word`; apps differ only in spelling.
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

impl EntryDraft {
    /// A draft with only the command or URL.
    pub(super) fn new(launch: DraftLaunch) -> Self {
        Self { launch, timeout: None, disabled_tools: Vec::new(), enabled_tools: None, oauth: None }
    }

    /// The JSON entry, with its keys in our order.
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

impl DraftLaunch {
    fn into_entry(self) -> Map<String, Value> {
        let mut entry = Map::new();
        match self {
            Self::Stdio { command, args, env, cwd } => {
                entry.insert("type".to_owned(), json!(DraftTransport::Stdio.as_str()));
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
