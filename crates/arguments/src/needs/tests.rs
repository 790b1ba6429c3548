//! Rows of the table, found by parsing a command line.

use std::ffi::OsString;

use crate::{ConnectorNeed, McpCommand, RootCommand, parse};

fn command(line: &str) -> McpCommand {
    let words: Vec<OsString> =
        std::iter::once("mcparley").chain(line.split(' ')).map(OsString::from).collect();
    match parse(&words, "").unwrap_or_else(|error| panic!("{line}: {error}")).command {
        RootCommand::Mcp { command } | RootCommand::Direct(command) => command,
        RootCommand::Completions { .. } | RootCommand::Help(_) => panic!("{line} is about no server"),
    }
}

#[test]
fn connectors_are_needed_by_commands_that_may_show_or_use_one() {
    let cases = [
        ("list", ConnectorNeed::All),
        ("list --offline", ConnectorNeed::Unused),
        ("tools", ConnectorNeed::All),
        ("tools files", ConnectorNeed::Named(vec!["files"])),
        ("call files read", ConnectorNeed::Named(vec!["files"])),
        ("doctor", ConnectorNeed::All),
        ("doctor one two", ConnectorNeed::Named(vec!["one", "two"])),
        ("login", ConnectorNeed::Named(Vec::new())),
        ("logs", ConnectorNeed::Named(Vec::new())),
        ("serve", ConnectorNeed::Unused),
        ("add files server", ConnectorNeed::Unused),
    ];
    for (line, expected) in cases {
        assert_eq!(command(line).needs().connectors, expected, "{line}");
    }
}

#[test]
fn only_get_shows_a_server_that_only_an_agent_defines() {
    let view = |line: &str| {
        let command = command(line);
        command.needs().view.map(|view| (view.seen_by.agent.clone(), view.server.map(str::to_owned)))
    };
    let own = |word: &str| Some(word.to_owned());
    assert_eq!(view("get files"), Some((None, own("files"))));
    assert_eq!(view("tools files --agent helper"), Some((own("helper"), None)));
    assert_eq!(view("list"), None);
}
