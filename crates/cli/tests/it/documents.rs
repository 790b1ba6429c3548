//! The commands and outputs that README and tour show, run as they stand there.
//!
//! In a `console` block a line that begins with `$ ` is a command, and the lines below it are its output. A
//! line `…` stands for any number of lines, and `…` inside of a line for any text. A command succeeds unless the
//! comment `# exits with N` behind it says otherwise. Only commands of mcparley
//! run; those of other programs are left to the tests of these programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::world::World;

/// One command of a page, with the output that the page shows.
#[derive(Debug, PartialEq, Eq)]
struct ShownCommand {
    line: String,
    /// The exit code: 0 unless the comment behind the command says `exits with N`.
    exit: i32,
    output: Vec<String>,
}

/// The folder of the whole project.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// The commands in the `console` blocks of a page, in their order.
fn shown_commands(page: &str) -> Vec<ShownCommand> {
    let mut commands: Vec<ShownCommand> = Vec::new();
    for block in page.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap_or_default();
        for line in block.lines() {
            match (line.strip_prefix("$ "), commands.last_mut()) {
                (Some(command), _) => {
                    let (line, comment) = command.split_once("   #").unwrap_or((command, ""));
                    let exit = comment.trim().strip_prefix("exits with ");
                    let exit = exit.map_or(0, |code| code.parse().unwrap());
                    commands.push(ShownCommand { line: line.trim().to_owned(), exit, output: Vec::new() });
                }
                (None, Some(last)) => last.output.push(line.trim_end().to_owned()),
                (None, None) => panic!("output without a command: {line}"),
            }
        }
    }
    commands
}

/// Whether an output is that of the page, where `…` stands for anything.
fn is_shown(shown: &[String], actual: &[String]) -> bool {
    match shown.split_first() {
        None => actual.is_empty(),
        Some((first, rest)) if first.trim() == "…" => {
            (0..=actual.len()).any(|skipped| is_shown(rest, &actual[skipped..]))
        }
        Some((first, rest)) => actual
            .split_first()
            .is_some_and(|(line, others)| is_line_shown(first, line) && is_shown(rest, others)),
    }
}

fn is_line_shown(shown: &str, actual: &str) -> bool {
    let mut left = actual;
    let mut parts = shown.split('…').peekable();
    let Some(beginning) = parts.next() else { return false };
    let Some(rest) = left.strip_prefix(beginning) else { return false };
    left = rest;
    while let Some(part) = parts.next() {
        let at = if parts.peek().is_none() {
            left.ends_with(part).then(|| left.len() - part.len())
        } else {
            left.find(part)
        };
        let Some(at) = at else { return false };
        left = &left[at + part.len()..];
    }
    left.is_empty()
}

/// A home with the third-party servers of the tests where `npx` finds them without the network.
pub(crate) fn world_with_packages() -> World {
    let mut world = World::new();
    let packages = repository().join(".tools/fleet/npm/node_modules");
    assert!(packages.is_dir(), "the servers are missing: run `cargo xtask fleet`");
    std::os::unix::fs::symlink(packages, world.project.join("node_modules")).unwrap();
    let programs = Path::new(env!("CARGO_BIN_EXE_mcparley")).parent().unwrap();
    let node = which("node");
    world.set("PATH", format!("{}:{}:/usr/bin:/bin", programs.display(), node.parent().unwrap().display()));
    world.set("COLUMNS", "80");
    world.set("npm_config_offline", "true");
    world.set("npm_config_update_notifier", "false");
    world
}

/// The folder of a program, looked up as a shell does.
fn which(program: &str) -> PathBuf {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output().unwrap();
    PathBuf::from(String::from_utf8(found.stdout).unwrap().trim())
}

/// Runs the commands of a page one after the other, and compares what they print. Each must succeed, and print
/// nothing where the page shows nothing.
fn check_page(world: &World, page: &str) {
    let commands = shown_commands(&std::fs::read_to_string(repository().join(page)).unwrap());
    let ours: Vec<_> = commands.iter().filter(|command| command.line.starts_with("mcparley ")).collect();
    assert!(!ours.is_empty(), "{page} shows no command");
    for command in ours {
        let mut shell = world.command_of("/bin/sh".as_ref(), &["-c", &format!("{} 2>&1", command.line)]);
        let done = shell.stdin(Stdio::null()).output().unwrap();
        let text =
            String::from_utf8(done.stdout).unwrap().replace(&*world.home.to_string_lossy(), "/home/me");
        let actual: Vec<String> = text.lines().map(|line| line.trim_end().to_owned()).collect();
        assert!(
            is_shown(&command.output, &actual),
            "{page}: `{}` prints\n{text}\nand not\n{}",
            command.line,
            command.output.join("\n")
        );
        assert_eq!(done.status.code(), Some(command.exit), "{page}: `{}` prints\n{text}", command.line);
    }
}

// U7
#[test]
fn fleet_readme_shows_what_its_commands_print() {
    let world = world_with_packages();
    let entry = "{\n  \"mcpServers\": {\n    \"docs\": {\n      \"type\": \"http\",\n      \"url\": \"https://docs.example/mcp\"\n    }\n  }\n}\n";
    world.write("home/project/.mcp.json", entry);
    check_page(&world, "README.md");
}

// U7
#[test]
fn fleet_tour_shows_what_its_commands_print() {
    check_page(&world_with_packages(), "docs/tour.md");
}

// U7
#[test]
fn fleet_page_about_the_path_of_a_call_shows_what_its_commands_print() {
    let world = world_with_packages();
    world.ok(&["add", "memory", "npx", "-y", "@modelcontextprotocol/server-memory"]);
    check_page(&world, "docs/how-it-works.md");
}

// N10 U7
#[test]
fn fleet_page_about_tokens_shows_what_its_commands_print() {
    let world = world_with_packages();
    let servers: [&[&str]; 5] = [
        &[
            "postman",
            "-e",
            "POSTMAN_API_KEY=none",
            "--",
            "npx",
            "-y",
            "@postman/postman-mcp-server",
            "--full",
        ],
        &["playwright", "npx", "-y", "@playwright/mcp"],
        &["github", "npx", "-y", "@modelcontextprotocol/server-github"],
        &["files", "npx", "-y", "@modelcontextprotocol/server-filesystem", "."],
        &["memory", "npx", "-y", "@modelcontextprotocol/server-memory"],
    ];
    for server in servers {
        world.ok(&[&["add"], server].concat());
    }
    check_page(&world, "docs/tokens.md");
}

#[test]
fn ellipsis_stands_for_any_lines_and_any_text() {
    let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    assert!(is_shown(&lines("a\n…\nd"), &lines("a\nb\nc\nd")));
    assert!(is_shown(&lines("a … c"), &lines("a bb c")));
    assert!(!is_shown(&lines("a\n…\nd"), &lines("a\nb\nc")));
    assert!(!is_shown(&lines("a … c"), &lines("a bb d")));
    assert!(!is_shown(&lines("a"), &lines("a\nb")));
}

#[test]
fn commands_and_outputs_are_read_from_console_blocks() {
    let page = "text\n```console\n$ mcparley a   # exits with 13\none\ntwo\n$ other b\n```\nmore\n```sh\n$ not this\n```\n";
    let commands = shown_commands(page);
    let expected = [
        ShownCommand {
            line: "mcparley a".to_owned(),
            exit: 13,
            output: vec!["one".to_owned(), "two".to_owned()],
        },
        ShownCommand { line: "other b".to_owned(), exit: 0, output: Vec::new() },
    ];
    assert_eq!(commands, expected);
}
