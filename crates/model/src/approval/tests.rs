//! Tests of approving, rejecting and withholding items of a project folder.

use super::*;
use crate::config::RawServer;
use crate::document::JsonDocument;
use crate::expand::Env;
use crate::scope::Source;

fn origin() -> ConfigOrigin {
    ConfigOrigin::for_source(Source::from_label("settings"))
}

fn named(name: &str) -> Spanned<ServerName> {
    Spanned { value: ServerName::new(name), origin: origin() }
}

/// The definition hashes of the entry, expanded and as written.
fn definitions(entry: &str) -> (DefinitionHash, DefinitionHash) {
    let document = JsonDocument::parse(Source::from_label("test"), entry).unwrap();
    let raw = RawServer::from_node("s", document.root().unwrap()).unwrap();
    let config = raw.to_config(&Env::default(), &origin()).unwrap();
    (DefinitionHash::from_config(&raw, &config), DefinitionHash::from_written(&raw, config.kind()))
}

fn record(folder: &str) -> FolderApprovals {
    let document = JsonDocument::parse(Source::from_label("settings"), folder).unwrap();
    FolderApprovals::from_node(document.root().unwrap())
}

fn recorded(folder: &str) -> ApprovalChoices {
    ApprovalChoices { recorded: record(folder), ..ApprovalChoices::default() }
}

