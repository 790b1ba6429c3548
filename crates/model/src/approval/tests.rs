//! Every way a project's server can be approved, rejected or left waiting.

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

fn definition(entry: &str) -> Definition {
    let document = Document::parse(Source::inline("test"), entry).unwrap();
    let raw = RawServer::read("s", document.root().unwrap()).unwrap();
    let config = raw.to_config(&Env::default(), &origin()).unwrap();
    Definition::of(&raw, &config)
}

fn approved(name: &str, entry: &str) -> Choices {
    Choices {
        enabled: vec![named(name)],
        definitions: vec![(ServerName::new(name), definition(entry).to_string())],
        ..Choices::default()
    }
}

fn answer(choices: &Choices, name: &str, entry: &str, session: Session) -> Approval {
    choices.approval(&ServerName::new(name), &definition(entry), session)
}

const ENTRY: &str = r#"{"command": "x", "args": ["a"]}"#;
const CHANGED: &str = r#"{"command": "x", "args": ["b"]}"#;

// C7 B21 B27
#[test]
fn each_choice_has_its_answer() {
    let pending = |why| Approval::Pending(why);
    let by_name = Choices { enabled: vec![named("s")], ..Choices::default() };
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
        ("approved by name", &by_name, ENTRY, Interactive, pending(Pending::NameOnly { by: origin() })),
        ("everything approved", &all, CHANGED, Interactive, Approval::Approved),
        (
            "the project says so",
            &claimed,
            ENTRY,
            Interactive,
            pending(Pending::SelfApproved { by: origin() }),
        ),
    ] {
        assert_eq!(answer(choices, "s", entry, session), expected, "{case}");
    }
}

// C7
#[test]
fn a_rejection_wins_over_every_approval() {
    let mut choices = approved("s", ENTRY);
    choices.enable_all = Some(origin());
    choices.rejected = vec![named("s")];
    for session in [Session::Interactive, Session::Headless, Session::HeadlessWithProject] {
        assert_eq!(answer(&choices, "s", ENTRY, session), Approval::Rejected { by: origin() });
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
fn one_name_may_be_approved_for_several_projects() {
    let mut choices = approved("s", ENTRY);
    choices.definitions.push((ServerName::new("s"), definition(CHANGED).to_string()));
    assert_eq!(answer(&choices, "s", ENTRY, Session::Interactive), Approval::Approved);
    assert_eq!(answer(&choices, "s", CHANGED, Session::Interactive), Approval::Approved);
}
