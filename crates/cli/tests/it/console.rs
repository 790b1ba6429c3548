//! `mcparley` alone on a terminal: the console, driven by keys and read from its screen.

mod commands;
mod model;

use std::path::PathBuf;
use std::time::Duration;

use mcparley_cli::exit;
use mcparley_testkit::{Key, ScriptedStdio, TerminalSession, processes_tagged};
use serde_json::json;

use crate::talk::{entry, good, heard, scripted, world};
use crate::world::{World, wait_for};

/// Longer than a loaded machine takes to start a program.
const PATIENCE: Duration = Duration::from_secs(20);

const HISTORY: &str = "home/.local/state/mcparley/history.txt";

/// Opens the console in this world, and waits for its prompt.
pub(crate) fn open(world: &mut World) -> TerminalSession {
    open_with(world, &[])
}

fn open_with(world: &mut World, args: &[&str]) -> TerminalSession {
    world.set("TERM", "xterm");
    let session = TerminalSession::start(&world.command(args));
    session.wait_until("a prompt", |screen| screen.lines().any(|line| line.trim_end() == ">"));
    session
}

/// Enters a line at an empty prompt and waits for a text of its output.
pub(crate) fn enter(session: &mut TerminalSession, line: &str, expected: &str) -> String {
    wait_for_prompt(session);
    session.enter_line(line);
    session.wait_for_text(expected)
}

/// Waits until the console reads lines again: an empty prompt is the last line.
pub(crate) fn wait_for_prompt(session: &TerminalSession) -> String {
    session.wait_until("an empty prompt at the end", |screen| {
        screen.lines().last().is_some_and(|line| line.trim_end() == ">")
    })
}

/// A server with a prompt that takes arguments, a resource and completion.
fn offering(world: &World) -> ScriptedStdio {
    let argument = |name: &str| json!({ "name": name, "description": "A name", "required": true });
    let offers = json!({
        "prompts/list": { "prompts": [{ "name": "greet", "description": "Say hello", "arguments": [argument("who"), argument("how")] }] },
    });
    world.write("offers.json", &offers.to_string());
    let path: PathBuf = world.root.join("offers.json");
    ScriptedStdio::new(&["completions", &format!("offers:{}", path.display())])
}

// U4
#[test]
fn console_greets_with_the_servers_and_leaves_on_ctrl_d_without_leftovers() {
    let tag = format!("console-{}", std::process::id());
    let server = ScriptedStdio::new(&[]).with_option("--tag", &tag);
    let mut world =
        world(&json!({ "good": entry(&server), "bad": { "command": "false" }, "off": scripted(&[]) }));
    world.ok(&["disable", "off"]);
    let mut session = open(&mut world);
    enter(&mut session, "good.echo message=hi", "\nhi\n");
    wait_for_prompt(&session);
    session.press_keys(&[Key::Ctrl('d')]);
    assert_eq!(session.wait_for_exit().0, 0);
    // The lists are cached now, so nothing has to be started for the greeting.
    let mut session = open(&mut world);
    let screen = session.screen_text();
    assert!(screen.starts_with("mcparley 0.1 · 3 servers: 1 ready, "), "{screen}");
    // A longer state of the failing server moves the last part to the next line.
    let parts = ["1 disabled (off)", "model: none", "/help"];
    assert!(parts.iter().all(|part| screen.contains(part)), "{screen}");
    enter(&mut session, "good.echo message=hi", "\nhi\n");
    assert!(!processes_tagged(&tag).is_empty());
    wait_for_prompt(&session);
    session.press_keys(&[Key::Ctrl('d')]);
    let (code, screen) = session.wait_for_exit();
    assert_eq!(code, i32::from(exit::OK.number), "{screen}");
    wait_for("the end of the server", PATIENCE, || processes_tagged(&tag).is_empty());
}

