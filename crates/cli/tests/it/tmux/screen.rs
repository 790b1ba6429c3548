//! The screen of the servers: a failing server, its error, reconnect, disable and enable.

use mcparley_testkit::Key;
use serde_json::json;

use super::run;
use crate::screen::mendable;
use crate::world::World;

// U4 L1
#[test]
fn tmux_screen_shows_a_failure_reconnects_disables_and_enables() {
    let world = World::new();
    let config = json!({ "mcpServers": { "crm": { "command": mendable(&world) } } });
    world.write("home/.claude.json", &config.to_string());
    let session = run(&world, &["mcp"]);
    session.wait_for_text("failed   ");
    session.press_keys(&[Key::Left, Key::Left]);
    let pane = session.wait_for_text("no license found");
    assert!(pane.contains("exited with code 3"), "{pane}");
    world.write("mended", "");
    session.type_text("r");
    session.wait_for_text("crm is connected");
    session.type_text("e");
    session.wait_for_text("1 · 0 connected");
    assert_eq!(world.plan(), ["crm user disabled"]);
    session.type_text("e");
    session.wait_for_text("1 · 1 connected");
    assert_eq!(world.plan(), ["crm user ready"]);
    session.type_text("q");
    assert_eq!(session.wait_for_exit().0, 0);
}
