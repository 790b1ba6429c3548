//! Lock file of an editor, `<port>.lock`: trusted only if no other user can have written it.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use mcparley_model::limits::LOCK_FILE_BYTES;
use mcparley_model::secret::Secret;
use mcparley_model::text::{clean_text, truncate_text};
use mcparley_platform::file::{FileReadError, SymlinkPolicy, read_private};
use serde_json::Value;

/// The maximum length of an editor's name.
const NAME_CHARS: usize = 64;

/// The maximum length of a token.
const TOKEN_CHARS: usize = 1024;

/// The content of a lock file.
pub(super) struct EditorLock {
    /// The port on which the editor listens on this machine.
    pub(super) port: u16,
    pub(super) pid: u32,
    /// Whether the process runs on another system (Windows outside of WSL), where its pid cannot be checked.
    pub(super) elsewhere: bool,
    pub(super) name: String,
    pub(super) folders: Vec<PathBuf>,
    pub(super) transport: EditorTransport,
    pub(super) token: Secret<String>,
}

/// The transport of an editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EditorTransport {
    Sse,
    Ws,
}

/// The reason why a lock file leads to no editor.
pub(super) enum LockError {
    /// The file cannot be read.
    Unreadable(FileReadError),
    /// The file is not trusted or not valid.
    Refused(&'static str),
    /// The file is valid, but its editor is gone or has other folders open.
    Passed(String),
}

/// Reads a lock file; `None` if it does not exist any more.
pub(super) fn read_lock_file(path: &Path) -> Result<Option<(EditorLock, SystemTime)>, LockError> {
    let read = read_private(path, LOCK_FILE_BYTES, SymlinkPolicy::Refuse).map_err(LockError::Unreadable)?;
    let Some(read) = read else { return Ok(None) };
    let lock = parse_lock(path, &read.text).map_err(LockError::Refused)?;
    Ok(Some((lock, read.modified)))
}

fn parse_lock(path: &Path, text: &str) -> Result<EditorLock, &'static str> {
    let port = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
    let port = port.filter(|port| *port > 0).ok_or("its name is not a port")?;
    let value: Value = serde_json::from_str(text).map_err(|_| "it is not JSON")?;
    let pid = value.get("pid").and_then(Value::as_u64).and_then(|pid| u32::try_from(pid).ok());
    let folders = value.get("workspaceFolders").and_then(Value::as_array).into_iter().flatten();
    Ok(EditorLock {
        port,
        pid: pid.ok_or("its `pid` is not a process id")?,
        elsewhere: value.get("runningInWindows") == Some(&Value::Bool(true)),
        name: clean_name(value.get("ideName").and_then(Value::as_str)),
        folders: folders.filter_map(Value::as_str).map(PathBuf::from).collect(),
        transport: parse_transport(value.get("transport"))?,
        token: parse_token(value.get("authToken"))?,
    })
}

fn parse_transport(transport: Option<&Value>) -> Result<EditorTransport, &'static str> {
    match transport.map(Value::as_str) {
        Some(Some("ws")) => Ok(EditorTransport::Ws),
        Some(Some("sse")) | None => Ok(EditorTransport::Sse),
        Some(_) => Err("its `transport` is neither `ws` nor `sse`"),
    }
}

/// Parses the token, which is required.
///
/// Without it any process on this machine could pose as the editor, or connect to it (CVE-2025-52882).
fn parse_token(token: Option<&Value>) -> Result<Secret<String>, &'static str> {
    let token =
        token.and_then(Value::as_str).filter(|token| !token.is_empty()).ok_or("it has no `authToken`")?;
    // The characters of RFC 6750, section 2.1. They exclude `$`, so the token never expands as a variable.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    if token.len() <= TOKEN_CHARS && token.bytes().all(is_plain) {
        Ok(Secret::new(token.to_owned()))
    } else {
        Err("its `authToken` has invalid characters")
    }
}

/// Cleans an editor's name: on one line, and without `$`, so that it never expands as a variable.
fn clean_name(written: Option<&str>) -> String {
    let name = clean_text(written.unwrap_or_default()).replace('$', "");
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.is_empty() { "an editor".to_owned() } else { truncate_text(&name, NAME_CHARS).into_owned() }
}
