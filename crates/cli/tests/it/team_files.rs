//! The files of `docs/examples/team`: they name only options and metrics that exist.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::traces::TracedGateway;
use crate::world::World;

const FILES: [&str; 5] =
    ["Containerfile", "grafana-dashboard.json", "kubernetes.yaml", "mcparley.service", "prometheus.yaml"];

fn docs() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn read_doc(name: &str) -> String {
    let path = docs().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn read_example(name: &str) -> String {
    read_doc(&format!("examples/team/{name}"))
}

/// The words of a text that begin with `start`, as far as they have the letters of a name.
fn words_with(text: &str, start: &str) -> BTreeSet<String> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    let is_word_start = |at: usize| !text[..at].ends_with(is_name);
    let starts = text.match_indices(start).filter(|(at, _)| is_word_start(*at));
    starts.map(|(at, _)| text[at..].split(|letter| !is_name(letter)).next().unwrap().to_owned()).collect()
}

/// The lines of a text that start a gateway, with lines that go on behind a backslash, and the arguments of a
/// manifest.
fn gateway_options(text: &str) -> BTreeSet<String> {
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().map(str::trim);
    let of_gateway = lines.filter(|line| {
        line.contains("mcparley serve") || line.starts_with("CMD [\"serve\"") || line.starts_with("- --")
    });
    of_gateway.flat_map(|line| words_with(line, "--")).collect()
}

// G6
#[test]
fn examples_for_a_team_use_only_options_of_the_program() {
    let world = World::new();
    // The help leaves out options of every command, so the program itself is asked.
    let is_known =
        |option: &str| !world.mcparley(&["serve", option, "--help"]).err.contains("unexpected argument");
    assert!(is_known("--state-key-file") && is_known("--any-address") && !is_known("--state-key"));
    let mut found = 0;
    for (name, text) in FILES
        .into_iter()
        .map(|name| (name, read_example(name)))
        .chain(["team.md", "operation.md"].map(|name| (name, read_doc(name))))
    {
        for option in gateway_options(&text) {
            assert!(is_known(&option), "`{option}` in {name} is no option of `serve`");
            found += 1;
        }
    }
    assert!(found > 15, "{found} options");
}

// G6
#[test]
fn every_file_for_a_team_is_described() {
    let page = read_doc("team.md");
    let mut names: Vec<String> = std::fs::read_dir(docs().join("examples/team"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, FILES);
    for name in FILES {
        assert!(page.contains(&format!("(examples/team/{name})")), "{name}");
    }
}

/// The number behind a name in a text.
fn number_after(text: &str, name: &str) -> u64 {
    let rest = text.split(name).nth(1).unwrap_or_else(|| panic!("{name}"));
    rest.trim_start().split(|letter: char| !letter.is_ascii_digit()).next().unwrap().parse().unwrap()
}

// G6 F93
#[test]
fn processes_get_the_time_that_a_gateway_needs_to_end() {
    use mcparley::model::limits::{DOOR_DRAIN_TIME, TRACE_FLUSH_TIME};
    let ending = (DOOR_DRAIN_TIME + TRACE_FLUSH_TIME).as_secs();
    let manifest = read_example("kubernetes.yaml");
    let before = number_after(&manifest, "sleep:\n                seconds:");
    let granted = number_after(&manifest, "terminationGracePeriodSeconds:");
    assert!(granted >= before + ending + 10, "{granted}");
    assert!(number_after(&read_example("mcparley.service"), "TimeoutStopSec=") >= ending + 10);
    for (path, probe) in [("/readyz", "readinessProbe"), ("/healthz", "livenessProbe")] {
        let probe = manifest.split(probe).nth(1).unwrap();
        assert!(probe.split("Probe").next().unwrap().contains(&format!("path: {path}\n")), "{path}");
    }
}

// G6
#[test]
fn dashboard_and_pages_name_only_metrics_that_exist() {
    let gateway = TracedGateway::start(&[], &["--no-token"]);
    gateway.echo("one__echo", &json!({}), "");
    // A refused request, so that every family has a series.
    gateway.send("GET /nowhere HTTP/1.1\r\n", "");
    let metrics = gateway.send("GET /metrics HTTP/1.1\r\n", "");
    let head = metrics.split("\r\n\r\n").next().unwrap().to_ascii_lowercase();
    assert!(head.contains("content-type: application/openmetrics-text; version=1.0.0"), "{head}");
    assert!(metrics.trim_end().ends_with("# EOF"), "{metrics}");
    let known: BTreeSet<String> = metrics
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(|line| words_with(line.split(['{', ' ']).next().unwrap(), "mcparley_"))
        .collect();
    let dashboard: Value = serde_json::from_str(&read_example("grafana-dashboard.json")).unwrap();
    let mut queries = Vec::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().unwrap() {
            queries.push(target["expr"].as_str().unwrap().to_owned());
        }
    }
    for variable in dashboard["templating"]["list"].as_array().unwrap() {
        queries.extend(variable["query"]["query"].as_str().map(str::to_owned));
    }
    assert!(queries.len() > 10, "{queries:?}");
    let labels: BTreeSet<&str> =
        ["server", "tool", "principal", "outcome", "reason", "le", "job"].into_iter().collect();
    for query in &queries {
        let named = words_with(query, "mcparley_");
        assert!(!named.is_empty() && named.is_subset(&known), "{query}: {known:?}");
        for label in query.split("by (").skip(1).flat_map(|rest| rest.split(')').next().unwrap().split(", "))
        {
            assert!(labels.contains(label), "{label} in {query}");
        }
    }
    let page = words_with(&read_doc("operation.md"), "mcparley_");
    for name in &page {
        let is_family = known.iter().any(|known| known.starts_with(&format!("{name}_")));
        assert!(known.contains(name) || is_family, "{name}: {known:?}");
    }
    for name in &known {
        let family = ["_bucket", "_sum", "_count"].into_iter().find_map(|end| name.strip_suffix(end));
        assert!(page.contains(family.unwrap_or(name)), "{name} is not described");
    }
}
