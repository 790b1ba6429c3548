//! Shows that the quick way to the rule that decides leads to the same one as looking at every rule.

use proptest::prelude::*;
use serde_json::Value;

use super::super::prefixes::Prefixes;
use super::*;
use crate::name::Identity;
use crate::permission::{RuleValidity, decide_where};

/// What is decided when every rule is looked at, one after the other.
fn straightly(
    subject: &Subject<'_>,
    rules: &[Rule],
    mode: Mode,
    known: &KnownServers,
    holds: impl Fn(&Rule) -> bool,
) -> (Verdict, Option<Origin>) {
    let mut rules: Vec<_> = rules.iter().filter(|rule| rule.matches(subject, known)).collect();
    rules.sort_by_key(|rule| rule.scope());
    let first = |kind| rules.iter().find(|rule| rule.kind() == kind);
    let allowing = rules.iter().find(|rule| rule.kind() == RuleKind::Allow && holds(rule));
    let by = |verdict, rule: &Rule| (verdict, Some(rule.origin().clone()));
    let asked = if mode == Mode::DontAsk { Verdict::Deny } else { Verdict::Ask };
    match (first(RuleKind::Deny), first(RuleKind::Ask), allowing, first(RuleKind::Allow)) {
        (Some(rule), ..) => by(Verdict::Deny, rule),
        _ if mode == Mode::Plan && !subject.read_only => (Verdict::Deny, None),
        (None, Some(rule), ..) => by(asked, rule),
        (None, None, Some(rule), _) => by(Verdict::Allow, rule),
        (None, None, None, _) if mode == Mode::BypassPermissions => (Verdict::Allow, None),
        (None, None, None, Some(rule)) => by(asked, rule),
        (None, None, None, None) if mode == Mode::Client => (Verdict::Allow, None),
        (None, None, None, None) => (asked, None),
    }
}

fn origin_of(why: Why) -> Option<Origin> {
    match why {
        Why::Rule { rule }
        | Why::Changed { rule }
        | Why::ServerReplaced { rule }
        | Why::NobodyToAsk { rule: Some(rule) } => Some(rule.origin().clone()),
        Why::Mode { .. } | Why::NobodyToAsk { rule: None } => None,
        Why::Classifier { .. } | Why::Unreviewed | Why::Hook { .. } => unreachable!("neither speaks here"),
    }
}

fn server() -> impl Strategy<Value = String> {
    prop_oneof!["[ab _é]{0,3}", "a__[ab]", "claude\\.ai [ab _]{0,3}", Just("long-".repeat(20))]
}

fn tool() -> impl Strategy<Value = String> {
    prop_oneof!["[ab _é]{0,3}", Just("b__a".to_owned())]
}

/// The name of a rule: for all, for some servers and tools, for one tool by its hash, for a built-in tool.
fn name() -> impl Strategy<Value = String> {
    let hashed = (server(), tool(), 0..4_usize).prop_map(|(server, tool, step)| {
        Identity::new(&ServerName::new(&server), &ToolName::new(&tool)).hashed(step)
    });
    prop_oneof![
        1 => Just("*".to_owned()),
        1 => Just("ToolSearch".to_owned()),
        2 => hashed,
        6 => (server(), tool()).prop_map(|(server, tool)| format!("mcp__{server}__{tool}")),
        4 => (server(), "[ab*_]{0,3}").prop_map(|(server, tool)| format!("mcp__{server}__{tool}")),
        4 => ("[ab*_ é]{1,3}", "(__[ab*_]{0,3})?").prop_map(|(server, tool)| format!("mcp__{server}{tool}")),
        2 => server().prop_map(|server| format!("mcp__{server}")),
    ]
}

fn some_rule() -> impl Strategy<Value = (RuleKind, String, RuleScope)> {
    let kind = prop::sample::select(vec![RuleKind::Allow, RuleKind::Allow, RuleKind::Ask, RuleKind::Deny]);
    let scope = prop::sample::select(vec![RuleScope::Managed, RuleScope::User, RuleScope::Local]);
    let condition = prop_oneof![Just(String::new()), "\\([kl]:[12,*é\\[]{0,4}\\)"];
    (kind, name(), condition, scope)
        .prop_map(|(kind, name, condition, scope)| (kind, name + &condition, scope))
}

fn arguments() -> impl Strategy<Value = Option<Value>> {
    let value = || {
        prop_oneof![
            "[12,é]{0,4}".prop_map(Value::from),
            (0..30_u8).prop_map(Value::from),
            prop::collection::vec(1..3_u8, 0..3).prop_map(Value::from),
        ]
    };
    prop_oneof![
        Just(None),
        value().prop_map(Some),
        value().prop_map(|k| Some(json!({ "k": k }))),
        (value(), value()).prop_map(|(k, l)| Some(json!({ "l": l, "k": k }))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn the_rule_that_decides_is_the_one_found_by_looking_at_all(
        written in prop::collection::vec(some_rule(), 0..12),
        (server, tool) in (server(), tool()),
        has_name in any::<bool>(),
        others in prop::collection::vec(server(), 0..3),
        arguments in arguments(),
        (mode, read_only) in (prop::sample::select(Mode::ALL.to_vec()), any::<bool>()),
        held in any::<u16>(),
    ) {
        // P3 P4 P6 B34 B35
        let read = |(at, (kind, text, scope)): (usize, &(RuleKind, String, RuleScope))| {
            let origin = Origin::whole(Source::inline(&at.to_string()));
            Some((Rule::parse(*kind, text, origin.clone(), *scope).ok()?, origin, held & (1 << at) == 0))
        };
        let read = || written.iter().enumerate().filter_map(read);
        let holds = |rule: &Rule| read().any(|(_, origin, holds)| holds && origin == *rule.origin());
        let validity = |rule: &Rule| if holds(rule) { RuleValidity::Valid } else { RuleValidity::ToolChanged };
        let rules: Vec<_> = read().map(|(rule, ..)| rule).collect();
        let set = RuleSet::new(read().map(|(rule, ..)| rule));
        let known = KnownServers::new(others.iter().chain([&server]).map(|server| ServerName::new(server)));
        let (server, tool) = (ServerName::new(&server), ToolName::new(&tool));
        let names = Names::assign([(server.clone(), tool.clone())]);
        let public = names.public(&server, &tool).filter(|_| has_name);
        let subject = Subject { server: &server, tool: &tool, public, arguments: arguments.as_ref(), read_only };
        let Decision { verdict, why } = decide_where(&subject, &set, mode, &known, validity);
        prop_assert_eq!((verdict, origin_of(why)), straightly(&subject, &rules, mode, &known, holds));
    }

    #[test]
    fn the_texts_that_begin_another_are_all_found(
        texts in prop::collection::btree_set("[abé]{0,4}", 0..20),
        wanted in "[abé]{0,6}",
    ) {
        // P4
        let mut prefixes = Prefixes::default();
        texts.iter().for_each(|text| prefixes.push(text, text));
        let mut found: Vec<_> = prefixes.of(&wanted).copied().collect();
        found.reverse();
        let expected: Vec<_> = texts.iter().filter(|text| wanted.starts_with(text.as_str())).collect();
        prop_assert_eq!(found, expected);
    }
}
