//! Approval of a folder: some items, or none.

use mcparley_testkit::Key;
use serde_json::json;

use super::run;
use crate::world::World;

fn foreign_folder() -> World {
    let servers = json!({ "mcpServers": { "db": { "command": "db-mcp" }, "web": { "command": "web-mcp" } } });
    World::with(&[("home/project/.mcp.json", &servers.to_string())])
}

// C17 U4
#[test]
fn tmux_approval_is_given_to_the_checked_items() {
    let world = foreign_folder();
    let session = run(&world, &["trust"]);
    session.wait_for_text("Enter approve 0");
    session.type_text(" ");
    session.wait_for_text("Enter approve 1");
    session.press_keys(&[Key::Enter]);
    let (code, pane) = session.wait_for_exit();
    assert!(code == 0 && pane.contains("1 of 2 approved"), "{pane}");
    assert_eq!(world.plan(), ["web project needs approval", "db project ready"]);
}

// C17 U4
#[test]
fn tmux_approval_is_given_to_nothing_on_escape() {
    let world = foreign_folder();
    let session = run(&world, &["trust"]);
    session.wait_for_text("Esc nothing");
    session.press_keys(&[Key::Escape]);
    let (code, pane) = session.wait_for_exit();
    assert_eq!(code, 10, "{pane}");
    assert_eq!(world.plan(), ["web project needs approval", "db project needs approval"]);
}
