//! Every way something of a project folder can be approved, rejected or left waiting.

use super::*;
use crate::config::RawServer;
use crate::document::Document;
use crate::expand::Env;
use crate::scope::Source;

fn origin() -> Origin {
    Origin::whole(Source::inline("settings"))
}

fn named(name: &str) -> Spanned<ServerName> {
    Spanned { value: ServerName::new(name), origin: origin() }
}

/// What the entry is, as it expands and as it is written.
fn definitions(entry: &str) -> (Definition, Definition) {
    let document = Document::parse(Source::inline("test"), entry).unwrap();
    let raw = RawServer::read("s", document.root().unwrap()).unwrap();
    let config = raw.to_config(&Env::default(), &origin()).unwrap();
    (Definition::of(&raw, &config), Definition::of_written(&raw, config.kind()))
}

fn record(folder: &str) -> FolderApprovals {
    let document = Document::parse(Source::inline("settings"), folder).unwrap();
    FolderApprovals::read(document.root().unwrap())
}

fn recorded(folder: &str) -> Choices {
    Choices { recorded: record(folder), ..Choices::default() }
}

/// The user approved a server of this name as the entry has it.
fn approved(name: &str, entry: &str) -> Choices {
    recorded(&format!(r#"{{"approved": {{"servers": {{"{name}": ["{}"]}}}}}}"#, definitions(entry).0))
}

fn answer(choices: &Choices, name: &str, entry: &str, session: Session) -> Approval {
    let (definition, written) = definitions(entry);
    let name = ServerName::new(name);
    let server = FoundServer { name: &name, definition, written, is_in_mcp_json: true };
    choices.approve_server(&server, session)
}

const ENTRY: &str = r#"{"command": "x", "args": ["a"]}"#;
const CHANGED: &str = r#"{"command": "x", "args": ["b"]}"#;

// C7 B21 B27
#[test]
fn each_choice_has_its_answer() {
    let pending = |why| Approval::Pending(why);
    let name_only = pending(Pending::NameOnly { by: origin() });
    let self_approved = pending(Pending::SelfApproved { by: origin() });
    let by_name = Choices { by_name: vec![named("s")], ..Choices::default() };
    let managed = Choices { managed: vec![named("s")], ..Choices::default() };
    let all = Choices { enable_all: Some(origin()), ..Choices::default() };
    let claimed = Choices { claimed: vec![named("s")], ..Choices::default() };
    let none = Choices::default();
    use Session::{Headless, HeadlessWithProject, Interactive};
    for (case, choices, entry, session, expected) in [
        ("nobody decided", &none, ENTRY, Interactive, pending(Pending::Undecided)),
        ("nobody decided, headless", &none, ENTRY, Headless, pending(Pending::Undecided)),
        ("project asked for by name, headless", &none, ENTRY, HeadlessWithProject, Approval::Approved),
        ("approved as it is", &approved("s", ENTRY), ENTRY, Interactive, Approval::Approved),
        ("approved, then changed", &approved("s", ENTRY), CHANGED, Interactive, pending(Pending::Changed)),
        ("approved by name", &by_name, ENTRY, Interactive, name_only),
        ("approved by name by the administrator", &managed, CHANGED, Interactive, Approval::Approved),
        ("everything approved by the administrator", &all, CHANGED, Interactive, Approval::Approved),
        ("the project says so", &claimed, ENTRY, Interactive, self_approved),
    ] {
        assert_eq!(answer(choices, "s", entry, session), expected, "{case}");
    }
}

// C7: an approval of one server is none of another, also when both have been approved before.
#[test]
fn the_definition_of_another_server_approves_nothing() {
    let (first, second) = (definitions(ENTRY).0, definitions(CHANGED).0);
    let text = format!(r#"{{"approved": {{"servers": {{"a": ["{first}"], "b": ["{second}"]}}}}}}"#);
    let choices = recorded(&text);
    assert_eq!(answer(&choices, "a", ENTRY, Session::Interactive), Approval::Approved);
    assert_eq!(answer(&choices, "b", CHANGED, Session::Interactive), Approval::Approved);
    let changed = Approval::Pending(Pending::Changed);
    assert_eq!(answer(&choices, "a", CHANGED, Session::Interactive), changed);
    assert_eq!(answer(&choices, "b", ENTRY, Session::Interactive), changed);
    let undecided = Approval::Pending(Pending::Undecided);
    assert_eq!(answer(&choices, "c", ENTRY, Session::Interactive), undecided);
}

// C7: kinds do not stand in for each other.
#[test]
fn an_approval_is_of_one_kind() {
    let hash = definitions(ENTRY).0;
    for kind in ["variables", "rules", "hooks"] {
        let choices = recorded(&format!(r#"{{"approved": {{"{kind}": {{"s": ["{hash}"]}}}}}}"#));
        let undecided = Approval::Pending(Pending::Undecided);
        assert_eq!(answer(&choices, "s", ENTRY, Session::Interactive), undecided, "{kind}");
    }
}

// C7
#[test]
fn an_entry_approved_as_written_stays_approved_whatever_its_variables_hold() {
    let (_, written) = definitions(ENTRY);
    let choices = recorded(&format!(r#"{{"approved": {{"servers": {{"s": ["{written}"]}}}}}}"#));
    assert_eq!(answer(&choices, "s", ENTRY, Session::Interactive), Approval::Approved);
    let changed = Approval::Pending(Pending::Changed);
    assert_eq!(answer(&choices, "s", CHANGED, Session::Interactive), changed);
}

// C7
#[test]
fn a_rejection_wins_over_every_approval() {
    let both = format!(
        r#"{{"approved": {{"servers": {{"s": ["{}"]}}}}, "rejected": {{"servers": ["s"]}}}}"#,
        definitions(ENTRY).0
    );
    let elsewhere = Choices { rejected: vec![named("s")], ..approved("s", ENTRY) };
    for mut choices in [recorded(&both), elsewhere] {
        choices.enable_all = Some(origin());
        choices.assume_approved = true;
        choices.claude_code.enabled = vec![named("s")];
        for session in [Session::Interactive, Session::Headless, Session::HeadlessWithProject] {
            assert!(matches!(answer(&choices, "s", ENTRY, session), Approval::Rejected { .. }));
        }
    }
}

// C7 B23
#[test]
fn names_compare_normalised_and_the_definition_still_counts() {
    let choices = approved("my.server", ENTRY);
    assert_eq!(answer(&choices, "my_server", ENTRY, Session::Interactive), Approval::Approved);
    assert_eq!(
        answer(&choices, "my_server", CHANGED, Session::Interactive),
        Approval::Pending(Pending::Changed)
    );
    let rejected = Choices { rejected: vec![named("my.server")], ..approved("my_server", ENTRY) };
    assert_eq!(
        answer(&rejected, "my_server", ENTRY, Session::Interactive),
        Approval::Rejected { by: origin() }
    );
}

// C7
#[test]
fn approvals_of_claude_code_count_on_first_sight_only() {
    let enabled = |folder: &str| {
        let mut choices = recorded(folder);
        choices.claude_code.enabled = vec![named("s")];
        answer(&choices, "s", ENTRY, Session::Interactive)
    };
    assert_eq!(enabled("{}"), Approval::Adopted);
    let name_only = Approval::Pending(Pending::NameOnly { by: origin() });
    assert_eq!(enabled(r#"{"claudeCode": {"servers": ["s"]}}"#), name_only);
    let other = format!(r#"{{"approved": {{"servers": {{"s": ["{}"]}}}}}}"#, definitions(CHANGED).0);
    assert_eq!(enabled(&other), Approval::Pending(Pending::Changed), "what is recorded contradicts");

    let trusted = |folder: &str, claimed: &str| {
        let mut choices = recorded(folder);
        choices.claude_code.trusted = Some(origin());
        choices.claimed = vec![named(claimed)];
        let server = answer(&choices, "s", ENTRY, Session::Interactive);
        (server, choices.approve_item(&Item::rule("mcp__s"), Session::Interactive))
    };
    let undecided = Approval::Pending(Pending::Undecided);
    assert_eq!(trusted("{}", "s"), (Approval::Adopted, Approval::Adopted));
    assert_eq!(trusted("{}", "t"), (undecided.clone(), Approval::Adopted), "servers are approved by name");
    let claimed = Approval::Pending(Pending::SelfApproved { by: origin() });
    assert_eq!(trusted(r#"{"claudeCode": {"trusted": true}}"#, "s"), (claimed, undecided));
}

// C7
#[test]
fn only_servers_of_mcp_json_are_approved_through_claude_code() {
    let mut choices = Choices::default();
    choices.claude_code.enabled = vec![named("s")];
    let (definition, written) = definitions(ENTRY);
    let name = ServerName::new("s");
    let server = FoundServer { name: &name, definition, written, is_in_mcp_json: false };
    assert!(matches!(choices.approve_server(&server, Session::Interactive), Approval::Pending(_)));
}
