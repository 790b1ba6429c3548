//! Benchmarks of assigning names to ten thousand tools, and of deciding about a call of one of them.

use divan::{Bencher, black_box};
use mcparley_model::name::{PublicNames, ServerName, ToolName};
use mcparley_model::permission::{
    KnownServers, PermissionMode, PermissionRule, PermissionSubject, RuleKind, RuleScope, RuleSet,
    decide_call,
};
use mcparley_model::scope::{ConfigOrigin, Source};

fn main() {
    divan::main();
}

/// Ten thousand tools of a hundred servers; every tool's name ends in `tail`.
fn catalog(tail: &str) -> Vec<(ServerName, ToolName)> {
    let servers: Vec<_> = (0..100).map(|server| ServerName::new(&format!("server {server}"))).collect();
    (0..100)
        .flat_map(|tool| servers.iter().map(move |server| (server.clone(), tool)))
        .map(|(server, tool)| (server, ToolName::new(&format!("tool.{tool}{tail}"))))
        .collect()
}

#[divan::bench]
fn plain_names(bencher: Bencher) {
    bencher.with_inputs(|| catalog("")).bench_values(PublicNames::assign);
}

#[divan::bench]
fn names_too_long(bencher: Bencher) {
    bencher.with_inputs(|| catalog(&"_too_long".repeat(8))).bench_values(PublicNames::assign);
}

#[divan::bench]
fn names_that_all_collide(bencher: Bencher) {
    let twice = || catalog("!").into_iter().step_by(2).chain(catalog("?").into_iter().step_by(2)).collect();
    bencher.with_inputs(twice).bench_values(|pairs: Vec<_>| PublicNames::assign(pairs));
}

#[divan::bench]
fn one_late_tool(bencher: Bencher) {
    let names = PublicNames::assign(catalog(""));
    let late = (ServerName::new("late"), ToolName::new("tool"));
    bencher.bench_local(|| black_box(&names).extend([late.clone()]));
}

/// Two hundred rules of all kinds for other tools, the last of which allows every tool of `server 7`.
fn rules() -> RuleSet {
    let origin = || ConfigOrigin::for_source(Source::from_label("bench"));
    let kinds = [RuleKind::Deny, RuleKind::Ask, RuleKind::Allow];
    let texts =
        (0..199).map(|at| format!("mcp__server_{}__tool_{at}*", at % 100)).chain(["mcp__server_7".into()]);
    let kinds = kinds.into_iter().cycle().take(199).chain([RuleKind::Allow]);
    RuleSet::new(
        texts
            .zip(kinds)
            .filter_map(|(text, kind)| PermissionRule::parse(kind, &text, origin(), RuleScope::User).ok()),
    )
}

#[divan::bench]
fn decision_among_200_rules(bencher: Bencher) {
    let rules = rules();
    let known = KnownServers::new((0..100).map(|server| ServerName::new(&format!("server {server}"))));
    let (server, tool) = (ServerName::new("server 7"), ToolName::new("other.tool"));
    let subject =
        PermissionSubject { server: &server, tool: &tool, public: None, arguments: None, read_only: false };
    bencher.bench_local(|| decide_call(black_box(&subject), &rules, PermissionMode::Default, &known));
}

/// Two hundred rules that all are for tools of the server, as "always allow" answers add up to.
#[divan::bench]
fn decision_among_200_rules_of_one_server(bencher: Bencher) {
    decide_by(bencher, |at| format!("mcp__server_7__tool_{at}"));
}

/// Two hundred rules that all have a condition, so that no decision can be cached for all calls.
#[divan::bench]
fn decision_among_200_rules_about_arguments(bencher: Bencher) {
    decide_by(bencher, |at| format!("mcp__server_7__query*(sql:SELECT {at} *)"));
}

/// Decides about a query of `server 7` by two hundred rules of all kinds.
fn decide_by(bencher: Bencher, text: impl Fn(usize) -> String) {
    let origin = || ConfigOrigin::for_source(Source::from_label("bench"));
    let kinds = [RuleKind::Deny, RuleKind::Ask, RuleKind::Allow].into_iter().cycle();
    let texts = (0..200).map(text);
    let rules = RuleSet::new(
        texts
            .zip(kinds)
            .filter_map(|(text, kind)| PermissionRule::parse(kind, &text, origin(), RuleScope::User).ok()),
    );
    let known = KnownServers::new((0..100).map(|server| ServerName::new(&format!("server {server}"))));
    let (server, tool) = (ServerName::new("server 7"), ToolName::new("query"));
    let arguments = serde_json::json!({ "sql": "SELECT 199 FROM t WHERE a = 1 AND b = 2" });
    let arguments = Some(&arguments);
    let subject =
        PermissionSubject { server: &server, tool: &tool, public: None, arguments, read_only: false };
    bencher.bench_local(|| decide_call(black_box(&subject), &rules, PermissionMode::Default, &known));
}
