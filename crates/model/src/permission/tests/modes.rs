//! Tests of every mode with every kind of rule, and of rules that are no longer valid.

use super::*;
use crate::permission::{Decider, RuleValidity, decide_call_with_validity, denies_every_call};

/// The decision about a tool under `mode` with these rules; `holds` is the validity of allow rules.
fn decided(mode: PermissionMode, kinds: &[RuleKind], read_only: bool, holds: bool) -> Decision {
    decide_with(mode, kinds, read_only, if holds { RuleValidity::Valid } else { RuleValidity::ToolChanged })
}

fn decide_with(
    mode: PermissionMode,
    kinds: &[RuleKind],
    read_only: bool,
    validity: RuleValidity,
) -> Decision {
    let (server, tool) = (ServerName::new("git"), ToolName::new("push"));
    let subject =
        PermissionSubject { server: &server, tool: &tool, public: None, arguments: None, read_only };
    let rules = RuleSet::new(kinds.iter().map(|kind| rule(*kind, "mcp__git__push")));
    decide_call_with_validity(&subject, &rules, mode, &known(&["git"]), |_| validity)
}

#[test]
fn every_mode_is_combined_with_every_kind_of_rule() {
    // P2 P3 N4
    use PermissionVerdict::{Allow, Ask, Deny};
    use RuleKind::{Allow as A, Ask as Q, Deny as D};
    let kinds: [&[RuleKind]; 8] = [&[], &[A], &[Q], &[D], &[A, Q], &[A, D], &[Q, D], &[A, Q, D]];
    let table = [
        (PermissionMode::Default, [Ask, Allow, Ask, Deny, Ask, Deny, Deny, Deny]),
        (PermissionMode::AcceptEdits, [Ask, Allow, Ask, Deny, Ask, Deny, Deny, Deny]),
        (PermissionMode::Auto, [Ask, Allow, Ask, Deny, Ask, Deny, Deny, Deny]),
        (PermissionMode::Plan, [Ask, Allow, Ask, Deny, Ask, Deny, Deny, Deny]),
        (PermissionMode::BypassPermissions, [Allow, Allow, Ask, Deny, Ask, Deny, Deny, Deny]),
        (PermissionMode::DontAsk, [Deny, Allow, Deny, Deny, Deny, Deny, Deny, Deny]),
        (PermissionMode::Client, [Allow, Allow, Ask, Deny, Ask, Deny, Deny, Deny]),
    ];
    for (mode, verdicts) in table {
        for (kinds, verdict) in kinds.iter().zip(verdicts) {
            assert_eq!(decided(mode, kinds, true, true).verdict, verdict, "{mode} {kinds:?}");
            let writing = if mode == PermissionMode::Plan { Deny } else { verdict };
            assert_eq!(decided(mode, kinds, false, true).verdict, writing, "{mode} {kinds:?}");
        }
    }
}

#[test]
fn invalid_allow_rule_asks_the_user() {
    // P6 H09
    use RuleKind::{Allow, Ask, Deny};
    for mode in [
        PermissionMode::Default,
        PermissionMode::AcceptEdits,
        PermissionMode::Auto,
        PermissionMode::Plan,
        PermissionMode::Client,
    ] {
        let decision = decided(mode, &[Allow], true, false);
        assert_eq!(decision.verdict, PermissionVerdict::Ask, "{mode}");
        assert!(matches!(decision.why, DecisionReason::Changed { .. }), "{mode}");
        assert_eq!(decision.decider(), Decider::Person);
        assert!(!decision.is_left_to_classifier(), "a person is asked, whatever a classifier would say");
        assert_eq!(decided(mode, &[Allow, Ask], true, false), decided(mode, &[Ask], true, true));
        assert_eq!(decided(mode, &[Allow, Deny], true, false), decided(mode, &[Deny], true, true));
    }
    assert_eq!(decided(PermissionMode::DontAsk, &[Allow], true, false).verdict, PermissionVerdict::Deny);
    assert_eq!(decided(PermissionMode::DontAsk, &[Allow], true, false).decider(), Decider::Mode);
    let bypassed = decided(PermissionMode::BypassPermissions, &[Allow], true, false);
    assert_eq!(bypassed.why, DecisionReason::Mode { mode: PermissionMode::BypassPermissions });
    let planned = decided(PermissionMode::Plan, &[Allow], false, false);
    assert_eq!(planned.why, DecisionReason::Mode { mode: PermissionMode::Plan });
    assert_eq!(
        decided(PermissionMode::Default, &[Allow], true, false).why.to_string(),
        "allow rule `mcp__git__push` (user, settings), but the tool has changed since"
    );
}

