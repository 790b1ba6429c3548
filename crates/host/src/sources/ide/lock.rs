//! One lock file of an editor: `<port>.lock`, believed only if it is nobody else's.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use mcparley_model::limits::LOCK_FILE_BYTES;
use mcparley_model::secret::Secret;
use mcparley_model::text::{clean, cut};
use mcparley_platform::file::{Links, ReadError, read_private};
use serde_json::Value;

/// How much of an editor's name is kept.
const NAME_CHARS: usize = 64;

/// The longest token.
const TOKEN_CHARS: usize = 1024;

/// What a lock file says.
pub(super) struct Lock {
    /// Where it listens on this machine.
    pub(super) port: u16,
    pub(super) pid: u32,
    /// Whether the process is one of another system, and cannot be looked for here.
    pub(super) elsewhere: bool,
    pub(super) name: String,
    pub(super) folders: Vec<PathBuf>,
    pub(super) spoken: Spoken,
    pub(super) token: Secret<String>,
}

/// How an editor is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spoken {
    Sse,
    Ws,
}

/// Why a lock file leads to no editor.
pub(super) enum LockError {
    /// It is not read at all.
    Unreadable(ReadError),
    /// It is not believed, or makes no sense.
    Refused(&'static str),
    /// It is right, and of no use here.
    Passed(String),
}

/// Reads a lock file; `None` if there is nothing (any more).
pub(super) fn read(path: &Path) -> Result<Option<(Lock, SystemTime)>, LockError> {
    let read = read_private(path, LOCK_FILE_BYTES, Links::Refuse).map_err(LockError::Unreadable)?;
    let Some(read) = read else { return Ok(None) };
    let lock = parse(path, &read.text).map_err(LockError::Refused)?;
    Ok(Some((lock, read.modified)))
}

fn parse(path: &Path, text: &str) -> Result<Lock, &'static str> {
    let port = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
    let port = port.filter(|port| *port > 0).ok_or("its name is no port")?;
    let value: Value = serde_json::from_str(text).map_err(|_| "it is not JSON")?;
    let pid = value.get("pid").and_then(Value::as_u64).and_then(|pid| u32::try_from(pid).ok());
    let folders = value.get("workspaceFolders").and_then(Value::as_array).into_iter().flatten();
    Ok(Lock {
        port,
        pid: pid.ok_or("its `pid` is no process")?,
        elsewhere: value.get("runningInWindows") == Some(&Value::Bool(true)),
        name: name(value.get("ideName").and_then(Value::as_str)),
        folders: folders.filter_map(Value::as_str).map(PathBuf::from).collect(),
        spoken: spoken(value.get("transport"))?,
        token: token(value.get("authToken"))?,
    })
}

fn spoken(transport: Option<&Value>) -> Result<Spoken, &'static str> {
    match transport.map(Value::as_str) {
        Some(Some("ws")) => Ok(Spoken::Ws),
        Some(Some("sse")) | None => Ok(Spoken::Sse),
        Some(_) => Err("its `transport` is neither `ws` nor `sse`"),
    }
}

/// Without a token anybody on this machine could be the editor, or talk to it (CVE-2025-52882).
fn token(token: Option<&Value>) -> Result<Secret<String>, &'static str> {
    let token =
        token.and_then(Value::as_str).filter(|token| !token.is_empty()).ok_or("it has no `authToken`")?;
    // RFC 6750, 2.1; and never a variable of ours.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    match token.len() <= TOKEN_CHARS && token.bytes().all(is_plain) {
        true => Ok(Secret::new(token.to_owned())),
        false => Err("its `authToken` has characters that no token has"),
    }
}

/// On one line, and never a variable of ours.
fn name(written: Option<&str>) -> String {
    let name = clean(written.unwrap_or_default()).replace('$', "");
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.is_empty() { "an editor".to_owned() } else { cut(&name, NAME_CHARS).into_owned() }
}
