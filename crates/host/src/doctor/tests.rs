//! The table of causes is whole, every cause can be found, and blanks are filled with nothing foreign.

use std::collections::{BTreeMap, HashSet};

use mcparley_model::config::Kind;
use mcparley_wire::Obstacle;

use super::blank::{Blank, Blanks};
use super::cause::{Cause, Table};
use super::facts::Facts;

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

fn table() -> Table {
    serde_json::from_str(include_str!("causes.json")).unwrap()
}

fn examples() -> BTreeMap<String, Facts> {
    serde_json::from_str(include_str!("tests/examples.json")).unwrap()
}

fn id(facts: &Facts) -> String {
    table().fitting(facts).unwrap().id.clone()
}

// U2
#[test]
fn every_cause_is_the_first_to_fit_its_example() {
    let (table, examples) = (table(), examples());
    assert!(table.causes.len() >= 35, "{}", table.causes.len());
    let mut wrong = Vec::new();
    for cause in &table.causes {
        let facts = examples.get(&cause.id).unwrap_or_else(|| panic!("no example for `{}`", cause.id));
        let found = table.fitting(facts).map(|found| found.id.as_str());
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
    let kinds = Kind::ALL.map(Kind::as_str);
    let obstacles = Obstacle::ALL.map(Obstacle::as_str);
    for cause in &table.causes {
        let when = cause.when();
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

fn check_sentences(cause: &Cause) {
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
fn an_advice_with_an_open_blank_is_left_out_and_a_filled_one_is_never_read_again() {
    let mut blanks = Blanks::default();
    blanks.set(Blank::Program, Some("{server}"));
    blanks.set(Blank::Variable, Some("API_KEY"));
    assert_eq!(blanks.fill("run {program}").as_deref(), Some("run {server}"));
    assert_eq!(blanks.fill("did you mean `{nearest}`?"), None);
    assert_eq!(blanks.fill("${{variable}} {} {x} ${HOME}").as_deref(), Some("${API_KEY} {} {x} ${HOME}"));
    assert_eq!(blanks.fill_loosely("exit code {exit}"), "exit code not known");
}

// U2
#[test]
fn what_a_server_says_chooses_only_among_servers_that_failed_so() {
    let facts = Facts {
        standing: "ready".into(),
        transport: Some("http".into()),
        failure: Some("unauthorized".into()),
        status: Some(401),
        said: vec!["Cannot connect to the Docker daemon".into(), "npm error 404".into()],
        ..Facts::default()
    };
    assert_eq!(id(&facts), "needs-sign-in");
    let facts = Facts { headers: vec!["authorization".into()], ..facts };
    assert_eq!(id(&facts), "token-refused");
}

// U2
#[test]
fn the_pieces_of_a_pattern_stand_on_one_line_and_in_order() {
    let said = |text: &str| {
        let (standing, transport, failure) = ("ready".into(), Some("stdio".into()), Some("timed-out".into()));
        id(&Facts { standing, transport, failure, said: vec![text.into()], ..Facts::default() })
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