// U4: in scripts nothing changes.
#[test]
fn without_a_terminal_the_help_is_printed_as_ever() {
    let world = good();
    let done = world.mcparley(&[]);
    assert_eq!(done.code, i32::from(exit::USAGE.number), "{done:?}");
    assert!(done.err.contains("Usage: mcparley"), "{done:?}");
    let options_only = world.mcparley(&["--strict-mcp-config"]);
    assert_eq!(options_only.code, i32::from(exit::USAGE.number), "{options_only:?}");
}

// U4
#[test]
fn global_options_choose_the_servers_of_the_console_and_of_its_commands() {
    let mut world = World::new();
    let servers = json!({ "mcpServers": { "here": scripted(&[]) } });
    world.write("home/project/x.json", &servers.to_string());
    let mut session = open_with(&mut world, &["--mcp-config", "x.json"]);
    enter(&mut session, "here.add a=40 b=2", "\n42\n");
    wait_for_prompt(&session);
    enter(&mut session, "/tools here", "echo(message: string)");
}

// U4
#[test]
fn typed_calls_in_every_form_print_result_and_duration() {
    let mut world = good();
    let mut session = open(&mut world);
    for line in ["good.add a=40 b=2", "good add {\"a\": 40, \"b\": 2}", "mcp__good__add --a 40 --b 2"] {
        let screen = enter(&mut session, line, "\n42\n");
        assert!(screen.contains(line), "{screen}");
        session.wait_until("a duration", |screen| screen.contains(" ms\n>"));
        wait_for_prompt(&session);
        enter(&mut session, "/clear", ">");
        session.wait_until_gone("42");
    }
    enter(&mut session, "good.fail", "error: the tool returned an error");
    let calls = enter(&mut session, "/calls", "tool error\n>");
    assert_eq!(calls.matches("good.add ").count(), 3, "{calls}");
}

// U4
#[test]
fn long_results_are_folded_and_ctrl_o_shows_all_of_them() {
    let mut world = good();
    let mut session = open(&mut world);
    enter(&mut session, "good.big bytes=4000", "more lines (Ctrl-O or /last shows all)");
    let folded = wait_for_prompt(&session);
    assert_eq!(folded.lines().filter(|line| line.len() == 80).count(), 20, "{folded}");
    session.type_text("unfinished");
    session.wait_for_text("> unfinished");
    session.press_keys(&[Key::Ctrl('o')]);
    session.wait_until_gone("more lines");
    // The typed text is still there.
    session.wait_for_text("> unfinished");
}

// U4 K2: the server hears that nobody waits any more.
#[test]
fn ctrl_c_cancels_the_running_call_and_the_console_lives_on() {
    let mut world = World::new();
    let log = world.root.join("log");
    let servers = json!({ "mcpServers": { "slow": entry(&ScriptedStdio::new(&[]).with_log(&log)) } });
    world.write("home/.claude.json", &servers.to_string());
    let mut session = open(&mut world);
    enter(&mut session, "slow.slow ms=60000", "calling slow.slow … ");
    session.press_keys(&[Key::Ctrl('c')]);
    session.wait_for_text("canceled slow.slow after ");
    wait_for("the cancellation", PATIENCE, || heard(&log, "notifications/cancelled").len() == 1);
    wait_for_prompt(&session);
    enter(&mut session, "slow.echo message=alive", "\nalive\n");
    wait_for_prompt(&session);
    session.press_keys(&[Key::Ctrl('c')]);
    session.wait_for_text("press Ctrl-C again, or Ctrl-D, to leave");
    wait_for_prompt(&session);
    session.press_keys(&[Key::Ctrl('c')]);
    assert_eq!(session.wait_for_exit().0, 0);
}

// U4
#[test]
fn ctrl_c_that_canceled_a_call_does_not_count_for_leaving() {
    let mut world = good();
    let mut session = open(&mut world);
    enter(&mut session, "good.slow ms=60000", "calling good.slow … ");
    session.press_keys(&[Key::Ctrl('c')]);
    session.wait_for_text("canceled good.slow after ");
    wait_for_prompt(&session);
    session.press_keys(&[Key::Ctrl('c')]);
    session.wait_for_text("press Ctrl-C again, or Ctrl-D, to leave");
    enter(&mut session, "good.echo message=alive", "\nalive\n");
}

