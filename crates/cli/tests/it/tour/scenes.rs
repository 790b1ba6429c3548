//! The scenes of the tour: each opens the program on a terminal, acts as a person does, and captures screens.

use std::os::unix::fs::PermissionsExt as _;

use mcparley_testkit::{Key, ModelServer, TerminalSession};
use serde_json::json;

use super::{assert_screen, comparable, picture_text};
use crate::ask::use_anthropic;
use crate::documents::{repository, world_with_packages};
use crate::world::World;

const PICTURE: &str = "docs/images/screen.svg";

/// A home with two servers that work, one that fails, and tool lists that are cached.
fn tour_world() -> World {
    let mut world = world_with_packages();
    world.set("TERM", "xterm-256color");
    let package = |name: &str, args: &[&str]| {
        let words = ["-y", name].iter().chain(args).copied().collect::<Vec<_>>();
        json!({ "type": "stdio", "command": "npx", "args": words })
    };
    let servers = json!({
        "everything": package("@modelcontextprotocol/server-everything", &[]),
        "files": package("@modelcontextprotocol/server-filesystem", &["."]),
        "crm": { "type": "stdio", "command": "./crm-server" },
    });
    world.write("home/.claude.json", &format!("{:#}\n", json!({ "mcpServers": servers })));
    world.write("home/project/crm-server", "#!/bin/sh\necho 'CRM_TOKEN is not set' >&2\nexit 3\n");
    let program = world.project.join("crm-server");
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
    // The lists are cached from here on.
    world.mcparley(&["tools"]);
    world
}

/// Opens the console and waits for its prompt.
fn open_console(world: &World) -> TerminalSession {
    let session = TerminalSession::start(&world.command(&[]));
    wait_for_prompt(&session);
    session
}

fn wait_for_prompt(session: &TerminalSession) -> String {
    session.wait_until("an empty prompt at the end", |screen| {
        screen.lines().last().is_some_and(|line| line.trim_end() == ">")
    })
}

/// Starts a command, of which the captures show the line too.
fn start(world: &World, words: &[&str]) -> TerminalSession {
    TerminalSession::start(&world.command(words))
}

fn with_command(command: &str, screen: &str) -> String {
    format!("$ mcparley {command}\n{screen}")
}

// U4 U7
#[test]
fn fleet_tour_shows_the_console() {
    let world = tour_world();
    let mut session = open_console(&world);
    session.enter_line("everything.get-sum a=40 b=2");
    session.wait_for_text("is 42.");
    wait_for_prompt(&session);
    session.enter_line("everything.get-sum a=forty b=2");
    session.wait_for_text("error: ");
    wait_for_prompt(&session);
    session.enter_line("/mcp reconnect crm");
    session.wait_for_text("CRM_TOKEN");
    assert_screen(&world, "console", &wait_for_prompt(&session));
    session.enter_line("/clear");
    session.wait_until_gone("CRM_TOKEN");
    wait_for_prompt(&session);
    session.type_text("everything.get-");
    session.press_keys(&[Key::Tab]);
    let screen = session.wait_for_text("everything.get-tiny-image");
    assert_screen(&world, "completion", &screen);
}

