//! The table of causes is whole, every cause can be found, and blanks are filled with nothing foreign.

use std::collections::{BTreeMap, HashSet};

use mcparley_model::config::TransportKind;
use mcparley_wire::Obstacle;

use crate::cause::{CauseTable, KnownCause};
use crate::facts::ServerFacts;
use crate::placeholders::{Blank, Blanks};

const STANDINGS: [&str; 8] =
    ["ready", "needs approval", "rejected", "blocked", "disabled", "shadowed", "duplicate", "invalid"];

const ENTRIES: [&str; 6] = ["managed-only", "managed-broken", "strict", "policy", "variable-unset", "url"];

const FAILURES: [&str; 12] = [
    "refused",
    "timed-out",
    "closed",
    "damaged",
    "protocol",
    "answered",
    "too-large",
    "unauthorized",
    "forbidden",
    "session-expired",
    "status",
    "queue-full",
];

fn table() -> CauseTable {
    serde_json::from_str(include_str!("causes.json")).unwrap()
}

fn examples() -> BTreeMap<String, ServerFacts> {
    serde_json::from_str(include_str!("tests/examples.json")).unwrap()
}

fn id(facts: &ServerFacts) -> String {
    table().find_cause(facts).unwrap().id.clone()
}

// U2
#[test]
fn every_cause_is_the_first_match_of_its_example() {
    let (table, examples) = (table(), examples());
    assert!(table.causes.len() >= 35, "{}", table.causes.len());
    let mut wrong = Vec::new();
    for cause in &table.causes {
        let facts = examples.get(&cause.id).unwrap_or_else(|| panic!("no example for `{}`", cause.id));
        let found = table.find_cause(facts).map(|found| found.id.as_str());
        if found != Some(cause.id.as_str()) {
            wrong.push((cause.id.as_str(), found));
        }
    }
    assert_eq!(wrong, []);
    assert_eq!(examples.len(), table.causes.len(), "an example for nothing");
}

// U2
#[test]
fn ids_are_unique_and_every_word_and_blank_is_known() {
    let table = table();
    let ids: HashSet<&str> = table.causes.iter().map(|cause| cause.id.as_str()).collect();
    assert_eq!(ids.len(), table.causes.len());
    assert!(ids.len() >= 100, "{} causes", ids.len());
    let kinds = TransportKind::ALL.map(TransportKind::as_str);
    let obstacles = Obstacle::ALL.map(Obstacle::as_str);
    for cause in &table.causes {
        let when = cause.cause_conditions();
        for (words, known) in [
            (&when.standing, &STANDINGS[..]),
            (&when.entry, &ENTRIES),
            (&when.failure, &FAILURES),
            (&when.obstacle, &obstacles),
            (&when.transport, &kinds),
        ] {
            assert!(words.iter().all(|word| known.contains(&word.as_str())), "{}: {words:?}", cause.id);
        }
        assert!(!cause.hints.is_empty(), "{}: nothing to do", cause.id);
        check_sentences(cause);
    }
}

fn check_sentences(cause: &KnownCause) {
    let known: Vec<&str> = Blank::ALL.into_iter().map(Blank::name).collect();
    for sentence in cause.hints.iter().chain([&cause.cause]) {
        assert!(!sentence.ends_with('.') && !sentence.is_empty(), "{}: {sentence}", cause.id);
        let blanks =
            sentence.split('{').skip(1).filter_map(|behind| behind.split_once('}')).map(|(name, _)| name);
        let is_blank = |name: &&str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
        for name in blanks.filter(is_blank) {
            assert!(known.contains(&name), "{}: nothing is called `{name}`", cause.id);
        }
    }
}

// U2: a text pattern is compared in small letters, so one with a capital would never fit.
#[test]
fn every_pattern_for_text_fits_a_line_of_its_own() {
    let lines = include_str!("causes.json").lines().filter(|line| line.contains("\"says\""));
    let lines: Vec<&str> = lines.collect();
    assert!(lines.len() >= 30, "{} patterns", lines.len());
    for line in lines {
        let (_, behind) = line.split_once("\"says\"").unwrap();
        let (patterns, _) = behind.split_once(']').unwrap();
        assert_eq!(patterns, patterns.to_lowercase());
    }
}

// U2
#[test]
fn a_hint_with_a_missing_value_is_left_out_and_values_are_not_expanded_again() {
    let mut blanks = Blanks::default();
    blanks.set(Blank::Program, Some("{server}"));
    blanks.set(Blank::Variable, Some("API_KEY"));
    assert_eq!(blanks.fill_text("run {program}").as_deref(), Some("run {server}"));
    assert_eq!(blanks.fill_text("did you mean `{nearest}`?"), None);
    assert_eq!(
        blanks.fill_text("${{variable}} {} {x} ${HOME}").as_deref(),
        Some("${API_KEY} {} {x} ${HOME}")
    );
    assert_eq!(blanks.fill_loosely("exit code {exit}"), "exit code not known");
}

// U2
#[test]
fn error_texts_select_a_cause_only_among_matching_failures() {
    let facts = ServerFacts {
        standing: "ready".into(),
        transport: Some("http".into()),
        failure: Some("unauthorized".into()),
        status: Some(401),
        said: vec!["Cannot connect to the Docker daemon".into(), "npm error 404".into()],
        ..ServerFacts::default()
    };
    assert_eq!(id(&facts), "needs-sign-in");
    let facts = ServerFacts { headers: vec!["authorization".into()], ..facts };
    assert_eq!(id(&facts), "token-refused");
}

// U2
#[test]
fn pieces_of_a_pattern_must_occur_on_one_line_in_order() {
    let said = |text: &str| {
        let (standing, transport, failure) = ("ready".into(), Some("stdio".into()), Some("timed-out".into()));
        id(&ServerFacts { standing, transport, failure, said: vec![text.into()], ..ServerFacts::default() })
    };
    assert_eq!(said("The API key is REQUIRED"), "key-missing");
    assert_eq!(said("required: an api key"), "silent");
    assert_eq!(said("an api key\nis required"), "silent");
}

// U2
#[test]
fn a_fetch_that_failed_is_a_backend_that_cannot_be_reached() {
    let mut facts = examples().remove("backend-unreachable").unwrap();
    facts.said = vec!["TypeError: fetch failed".to_owned()];
    assert_eq!(id(&facts), "backend-unreachable");
}
