//! Large files load or are refused quickly, never in quadratic time (B55).

use std::time::{Duration, Instant};

use crate::world::{World, servers};

/// Two seconds are promised; a busy machine without optimisation gets more.
const GENEROUS: Duration = Duration::from_secs(10);

// B55
#[test]
fn ten_thousand_servers_load_in_time() {
    let names: Vec<String> = (0..10_000).map(|index| format!("server-{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let world = World::with(&[("home/project/.mcp.json", &servers(&names))]);
    world.write("managed/managed-settings.json", r#"{"enableAllProjectMcpServers": true}"#);
    let start = Instant::now();
    assert_eq!(world.load().plan.ready_servers().count(), 10_000);
    assert!(start.elapsed() < GENEROUS, "{:?}", start.elapsed());
}

// B55
#[test]
fn a_file_beyond_the_limit_is_refused_in_time_and_the_others_load() {
    let world = World::with(&[("home/.claude/settings.json", &servers(&["good"]))]);
    let filler = "x".repeat(20 * 1024 * 1024);
    world.write("home/.claude.json", &format!(r#"{{"filler": "{filler}"}}"#));
    let start = Instant::now();
    assert_eq!(world.table(), ["user good ready"]);
    assert!(start.elapsed() < GENEROUS, "{:?}", start.elapsed());
    let problem = world.problems().remove(0);
    assert!(problem.ends_with("is larger than 16777216 bytes"), "{problem}");
}

// B55
#[test]
fn one_very_long_line_loads_in_time() {
    let arguments: Vec<String> = (0..100_000).map(|index| format!(r#""argument-{index}""#)).collect();
    let text =
        format!(r#"{{"mcpServers": {{"it": {{"command": "x", "args": [{}]}}}}}}"#, arguments.join(","));
    assert!(text.len() > 1024 * 1024);
    let world = World::with(&[("home/.claude.json", &text)]);
    let start = Instant::now();
    assert_eq!(world.table(), ["user it ready"]);
    assert!(start.elapsed() < GENEROUS, "{:?}", start.elapsed());
}