// U4 U7
#[test]
fn fleet_tour_shows_the_screen_of_the_servers_and_its_picture() {
    let world = tour_world();
    let mut session = open_console(&world);
    session.enter_line("/mcp");
    session.wait_for_text("4 · 3 connected");
    session.wait_for_text("failed   ");
    session.press_keys(&[Key::Down]);
    session.wait_until("the tools of the second server", |screen| {
        screen.contains("▸ ● everything") && screen.contains("get-sum(")
    });
    session.wait_for_text("Resources 9  Prompts 4");
    session.wait_for_text("Errors 1");
    session.press_keys(&[Key::Enter, Key::Down, Key::Down, Key::Down, Key::Down, Key::Down, Key::Down]);
    let screen = session.wait_for_text("▸ get-sum(");
    assert_screen(&world, "screen", &screen);
    // The picture is wider, so that commands and signatures fit.
    session.resize(24, 112);
    session.wait_until("all lines in the new width", |screen| {
        screen.contains(&"─".repeat(112)) && screen.contains("   pid ") && screen.contains("q back")
    });
    let picture = session.screen_picture();
    let path = repository().join(PICTURE);
    if std::env::var_os("MCPARLEY_UPDATE_PAGES").is_some() {
        std::fs::write(&path, &picture).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap();
    assert_eq!(comparable(&picture_text(&stored)), comparable(&picture_text(&picture)), "{PICTURE} is stale");
    assert!(picture_text(&stored).contains("everything"), "{PICTURE} shows no server");

    session.resize(24, 80);
    session.wait_until_gone("   pid ");
    session.press_keys(&[Key::Escape]);
    session.wait_for_text("▸ ● everything");
    session.press_keys(&[Key::Up]);
    session.wait_for_text("▸ × crm");
    // Errors is the second page to the left.
    session.press_keys(&[Key::Left, Key::Left]);
    let screen = session.wait_for_text("[Errors 3");
    assert!(screen.contains("CRM_TOKEN is not set"), "{screen}");
    assert_screen(&world, "errors", &screen);
}

// U4 U7
#[test]
fn fleet_tour_shows_a_permission() {
    let world = tour_world();
    world.ok(&["permissions", "ask", "mcp__files__write_file"]);
    let session = start(&world, &["call", "files.write_file", "path=notes.txt", "content=hello"]);
    let screen = session.wait_for_text("Esc deny");
    let shown = with_command("call files.write_file path=notes.txt content=hello", &screen);
    assert_screen(&world, "permission", &shown);
}

// X5 U7
#[test]
fn fleet_tour_shows_a_form() {
    let world = tour_world();
    let mut session = start(&world, &["call", "everything.trigger-elicitation-request"]);
    session.wait_for_text("Enter send");
    session.type_text("Ada");
    session.press_keys(&[Key::Up, Key::Up, Key::Up, Key::Up]);
    session.wait_for_text("> Untitled Multiple Selec");
    session.press_keys(&[Key::Right]);
    session.type_text("  3");
    session.wait_for_text("[x] Violin");
    let shown = with_command("call everything.trigger-elicitation-request", &session.screen_text());
    assert_screen(&world, "form", &shown);
}

// X5 U7
#[test]
fn fleet_tour_shows_a_page() {
    let world = tour_world();
    let words = ["call", "everything.trigger-url-elicitation", "url=https://example.com/pay"];
    let session = start(&world, &words);
    let screen = session.wait_for_text("o open ·");
    assert_screen(&world, "page", &with_command(&words.join(" "), &screen));
}

// C17 U7
#[test]
fn tour_shows_what_a_cloned_folder_brings() {
    let servers = json!({ "mcpServers": { "db": { "command": "npx", "args": ["-y", "@acme/db-mcp"] } } });
    let settings = json!({
        "permissions": { "allow": ["*"] },
        "hooks": { "PreToolUse": [{ "hooks": [{ "command": "./scripts/guard.sh" }] }] },
    });
    let mut world = World::with(&[
        ("home/project/.mcp.json", &format!("{servers:#}\n")),
        ("home/project/.claude/settings.json", &format!("{settings:#}\n")),
    ]);
    world.set("TERM", "xterm-256color");
    let mut session = start(&world, &["trust"]);
    session.wait_for_text("Enter approve 0");
    session.type_text(" ");
    let screen = session.wait_for_text("Enter approve 1");
    // The whole items above the dialog have long paths, which a terminal breaks anywhere.
    let dialog = screen.find('┌').unwrap();
    assert_screen(&world, "trust", &screen[dialog..]);
}

// U4 U7
#[test]
fn fleet_tour_shows_a_question_to_a_model() {
    let call = json!({ "name": "mcp__everything__get-sum", "arguments": { "a": 40, "b": 2 } });
    let turns =
        json!([{ "calls": [call] }, { "text": "40 + 2 is 42.", "expect": ["The sum of 40 and 2 is 42."] }]);
    let model = ModelServer::start(&turns);
    let mut world = tour_world();
    world.ok(&["remove", "crm"]);
    use_anthropic(&mut world, &model);
    let session = start(&world, &["ask", "What is 40 + 2?", "--allowed-tools", "mcp__everything"]);
    let (code, screen) = session.wait_for_exit();
    assert_eq!(code, 0, "{screen}");
    let command = "ask 'What is 40 + 2?' --allowed-tools mcp__everything";
    assert_screen(&world, "ask", &with_command(command, &screen));
}