/// The kinds and texts of rules.
type Rules<'r> = &'r [(RuleKind, &'r str)];

// N14 P2
#[test]
fn tool_is_denied_for_all_arguments_only_if_no_rule_can_allow_it() {
    use RuleKind::{Allow, Ask, Deny};
    let (server, tool) = (ServerName::new("git"), ToolName::new("push"));
    let denies = |mode, rules: Rules<'_>, read_only| {
        let subject =
            PermissionSubject { server: &server, tool: &tool, public: None, arguments: None, read_only };
        let rules = RuleSet::new(rules.iter().map(|(kind, text)| rule(*kind, text)));
        denies_every_call(&subject, &rules, mode, &known(&["git"]))
    };
    let table: [(PermissionMode, Rules<'_>, bool); 10] = [
        (PermissionMode::Default, &[], false),
        (PermissionMode::Client, &[(Ask, "mcp__git")], false),
        (PermissionMode::BypassPermissions, &[(Deny, "mcp__git__push")], true),
        (PermissionMode::BypassPermissions, &[(Deny, "mcp__git__push(branch:main)")], false),
        (PermissionMode::DontAsk, &[], true),
        (PermissionMode::DontAsk, &[(Allow, "mcp__git__push")], false),
        (PermissionMode::DontAsk, &[(Allow, "mcp__git__pull")], true),
        (PermissionMode::DontAsk, &[(Allow, "mcp__git__push(branch:main)")], false),
        (PermissionMode::DontAsk, &[(Ask, "mcp__git__push"), (Allow, "mcp__git__push(branch:main)")], true),
        (PermissionMode::DontAsk, &[(Deny, "mcp__git"), (Allow, "mcp__git__push(branch:main)")], true),
    ];
    for (mode, rules, expected) in table {
        assert_eq!(denies(mode, rules, true), expected, "{mode} {rules:?}");
    }
    assert!(denies(PermissionMode::Plan, &[], false) && !denies(PermissionMode::Plan, &[], true));
}

// B37
#[test]
fn allow_rule_for_a_replaced_server_asks_with_the_reason() {
    let decide = |mode| decide_with(mode, &[RuleKind::Allow], true, RuleValidity::ServerReplaced);
    let asked = decide(PermissionMode::Client);
    assert_eq!(asked.verdict, PermissionVerdict::Ask);
    assert_eq!(
        asked.why.to_string(),
        "allow rule `mcp__git__push` (user, settings), but it was given for another server of that name"
    );
    assert_eq!(decide(PermissionMode::DontAsk).verdict, PermissionVerdict::Deny);
    assert_eq!(decide(PermissionMode::BypassPermissions).verdict, PermissionVerdict::Allow);
}

#[test]
fn one_valid_allow_rule_is_enough() {
    // P6
    let (server, tool) = (ServerName::new("git"), ToolName::new("push"));
    let subject =
        PermissionSubject { server: &server, tool: &tool, public: None, arguments: None, read_only: false };
    let rules = RuleSet::new(["mcp__git__push", "mcp__git"].map(|text| rule(RuleKind::Allow, text)));
    let validity = |rule: &PermissionRule| match rule.text() {
        "mcp__git" => RuleValidity::Valid,
        _ => RuleValidity::ToolChanged,
    };
    let decision =
        decide_call_with_validity(&subject, &rules, PermissionMode::Default, &known(&["git"]), validity);
    assert_eq!(decision.why.to_string(), "allow rule `mcp__git` (user, settings)");
}

#[test]
fn only_mode_auto_without_a_rule_is_left_to_a_classifier() {
    // P2
    for mode in PermissionMode::ALL {
        let decision = decided(mode, &[], true, true);
        assert_eq!(decision.is_left_to_classifier(), mode == PermissionMode::Auto, "{mode}");
    }
    for kind in [RuleKind::Allow, RuleKind::Ask, RuleKind::Deny] {
        assert!(!decided(PermissionMode::Auto, &[kind], true, true).is_left_to_classifier(), "{kind}");
    }
}

#[test]
fn mode_client_leaves_to_the_client_only_tools_that_have_not_changed() {
    // P2 P6
    use RuleKind::{Allow, Ask, Deny};
    let changed = |mode, kinds: &[RuleKind]| decided(mode, kinds, true, true).for_changed_tool();
    assert_eq!(
        changed(PermissionMode::Client, &[]),
        Decision { verdict: PermissionVerdict::Ask, why: DecisionReason::Unreviewed }
    );
    assert_eq!(changed(PermissionMode::Client, &[]).decider(), Decider::Person);
    for kinds in [&[Allow][..], &[Ask], &[Deny], &[Allow, Ask]] {
        assert_eq!(
            changed(PermissionMode::Client, kinds),
            decided(PermissionMode::Client, kinds, true, true),
            "{kinds:?}"
        );
    }
    let bypassed = decided(PermissionMode::BypassPermissions, &[], true, true);
    assert_eq!(changed(PermissionMode::BypassPermissions, &[]), bypassed, "only mode `client` asks here");
}
