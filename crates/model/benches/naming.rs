//! What it costs to name a catalogue of ten thousand tools, and to find the rule for one of them.

use divan::{Bencher, black_box};
use mcparley_model::name::{Names, ServerName, ToolName};
use mcparley_model::permission::{KnownServers, Mode, Rule, RuleKind, RuleScope, RuleSet, Subject, decide};
use mcparley_model::scope::{Origin, Source};

fn main() {
    divan::main();
}

/// Ten thousand tools of a hundred servers; every tool's name ends in `tail`.
fn catalogue(tail: &str) -> Vec<(ServerName, ToolName)> {
    let servers: Vec<_> = (0..100).map(|server| ServerName::new(&format!("server {server}"))).collect();
    (0..100)
        .flat_map(|tool| servers.iter().map(move |server| (server.clone(), tool)))
        .map(|(server, tool)| (server, ToolName::new(&format!("tool.{tool}{tail}"))))
        .collect()
}

#[divan::bench]
fn plain_names(bencher: Bencher) {
    bencher.with_inputs(|| catalogue("")).bench_values(Names::assign);
}

#[divan::bench]
fn names_too_long(bencher: Bencher) {
    bencher.with_inputs(|| catalogue(&"_too_long".repeat(8))).bench_values(Names::assign);
}

#[divan::bench]
fn names_that_all_collide(bencher: Bencher) {
    let twice =
        || catalogue("!").into_iter().step_by(2).chain(catalogue("?").into_iter().step_by(2)).collect();
    bencher.with_inputs(twice).bench_values(|pairs: Vec<_>| Names::assign(pairs));
}

#[divan::bench]
fn one_late_tool(bencher: Bencher) {
    let names = Names::assign(catalogue(""));
    let late = (ServerName::new("late"), ToolName::new("tool"));
    bencher.bench_local(|| black_box(&names).extend([late.clone()]));
}

/// Two hundred rules of all kinds for other tools, the last of which allows every tool of `server 7`.
fn rules() -> RuleSet {
    let origin = || Origin::whole(Source::inline("bench"));
    let kinds = [RuleKind::Deny, RuleKind::Ask, RuleKind::Allow];
    let texts =
        (0..199).map(|at| format!("mcp__server_{}__tool_{at}*", at % 100)).chain(["mcp__server_7".into()]);
    let kinds = kinds.into_iter().cycle().take(199).chain([RuleKind::Allow]);
    RuleSet::new(
        texts.zip(kinds).filter_map(|(text, kind)| Rule::parse(kind, &text, origin(), RuleScope::User).ok()),
    )
}

#[divan::bench]
fn decision_among_200_rules(bencher: Bencher) {
    let rules = rules();
    let known = KnownServers::new((0..100).map(|server| ServerName::new(&format!("server {server}"))));
    let (server, tool) = (ServerName::new("server 7"), ToolName::new("other.tool"));
    let subject = Subject { server: &server, tool: &tool, public: None, arguments: None, read_only: false };
    bencher.bench_local(|| decide(black_box(&subject), &rules, Mode::Default, &known));
}

/// The same where all of them are for tools of the server, as answers that allow a tool always add up to.
#[divan::bench]
fn decision_among_200_rules_of_one_server(bencher: Bencher) {
    decide_by(bencher, |at| format!("mcp__server_7__tool_{at}"));
}

/// The same where every rule looks at an argument, so that nothing can be decided once for all calls.
#[divan::bench]
fn decision_among_200_rules_about_arguments(bencher: Bencher) {
    decide_by(bencher, |at| format!("mcp__server_7__query*(sql:SELECT {at} *)"));
}

/// Decides about a query of `server 7` by two hundred rules of all kinds.
fn decide_by(bencher: Bencher, text: impl Fn(usize) -> String) {
    let origin = || Origin::whole(Source::inline("bench"));
    let kinds = [RuleKind::Deny, RuleKind::Ask, RuleKind::Allow].into_iter().cycle();
    let texts = (0..200).map(text);
    let rules = RuleSet::new(
        texts.zip(kinds).filter_map(|(text, kind)| Rule::parse(kind, &text, origin(), RuleScope::User).ok()),
    );
    let known = KnownServers::new((0..100).map(|server| ServerName::new(&format!("server {server}"))));
    let (server, tool) = (ServerName::new("server 7"), ToolName::new("query"));
    let arguments = serde_json::json!({ "sql": "SELECT 199 FROM t WHERE a = 1 AND b = 2" });
    let arguments = Some(&arguments);
    let subject = Subject { server: &server, tool: &tool, public: None, arguments, read_only: false };
    bencher.bench_local(|| decide(black_box(&subject), &rules, Mode::Default, &known));
}
