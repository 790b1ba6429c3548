//! Remembers which servers want a sign-in, so that none is asked again for a while (A4).
//!
//! A file that all processes of a user share. It is only a hint: who has credentials for a server asks it all the same,
//! and whoever looks at servers on purpose (`list`, `login`, `doctor`) does not look here at all.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use mcparley_model::limits::{NEEDS_AUTH_BYTES, NEEDS_AUTH_TIME};
use mcparley_model::name::ServerName;
use mcparley_model::signature::Signature;
use mcparley_platform::file::{self, Creation};
use serde_json::{Map, Value, json};

/// The file's name, as in the program people come from.
const FILE: &str = "mcp-needs-auth-cache.json";

/// Which servers want a sign-in.
#[derive(Debug)]
pub(crate) struct NeedsAuth {
    path: PathBuf,
}

impl NeedsAuth {
    /// The memory in this folder.
    pub(crate) fn new(folder: &std::path::Path) -> Self {
        Self { path: folder.join(FILE) }
    }

    /// Whether the server wanted a sign-in a short while ago.
    pub(crate) fn is_noted(&self, server: &ServerName, signature: &Signature, now: SystemTime) -> bool {
        let noted = self.noted();
        let Some(entry) = noted.get(server.as_str()) else { return false };
        entry.get("signature").and_then(Value::as_str) == Some(&signature.to_string()) && is_fresh(entry, now)
    }

    /// Takes down that it wants one.
    pub(crate) fn note(&self, server: &ServerName, signature: &Signature, now: SystemTime) {
        let entry = json!({ "timestamp": milliseconds(now), "signature": signature.to_string() });
        self.edit(now, |noted| {
            noted.insert(server.as_str().to_owned(), entry);
        });
    }

    /// Takes down that it does not any more.
    pub(crate) fn clear(&self, server: &ServerName, now: SystemTime) {
        if self.noted().get(server.as_str()).is_some() {
            self.edit(now, |noted| {
                noted.shift_remove(server.as_str());
            });
        }
    }

    /// What is remembered; nothing if it cannot be read.
    fn noted(&self) -> Value {
        let text = file::read(&self.path, NEEDS_AUTH_BYTES).ok().flatten();
        text.and_then(|text| serde_json::from_str(&text.text).ok()).unwrap_or_default()
    }

    /// Writers of several processes come one after the other. What cannot be written is asked again next time.
    fn edit(&self, now: SystemTime, change: impl FnOnce(&mut Map<String, Value>)) {
        let rewrite = |text: Option<&str>| {
            let read = text.and_then(|text| serde_json::from_str::<Value>(text).ok());
            // A file that nobody can read holds nothing that would be missed.
            let mut noted = match read {
                Some(Value::Object(noted)) => noted,
                Some(_) | None => Map::new(),
            };
            noted.retain(|_, entry| is_fresh(entry, now));
            change(&mut noted);
            Ok::<_, std::convert::Infallible>(format!("{}\n", Value::Object(noted)))
        };
        let _unwritten = file::update(&self.path, Creation::PRIVATE, NEEDS_AUTH_BYTES, rewrite);
    }
}

/// Entries of a clock that was wrong do not count.
fn is_fresh(entry: &Value, now: SystemTime) -> bool {
    let Some(then) = entry.get("timestamp").and_then(Value::as_u64) else { return false };
    let age = milliseconds(now).checked_sub(then).map(Duration::from_millis);
    age.is_some_and(|age| age < NEEDS_AUTH_TIME)
}

fn milliseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
