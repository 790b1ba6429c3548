//! What tests of the commands that talk to servers have in common.

use std::path::Path;

use mcparley_testkit::{ScriptedStdio, log_lines};
use serde_json::{Value, json};

use crate::world::World;

pub(crate) const VERSIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

pub(crate) fn entry(scripted: &ScriptedStdio) -> Value {
    json!({"command": scripted.program, "args": scripted.args})
}

pub(crate) fn scripted(scripts: &[&str]) -> Value {
    entry(&ScriptedStdio::new(scripts))
}

/// A world with these servers.
pub(crate) fn world(servers: &Value) -> World {
    World::with(&[("home/.claude.json", &json!({"mcpServers": servers}).to_string())])
}

/// A world with one correct server, called `good`.
pub(crate) fn good() -> World {
    world(&json!({"good": scripted(&[])}))
}

/// What a local server with this log has heard so far of this method; nothing before it has started.
pub(crate) fn heard(log: &Path, method: &str) -> Vec<Value> {
    let lines = if log.exists() { log_lines(log) } else { Vec::new() };
    // The newest line may be on its way still.
    let messages = lines.iter().filter_map(|line| serde_json::from_str::<Value>(&line.text).ok());
    messages.filter(|message| message["method"] == method).collect()
}
