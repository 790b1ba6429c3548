//! Tests of the greeting line.

use super::{ServerSummary, greeting_text};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

// U4
#[test]
fn greeting_counts_servers_by_state_and_names_those_that_need_attention() {
    let servers = ServerSummary {
        connected: names(&["a", "b", "c", "d"]),
        failed: names(&["jira"]),
        needs_sign_in: names(&["notion"]),
        ..ServerSummary::default()
    };
    assert_eq!(
        greeting_text("0.1.0", &servers, Some("claude-opus"), 120),
        "mcparley 0.1 · 6 servers: 4 connected, 1 failed (jira), 1 needs sign-in (notion) · model: claude-opus · /help"
    );
    assert_eq!(
        greeting_text("0.1.0", &servers, None, 80),
        "mcparley 0.1 · 6 servers: 4 connected, 1 failed (jira), 1 needs sign-in (notion)\nmodel: none · /help"
    );
}

// U4
#[test]
fn greeting_of_a_new_user_says_how_to_add_a_server() {
    assert_eq!(
        greeting_text("0.1.0", &ServerSummary::default(), None, 80),
        "mcparley 0.1 · no servers yet: /mcp add NAME COMMAND · model: none · /help"
    );
}

// U4 N7: names come from files of other people.
#[test]
fn greeting_shows_few_names_and_no_control_sequences() {
    let disabled = names(&["a", "b\u{1b}[31m", "c", "d"]);
    let line = greeting_text("0.1.0", &ServerSummary { disabled, ..ServerSummary::default() }, None, 80);
    assert!(line.contains("4 servers: 4 disabled (a, b") && line.contains(", c, …)"), "{line}");
    assert!(!line.contains('\u{1b}'), "{line:?}");
}
