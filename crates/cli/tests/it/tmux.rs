//! Dialogs and the screen of the servers, driven by tmux: keys are sent, and the pane is captured.

mod approvals;
mod permissions;
mod questions;
mod screen;

use mcparley_testkit::TmuxSession;

use crate::world::World;

fn run(world: &World, args: &[&str]) -> TmuxSession {
    TmuxSession::start(&world.command(args), &world.root)
}

/// The text of a pane as one line: tmux wraps long ones.
fn unwrapped(pane: &str) -> String {
    pane.replace('\n', "")
}