/// Choices in which the user approved the entry under this server name.
fn approved(name: &str, entry: &str) -> ApprovalChoices {
    recorded(&format!(r#"{{"approved": {{"servers": {{"{name}": ["{}"]}}}}}}"#, definitions(entry).0))
}

fn answer(choices: &ApprovalChoices, name: &str, entry: &str, session: Interactivity) -> Approval {
    let (definition, written) = definitions(entry);
    let name = ServerName::new(name);
    let server = FolderServer { name: &name, definition, written, is_in_mcp_json: true };
    choices.decide_server_approval(&server, session)
}

const ENTRY: &str = r#"{"command": "x", "args": ["a"]}"#;
const CHANGED: &str = r#"{"command": "x", "args": ["b"]}"#;

// C7 B21 B27
#[test]
fn each_choice_has_its_approval_decision() {
    let pending = |why| Approval::Pending(why);
    let name_only = pending(PendingReason::NameOnly { by: origin() });
    let self_approved = pending(PendingReason::SelfApproved { by: origin() });
    let by_name = ApprovalChoices { by_name: vec![named("s")], ..ApprovalChoices::default() };
    let managed = ApprovalChoices { managed: vec![named("s")], ..ApprovalChoices::default() };
    let all = ApprovalChoices { enable_all: Some(origin()), ..ApprovalChoices::default() };
    let claimed = ApprovalChoices { claimed: vec![named("s")], ..ApprovalChoices::default() };
    let none = ApprovalChoices::default();
    use Interactivity::{Headless, HeadlessWithProject, Interactive};
    for (case, choices, entry, session, expected) in [
        ("nobody decided", &none, ENTRY, Interactive, pending(PendingReason::Undecided)),
        ("nobody decided, headless", &none, ENTRY, Headless, pending(PendingReason::Undecided)),
        ("project asked for by name, headless", &none, ENTRY, HeadlessWithProject, Approval::Approved),
        ("approved as it is", &approved("s", ENTRY), ENTRY, Interactive, Approval::Approved),
        (
            "approved, then changed",
            &approved("s", ENTRY),
            CHANGED,
            Interactive,
            pending(PendingReason::Changed),
        ),
        ("approved by name", &by_name, ENTRY, Interactive, name_only),
        ("approved by name by the administrator", &managed, CHANGED, Interactive, Approval::Approved),
        ("everything approved by the administrator", &all, CHANGED, Interactive, Approval::Approved),
        ("the project says so", &claimed, ENTRY, Interactive, self_approved),
    ] {
        assert_eq!(answer(choices, "s", entry, session), expected, "{case}");
    }
}

// C7: an approval of one server does not cover another, even when both have been approved before.
#[test]
fn the_definition_of_another_server_approves_nothing() {
    let (first, second) = (definitions(ENTRY).0, definitions(CHANGED).0);
    let text = format!(r#"{{"approved": {{"servers": {{"a": ["{first}"], "b": ["{second}"]}}}}}}"#);
    let choices = recorded(&text);
    assert_eq!(answer(&choices, "a", ENTRY, Interactivity::Interactive), Approval::Approved);
    assert_eq!(answer(&choices, "b", CHANGED, Interactivity::Interactive), Approval::Approved);
    let changed = Approval::Pending(PendingReason::Changed);
    assert_eq!(answer(&choices, "a", CHANGED, Interactivity::Interactive), changed);
    assert_eq!(answer(&choices, "b", ENTRY, Interactivity::Interactive), changed);
    let undecided = Approval::Pending(PendingReason::Undecided);
    assert_eq!(answer(&choices, "c", ENTRY, Interactivity::Interactive), undecided);
}

// C7: an approval of one kind of item does not cover another kind.
#[test]
fn an_approval_is_of_one_kind() {
    let hash = definitions(ENTRY).0;
    for kind in ["variables", "rules", "hooks"] {
        let choices = recorded(&format!(r#"{{"approved": {{"{kind}": {{"s": ["{hash}"]}}}}}}"#));
        let undecided = Approval::Pending(PendingReason::Undecided);
        assert_eq!(answer(&choices, "s", ENTRY, Interactivity::Interactive), undecided, "{kind}");
    }
}

// C7
#[test]
fn entry_approved_as_written_stays_approved_when_variables_change() {
    let (_, written) = definitions(ENTRY);
    let choices = recorded(&format!(r#"{{"approved": {{"servers": {{"s": ["{written}"]}}}}}}"#));
    assert_eq!(answer(&choices, "s", ENTRY, Interactivity::Interactive), Approval::Approved);
    let changed = Approval::Pending(PendingReason::Changed);
    assert_eq!(answer(&choices, "s", CHANGED, Interactivity::Interactive), changed);
}

// C7
#[test]
fn a_rejection_wins_over_every_approval() {
    let both = format!(
        r#"{{"approved": {{"servers": {{"s": ["{}"]}}}}, "rejected": {{"servers": ["s"]}}}}"#,
        definitions(ENTRY).0
    );
    let elsewhere = ApprovalChoices { rejected: vec![named("s")], ..approved("s", ENTRY) };
    for mut choices in [recorded(&both), elsewhere] {
        choices.enable_all = Some(origin());
        choices.assume_approved = true;
        choices.claude_code.enabled = vec![named("s")];
        for session in
            [Interactivity::Interactive, Interactivity::Headless, Interactivity::HeadlessWithProject]
        {
            assert!(matches!(answer(&choices, "s", ENTRY, session), Approval::Rejected { .. }));
        }
    }
}

// C7 B23
#[test]
fn names_are_compared_normalized_and_definitions_must_match() {
    let choices = approved("my.server", ENTRY);
    assert_eq!(answer(&choices, "my_server", ENTRY, Interactivity::Interactive), Approval::Approved);
    assert_eq!(
        answer(&choices, "my_server", CHANGED, Interactivity::Interactive),
        Approval::Pending(PendingReason::Changed)
    );
    let rejected = ApprovalChoices { rejected: vec![named("my.server")], ..approved("my_server", ENTRY) };
    assert_eq!(
        answer(&rejected, "my_server", ENTRY, Interactivity::Interactive),
        Approval::Rejected { by: origin() }
    );
}

// C7
#[test]
fn claude_code_approvals_are_adopted_on_first_sight_only() {
    let enabled = |folder: &str| {
        let mut choices = recorded(folder);
        choices.claude_code.enabled = vec![named("s")];
        answer(&choices, "s", ENTRY, Interactivity::Interactive)
    };
    assert_eq!(enabled("{}"), Approval::Adopted);
    let name_only = Approval::Pending(PendingReason::NameOnly { by: origin() });
    assert_eq!(enabled(r#"{"claudeCode": {"servers": ["s"]}}"#), name_only);
    let other = format!(r#"{{"approved": {{"servers": {{"s": ["{}"]}}}}}}"#, definitions(CHANGED).0);
    assert_eq!(enabled(&other), Approval::Pending(PendingReason::Changed), "what is recorded contradicts");

    let trusted = |folder: &str, claimed: &str| {
        let mut choices = recorded(folder);
        choices.claude_code.trusted = Some(origin());
        choices.claimed = vec![named(claimed)];
        let server = answer(&choices, "s", ENTRY, Interactivity::Interactive);
        (server, choices.decide_item_approval(&ApprovalItem::for_rule("mcp__s"), Interactivity::Interactive))
    };
    let undecided = Approval::Pending(PendingReason::Undecided);
    assert_eq!(trusted("{}", "s"), (Approval::Adopted, Approval::Adopted));
    assert_eq!(trusted("{}", "t"), (undecided.clone(), Approval::Adopted), "servers are approved by name");
    let claimed = Approval::Pending(PendingReason::SelfApproved { by: origin() });
    assert_eq!(trusted(r#"{"claudeCode": {"trusted": true}}"#, "s"), (claimed, undecided));
}

// C7
#[test]
fn only_servers_of_mcp_json_are_approved_through_claude_code() {
    let mut choices = ApprovalChoices::default();
    choices.claude_code.enabled = vec![named("s")];
    let (definition, written) = definitions(ENTRY);
    let name = ServerName::new("s");
    let server = FolderServer { name: &name, definition, written, is_in_mcp_json: false };
    assert!(matches!(
        choices.decide_server_approval(&server, Interactivity::Interactive),
        Approval::Pending(_)
    ));
}
