//! Commands that ask their user on a terminal: permissions, forms, pages and approvals, each driven by keys.

mod approvals;
mod forms;
mod pages;
mod permissions;

use mcparley_testkit::{ScriptedStdio, TerminalSession};
use serde_json::{Value, json};

use crate::talk::entry;
use crate::world::World;

/// A world on a real terminal, with these servers.
fn world_on_terminal(servers: &Value, settings: &Value) -> World {
    let mut world = World::with(&[
        ("home/.claude.json", &json!({ "mcpServers": servers }).to_string()),
        ("home/.claude/settings.json", &settings.to_string()),
    ]);
    world.set("TERM", "xterm-256color");
    world
}

fn run_on_terminal(world: &World, args: &[&str]) -> TerminalSession {
    TerminalSession::start(&world.command(args))
}

/// The entry of a server of 2025-11-25 that follows these scripts.
fn old_server(scripts: &[&str], options: &[(&str, &str)]) -> Value {
    let server = ScriptedStdio::new(scripts).with_option("--versions", "2025-11-25");
    entry(&options.iter().fold(server, |server, (name, value)| server.with_option(name, value)))
}