// U4
#[test]
fn lines_typed_while_a_call_runs_are_all_carried_out() {
    let mut world = good();
    let mut session = open(&mut world);
    enter(&mut session, "good.slow ms=1000", "calling good.slow … ");
    session.enter_line("good.echo message=one");
    session.enter_line("good.echo message=two");
    session.type_text("/ca");
    session.wait_for_text("\none\n");
    session.wait_for_text("\ntwo\n");
    session.wait_for_text("\n> /ca");
}

// U4
#[test]
fn progress_of_a_call_is_one_line() {
    let mut world = good();
    let mut session = open(&mut world);
    let screen = enter(&mut session, "good.slow ms=3000", " % · ");
    assert!(screen.contains("calling good.slow … "), "{screen}");
    session.wait_for_text("\ndone\n");
    session.wait_until_gone("calling good.slow");
}

// U4
#[test]
fn history_is_private_and_lasts_across_runs() {
    let mut world = good();
    let mut session = open(&mut world);
    enter(&mut session, "good.echo message=remembered", "\nremembered\n");
    wait_for_prompt(&session);
    session.enter_line(" good.echo message=secret");
    session.wait_for_text("\nsecret\n");
    enter(&mut session, "/quit", "/quit");
    assert_eq!(session.wait_for_exit().0, 0);
    let history = world.root.join(HISTORY);
    let mode = std::os::unix::fs::PermissionsExt::mode(&history.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(world.read(HISTORY), "good.echo message=remembered\n/quit\n");
    let mut session = open(&mut world);
    session.press_keys(&[Key::Up, Key::Up]);
    session.wait_for_text("> good.echo message=remembered");
    session.press_keys(&[Key::Enter]);
    session.wait_for_text("\nremembered\n");
}

// U4 X3
#[test]
fn tab_completes_commands_tools_arguments_and_values_of_the_server() {
    let mut world = World::new();
    let servers = json!({ "mcpServers": { "good": entry(&offering(&world)) } });
    world.write("home/.claude.json", &servers.to_string());
    let mut session = open(&mut world);
    enter(&mut session, "good.echo message=up", "\nup\n");
    wait_for_prompt(&session);
    session.type_text("/too");
    session.press_keys(&[Key::Tab]);
    session.wait_for_text("> /tools");
    session.press_keys(&[Key::Ctrl('u')]);
    session.type_text("go");
    session.press_keys(&[Key::Tab]);
    session.wait_for_text("> good.");
    session.type_text("ech");
    session.press_keys(&[Key::Tab]);
    session.wait_for_text("> good.echo");
    session.type_text("mes");
    session.press_keys(&[Key::Tab]);
    session.wait_for_text("> good.echo message=");
    session.press_keys(&[Key::Ctrl('u')]);
    session.type_text("/mcp__good__greet who=");
    session.press_keys(&[Key::Tab]);
    session.wait_until("values of the server", |screen| screen.matches("who=").count() >= 3);
}

// U4 X3 X1
#[test]
fn prompts_are_slash_commands_and_mentions_are_read() {
    let mut world = World::new();
    let servers = json!({ "mcpServers": { "good": entry(&offering(&world)), "plain": scripted(&[]) } });
    world.write("home/.claude.json", &servers.to_string());
    let mut session = open(&mut world);
    enter(&mut session, "/mcp__plain__greet", "\nSay hello.\n");
    wait_for_prompt(&session);
    enter(&mut session, "/mcp__good__greet Ada", "error: the argument `how` is missing");
    enter(&mut session, "@plain:test://note", "\na note\n");
    wait_for_prompt(&session);
    let screen = enter(&mut session, "@absent:test://note", "@absent:test://note\nerror: ");
    assert!(screen.contains("`absent`"), "{screen}");
}
