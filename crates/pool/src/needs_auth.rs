//! On-disk cache of servers that need a sign-in, so that they are not tried again for a while.
//!
//! One file for all processes of a user. It is only a hint: a process with credentials for a server tries it
//! anyway, and commands that check servers on purpose (`list`, `login`, `doctor`) ignore the cache.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use mcparley_model::limits::{NEEDS_AUTH_BYTES, NEEDS_AUTH_TIME};
use mcparley_model::name::ServerName;
use mcparley_model::signature::Signature;
use mcparley_model::time::unix_milliseconds;
use mcparley_platform::file::{self, Creation};
use serde_json::{Map, Value, json};

/// The file name, the same as in Claude Code.
const FILE: &str = "mcp-needs-auth-cache.json";

/// Cache of the servers that need a sign-in.
#[derive(Debug)]
pub struct NeedsAuthCache {
    path: PathBuf,
}

impl NeedsAuthCache {
    /// The cache in this folder.
    pub fn new(folder: &std::path::Path) -> Self {
        Self { path: folder.join(FILE) }
    }

    /// Whether the server needed a sign-in recently.
    pub fn is_recorded(&self, server: &ServerName, signature: &Signature, now: SystemTime) -> bool {
        let noted = self.read_entries();
        let Some(entry) = noted.get(server.as_str()) else { return false };
        entry.get("signature").and_then(Value::as_str) == Some(&signature.to_string()) && is_fresh(entry, now)
    }

    /// Records that the server needs a sign-in.
    pub fn record_need(&self, server: &ServerName, signature: &Signature, now: SystemTime) {
        let entry = json!({ "timestamp": unix_milliseconds(now), "signature": signature.to_string() });
        self.update_entries(now, |noted| {
            noted.insert(server.as_str().to_owned(), entry);
        });
    }

    /// Records that the server does not need a sign-in any more.
    pub fn clear_need(&self, server: &ServerName, now: SystemTime) {
        if self.read_entries().get(server.as_str()).is_some() {
            self.update_entries(now, |noted| {
                noted.shift_remove(server.as_str());
            });
        }
    }

    /// The contents of the file; empty if it cannot be read.
    fn read_entries(&self) -> Value {
        let text = file::read_text(&self.path, NEEDS_AUTH_BYTES).ok().flatten();
        text.and_then(|text| serde_json::from_str(&text.text).ok()).unwrap_or_default()
    }

    /// Updates the file under its lock, so that concurrent processes do not lose entries. A failed write is
    /// ignored: the server is tried again next time.
    fn update_entries(&self, now: SystemTime, change: impl FnOnce(&mut Map<String, Value>)) {
        let rewrite = |text: Option<&str>| {
            let read = text.and_then(|text| serde_json::from_str::<Value>(text).ok());
            // An unreadable file has no entries worth keeping.
            let mut noted = match read {
                Some(Value::Object(noted)) => noted,
                Some(_) | None => Map::new(),
            };
            noted.retain(|_, entry| is_fresh(entry, now));
            change(&mut noted);
            Ok::<_, std::convert::Infallible>(format!("{}\n", Value::Object(noted)))
        };
        let _unwritten = file::update_file(&self.path, Creation::PRIVATE, NEEDS_AUTH_BYTES, rewrite);
    }
}

/// Whether an entry is recent. Entries from the future come from a wrong clock and do not count.
fn is_fresh(entry: &Value, now: SystemTime) -> bool {
    let Some(then) = entry.get("timestamp").and_then(Value::as_u64) else { return false };
    let age = unix_milliseconds(now).checked_sub(then).map(Duration::from_millis);
    age.is_some_and(|age| age < NEEDS_AUTH_TIME)
}

#[cfg(test)]
mod tests;
