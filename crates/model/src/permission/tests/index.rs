//! Tests that the index leads to the same decision as checking every rule.

use proptest::prelude::*;
use serde_json::Value;

use super::super::prefixes::PrefixMap;
use super::*;
use crate::name::ToolNameHash;
use crate::permission::{RuleValidity, decide_call_with_validity};

/// The decision when all rules are checked one after the other.
fn straightly(
    subject: &PermissionSubject<'_>,
    rules: &[PermissionRule],
    mode: PermissionMode,
    known: &KnownServers,
    holds: impl Fn(&PermissionRule) -> bool,
) -> (PermissionVerdict, Option<ConfigOrigin>) {
    let mut rules: Vec<_> = rules.iter().filter(|rule| rule.matches_call(subject, known)).collect();
    rules.sort_by_key(|rule| rule.scope());
    let first = |kind| rules.iter().find(|rule| rule.kind() == kind);
    let allowing = rules.iter().find(|rule| rule.kind() == RuleKind::Allow && holds(rule));
    let by = |verdict, rule: &PermissionRule| (verdict, Some(rule.origin().clone()));
    let asked =
        if mode == PermissionMode::DontAsk { PermissionVerdict::Deny } else { PermissionVerdict::Ask };
    match (first(RuleKind::Deny), first(RuleKind::Ask), allowing, first(RuleKind::Allow)) {
        (Some(rule), ..) => by(PermissionVerdict::Deny, rule),
        _ if mode == PermissionMode::Plan && !subject.read_only => (PermissionVerdict::Deny, None),
        (None, Some(rule), ..) => by(asked, rule),
        (None, None, Some(rule), _) => by(PermissionVerdict::Allow, rule),
        (None, None, None, _) if mode == PermissionMode::BypassPermissions => {
            (PermissionVerdict::Allow, None)
        }
        (None, None, None, Some(rule)) => by(asked, rule),
        (None, None, None, None) if mode == PermissionMode::Client => (PermissionVerdict::Allow, None),
        (None, None, None, None) => (asked, None),
    }
}

fn origin_of(why: DecisionReason) -> Option<ConfigOrigin> {
    match why {
        DecisionReason::Rule { rule }
        | DecisionReason::Changed { rule }
        | DecisionReason::ServerReplaced { rule }
        | DecisionReason::NobodyToAsk { rule: Some(rule) } => Some(rule.origin().clone()),
        DecisionReason::Mode { .. } | DecisionReason::NobodyToAsk { rule: None } => None,
        DecisionReason::Classifier { .. } | DecisionReason::Unreviewed | DecisionReason::Hook { .. } => {
            unreachable!("neither speaks here")
        }
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
        ToolNameHash::new(&ServerName::new(&server), &ToolName::new(&tool)).hashed_name(step)
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
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn indexed_decision_agrees_with_linear_search(
        written in prop::collection::vec(some_rule(), 0..12),
        (server, tool) in (server(), tool()),
        has_name in any::<bool>(),
        others in prop::collection::vec(server(), 0..3),
        arguments in arguments(),
        (mode, read_only) in (prop::sample::select(PermissionMode::ALL.to_vec()), any::<bool>()),
        held in any::<u16>(),
    ) {
        // P3 P4 P6 B34 B35
        let read = |(at, (kind, text, scope)): (usize, &(RuleKind, String, RuleScope))| {
            let origin = ConfigOrigin::for_source(Source::from_label(&at.to_string()));
            Some((PermissionRule::parse(*kind, text, origin.clone(), *scope).ok()?, origin, held & (1 << at) == 0))
        };
        let read = || written.iter().enumerate().filter_map(read);
        let holds = |rule: &PermissionRule| read().any(|(_, origin, holds)| holds && origin == *rule.origin());
        let validity = |rule: &PermissionRule| if holds(rule) { RuleValidity::Valid } else { RuleValidity::ToolChanged };
        let rules: Vec<_> = read().map(|(rule, ..)| rule).collect();
        let set = RuleSet::new(read().map(|(rule, ..)| rule));
        let known = KnownServers::new(others.iter().chain([&server]).map(|server| ServerName::new(server)));
        let (server, tool) = (ServerName::new(&server), ToolName::new(&tool));
        let names = PublicNames::assign([(server.clone(), tool.clone())]);
        let public = names.public_name(&server, &tool).filter(|_| has_name);
        let subject = PermissionSubject { server: &server, tool: &tool, public, arguments: arguments.as_ref(), read_only };
        let Decision { verdict, why } = decide_call_with_validity(&subject, &set, mode, &known, validity);
        prop_assert_eq!((verdict, origin_of(why)), straightly(&subject, &rules, mode, &known, holds));
    }

    #[test]
    fn prefix_map_finds_all_prefixes(
        texts in prop::collection::btree_set("[abé]{0,4}", 0..20),
        wanted in "[abé]{0,6}",
    ) {
        // P4
        let mut prefixes = PrefixMap::default();
        texts.iter().for_each(|text| prefixes.push_prefix(text, text));
        let mut found: Vec<_> = prefixes.find_values(&wanted).copied().collect();
        found.reverse();
        let expected: Vec<_> = texts.iter().filter(|text| wanted.starts_with(text.as_str())).collect();
        prop_assert_eq!(found, expected);
    }
}
