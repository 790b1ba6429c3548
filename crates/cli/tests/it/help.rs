//! Help that teaches: the first screen, a page per command with examples, and the global options apart.
//!
//! The pages in `help/*.txt` are those at 80 columns. After a change of the texts, run these tests once with
//! `MCPARLEY_UPDATE_PAGES=1` and read the difference.

use std::path::Path;

use clap::Command;
use mcparley_arguments::help_command;

use crate::world::{World, refusal};

/// The commands whose pages are compared word by word.
const PAGES: [&str; 15] = [
    "add",
    "budget",
    "call",
    "doctor",
    "import",
    "list",
    "login",
    "logs",
    "pending",
    "permissions",
    "search",
    "serve",
    "tools",
    "trust",
    "ui",
];

fn narrow() -> World {
    let mut world = World::new();
    world.set("COLUMNS", "80");
    world
}

/// Compares a page with the stored one, or stores it if that is asked for.
fn assert_page(name: &str, page: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/help/{name}.txt"));
    if std::env::var_os("MCPARLEY_UPDATE_PAGES").is_some() {
        std::fs::write(&path, page).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(page, expected, "help of `{name}` has changed; see the comment in tests/it/help.rs");
}

/// All visible commands with their full names, the alias `mcp …` left out.
fn visible_commands() -> Vec<(String, Command)> {
    let mut root = help_command();
    root.build();
    let mut found = Vec::new();
    let mut waiting: Vec<(String, Command)> =
        root.get_subcommands().map(|sub| (sub.get_name().to_owned(), sub.clone())).collect();
    while let Some((name, command)) = waiting.pop() {
        if command.is_hide_set() {
            continue;
        }
        if name != "mcp" {
            waiting.extend(
                command.get_subcommands().map(|sub| (format!("{name} {}", sub.get_name()), sub.clone())),
            );
        }
        found.push((name, command));
    }
    found
}

// U3
#[test]
fn the_first_screen_is_short_grouped_and_fits_80_columns() {
    let world = narrow();
    let screen = world.ok(&["help"]);
    assert_page("first-screen", &screen);
    assert!(screen.lines().count() <= 40, "{screen}");
    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    for words in [&["--help"][..], &["-h"], &["mcp", "help"]] {
        assert_eq!(world.ok(words), screen, "{words:?}");
    }
    let without = world.mcparley(&["--json"]);
    assert_eq!((without.code, without.out.as_str()), (2, ""), "{without:?}");
}

// U3
#[test]
fn the_first_screen_has_every_command_in_a_group() {
    let screen = narrow().ok(&["help"]);
    for (name, _) in visible_commands().iter().filter(|(name, _)| !name.contains(' ')) {
        let is_there = screen.split([' ', '\n']).any(|word| word == name);
        assert!(is_there || ["help", "mcp"].contains(&name.as_str()), "`{name}` is missing:\n{screen}");
    }
    assert!(!screen.contains("Other"), "{screen}");
}

// U3
#[test]
fn pages_of_commands_are_as_written_at_80_columns() {
    let world = narrow();
    for name in PAGES {
        let page = world.ok(&["help", name]);
        assert_page(name, &page);
        assert_eq!(world.ok(&[name, "--help"]), page, "{name}");
        assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    }
}

// U3
#[test]
fn every_visible_command_has_an_example_and_no_line_beyond_100_columns() {
    let commands = visible_commands();
    assert!(commands.len() > 40, "{}", commands.len());
    for (name, mut command) in commands {
        let page = command.render_long_help().to_string();
        let is_example = |line: &&str| line.starts_with("  ") && line.contains(&format!("mcparley {name}"));
        let has_title = page.contains("Example:\n") || page.contains("Examples:\n");
        assert!(has_title && page.lines().any(|line| is_example(&line)), "`{name}` has no example:\n{page}");
        assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
        let source = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let examples = source.lines().filter(is_example);
        examples.for_each(|line| assert!(line.chars().count() <= 80, "an example would be wrapped: {line}"));
    }
}

// U3 U2a
#[test]
fn global_options_are_on_a_page_of_their_own() {
    let world = narrow();
    let page = world.ok(&["help", "options"]);
    for option in
        ["--mcp-config", "--mcp-server", "--settings", "--permission-mode", "--config-dir", "--json", "-v"]
    {
        assert!(page.contains(option), "{option}: {page}");
    }
    let call = world.ok(&["call", "--help"]);
    assert!(!call.contains("--mcp-config") && !call.contains("--config-dir"), "{call}");
    assert!(call.ends_with("Global options, such as --json: mcparley help options\n"), "{call}");
}

// U3
#[test]
fn misspelled_command_suggests_a_known_one_and_the_list() {
    let world = World::new();
    let hint = "hint: run `mcparley help` to list commands";
    assert_eq!(
        world.mcparley(&["xyzzy"]),
        refusal(2, &format!("error: there is no command `xyzzy`\n{hint}"))
    );
    for (line, word, meant) in [
        (&["tolls"][..], "tolls", "tools"),
        (&["--json", "calll", "x"], "calll", "call"),
        (&["mcp", "lst"], "lst", "list"),
    ] {
        let hint = format!("hint: did you mean `{meant}`? `mcparley help` lists all commands");
        let expected = refusal(2, &format!("error: there is no command `{word}`\n{hint}"));
        assert_eq!(world.mcparley(line), expected, "{line:?}");
    }
}

// U3
#[test]
fn help_for_an_unknown_command_suggests_a_known_one() {
    let world = World::new();
    let cases = [
        (&["help", "cal"][..], "error: there is no command `cal`\nhint: did you mean `call`?"),
        (&["help", "auth", "ipd"], "error: there is no command `auth ipd`\nhint: did you mean `idp`?"),
        (
            &["help", "something"],
            "error: there is no command `something`\nhint: run `mcparley help` to list commands",
        ),
    ];
    for (words, message) in cases {
        assert_eq!(world.mcparley(words), refusal(2, message));
    }
    assert!(world.ok(&["help", "auth", "idp"]).contains("mcparley auth idp login"));
}

// U7
#[test]
fn version_names_the_commit_in_a_release_built_from_a_repository() {
    let version = World::new().ok(&["--version"]);
    let rest = version.strip_prefix(concat!("mcparley ", env!("CARGO_PKG_VERSION"))).unwrap().trim_end();
    let is_repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.git").exists();
    let commit = rest.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')'));
    let is_commit = |commit: &str| commit.len() == 10 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    match is_repository && !cfg!(debug_assertions) {
        true => assert!(commit.is_some_and(is_commit), "{version}"),
        false => assert_eq!(rest, ""),
    }
}
