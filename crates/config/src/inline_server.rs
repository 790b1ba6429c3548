//! Server that is written in one word of a command line: `NAME=COMMAND`, `NAME=URL` or `NAME=JSON`.

#[cfg(test)]
mod tests;

use mcparley_model::explain::Explain;
use serde_json::{Map, Value, json};

/// Schemes of URLs that servers are reached at.
const SCHEMES: [&str; 4] = ["http", "https", "ws", "wss"];

/// Programs that run another program, which is the one that names a server.
const RUNNERS: [&str; 17] = [
    "npx", "bunx", "pnpx", "uvx", "pnpm", "npm", "yarn", "bun", "uv", "pipx", "docker", "podman", "node",
    "deno", "python", "python3", "env",
];

/// Words between a runner and the program that it runs.
const RUNNER_WORDS: [&str; 6] = ["run", "exec", "dlx", "x", "tool", "container"];

/// Names of files and folders of a build, which say nothing about the program.
const BUILD_NAMES: [&str; 7] = ["index", "main", "dist", "build", "src", "bin", "lib"];

/// A server of one run, as text: a name and a command, a URL, or an entry in JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct InlineServer {
    name: String,
    entry: Map<String, Value>,
}

/// The reason why a text is not `NAME=COMMAND-or-URL`.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InlineServerError {
    /// The text has no name.
    #[error("missing name of the server")]
    NameMissing,
    /// Nothing follows the name.
    #[error("missing command or URL of server `{name}`")]
    TargetMissing {
        /// The server.
        name: String,
    },
    /// A quote of the command is never closed.
    #[error("a quote in the command of server `{name}` is never closed")]
    OpenQuote {
        /// The server.
        name: String,
    },
    /// The entry is not JSON.
    #[error("the entry of server `{name}` is not a JSON object")]
    NotJson {
        /// The server.
        name: String,
    },
}

impl Explain for InlineServerError {
    fn hint(&self) -> Option<String> {
        Some(
            "write it like `--mcp-server 'files=npx -y server-files .'` or `api=https://example.com/mcp`"
                .to_owned(),
        )
    }
}

impl InlineServer {
    /// A local server with this command line; its name is that of the program or package.
    #[must_use]
    pub fn from_command(words: &[String]) -> Option<Self> {
        let (command, args) = words.split_first()?;
        Some(Self { name: command_name(command, args), entry: local_entry(command, args) })
    }

    /// A server at this URL, named by its host; `None` if the word is no URL of a server.
    #[must_use]
    pub fn from_url(word: &str) -> Option<Self> {
        let (scheme, rest) = word.split_once("://")?;
        if !SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
            return None;
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        let host = host.trim_start_matches("www.").split(':').next().unwrap_or_default();
        Some(Self { name: to_name(host), entry: remote_entry(word) })
    }

    /// Parses `NAME=COMMAND`, `NAME=URL` or `NAME={…}`. A command is split like a shell splits it, and nothing
    /// in it is expanded.
    ///
    /// # Errors
    /// The text has no name, no command, an open quote, or JSON that is not an object.
    pub fn parse(text: &str) -> Result<Self, InlineServerError> {
        let (name, target) = text.split_once('=').ok_or(InlineServerError::NameMissing)?;
        let (name, target) = (name.trim().to_owned(), target.trim());
        if name.is_empty() {
            return Err(InlineServerError::NameMissing);
        }
        if target.starts_with('{') {
            return match serde_json::from_str(target) {
                Ok(Value::Object(entry)) => Ok(Self { name, entry }),
                Ok(_) | Err(_) => Err(InlineServerError::NotJson { name }),
            };
        }
        if let Some(Self { entry, .. }) = Self::from_url(target) {
            return Ok(Self { name, entry });
        }
        let Some(words) = shlex::split(target) else { return Err(InlineServerError::OpenQuote { name }) };
        match words.split_first() {
            Some((command, args)) => Ok(Self { entry: local_entry(command, args), name }),
            None => Err(InlineServerError::TargetMissing { name }),
        }
    }

    /// The name of the server.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text that [`InlineServer::parse`] reads back, word by word.
    #[must_use]
    pub fn to_text(&self) -> String {
        format!("{}={}", self.name, Value::Object(self.entry.clone()))
    }

    /// The JSON document that a file with this server would contain.
    pub(crate) fn to_document(&self) -> String {
        json!({ "mcpServers": { self.name.as_str(): self.entry } }).to_string()
    }
}

fn local_entry(command: &str, args: &[String]) -> Map<String, Value> {
    into_object(json!({ "type": "stdio", "command": command, "args": args }))
}

fn remote_entry(url: &str) -> Map<String, Value> {
    into_object(json!({ "type": url_transport(url), "url": url }))
}

/// The transport for a URL: `ws` by its scheme, SSE by a path that ends with `/sse`, otherwise HTTP.
#[must_use]
pub fn url_transport(url: &str) -> &'static str {
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    let path = rest.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    if scheme.eq_ignore_ascii_case("ws") || scheme.eq_ignore_ascii_case("wss") {
        "ws"
    } else if path.ends_with("/sse") {
        "sse"
    } else {
        "http"
    }
}

fn into_object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}

/// The name for a command: that of the package or script behind a runner such as `npx`, otherwise that of
/// the program.
fn command_name(command: &str, args: &[String]) -> String {
    let program = command.rsplit('/').next().unwrap_or_default();
    let is_target = |word: &&String| {
        !word.starts_with('-') && !RUNNER_WORDS.contains(&word.as_str()) && !word.contains('=')
    };
    let target = if RUNNERS.contains(&program) { args.iter().find(is_target) } else { None };
    let parts: Vec<&str> = target.map_or(program, String::as_str).rsplit('/').map(bare_name).collect();
    let is_name = |part: &&&str| !part.trim_matches('.').is_empty() && !BUILD_NAMES.contains(part);
    to_name(parts.iter().find(is_name).or_else(|| parts.first()).unwrap_or(&""))
}

/// A part of a path without its version (`server@1.2`, `image:tag`) and without the extension of a script.
fn bare_name(part: &str) -> &str {
    let bare = part.split(['@', ':']).find(|part| !part.is_empty()).unwrap_or_default();
    let scripts = [".js", ".mjs", ".cjs", ".ts", ".py", ".sh"];
    scripts.iter().find_map(|ending| bare.strip_suffix(ending)).unwrap_or(bare)
}

/// The text as a server name: letters, digits, `-` and `_`.
fn to_name(text: &str) -> String {
    let is_allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_');
    let name: String =
        text.chars().map(|character| if is_allowed(character) { character } else { '-' }).take(64).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "server".to_owned() } else { name.to_owned() }
}
