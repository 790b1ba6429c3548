//! Every mode with every kind of rule, and what becomes of rules that do not hold any more.

use super::*;
use crate::permission::{Decider, RuleValidity, decide_where, denies_every_call};

/// What is decided about a tool under `mode` with these rules about it; `holds` says whether allow rules do.
fn decided(mode: Mode, kinds: &[RuleKind], read_only: bool, holds: bool) -> Decision {
    decide_with(mode, kinds, read_only, if holds { RuleValidity::Valid } else { RuleValidity::ToolChanged })
}

fn decide_with(mode: Mode, kinds: &[RuleKind], read_only: bool, validity: RuleValidity) -> Decision {
    let (server, tool) = (ServerName::new("git"), ToolName::new("push"));
    let subject = Subject { server: &server, tool: &tool, public: None, arguments: None, read_only };
    let rules = RuleSet::new(kinds.iter().map(|kind| rule(*kind, "mcp__git__push")));
    decide_where(&subject, &rules, mode, &known(&["git"]), |_| validity)
}

#[test]
fn every_mode_meets_every_kind_of_rule() {
    // P2 P3 N4
    use RuleKind::{Allow as A, Ask as Q, Deny as D};
    use Verdict::{Allow, Ask, Deny};
    let kinds: [&[RuleKind]; 8] = [&[], &[A], &[Q], &[D], &[A, Q], &[A, D], &[Q, D], &[A, Q, D]];
    let table = [
        (Mode::Default, [Ask, Allow, Ask, Deny, Ask, Deny, Deny, Deny]),
        (Mode::AcceptEdits, [Ask, Allow, Ask, Deny, Ask, Deny, Deny, Deny]),
        (Mode::Auto, [Ask, Allow, Ask, Deny, Ask, Deny, Deny, Deny]),
        (Mode::Plan, [Ask, Allow, Ask, Deny, Ask, Deny, Deny, Deny]),
        (Mode::BypassPermissions, [Allow, Allow, Ask, Deny, Ask, Deny, Deny, Deny]),
        (Mode::DontAsk, [Deny, Allow, Deny, Deny, Deny, Deny, Deny, Deny]),
        (Mode::Client, [Allow, Allow, Ask, Deny, Ask, Deny, Deny, Deny]),
    ];
    for (mode, verdicts) in table {
        for (kinds, verdict) in kinds.iter().zip(verdicts) {
            assert_eq!(decided(mode, kinds, true, true).verdict, verdict, "{mode} {kinds:?}");
            let writing = if mode == Mode::Plan { Deny } else { verdict };
            assert_eq!(decided(mode, kinds, false, true).verdict, writing, "{mode} {kinds:?}");
        }
    }
}

#[test]
fn an_allow_rule_that_does_not_hold_any_more_becomes_a_question() {
    // P6 H09
    use RuleKind::{Allow, Ask, Deny};
    for mode in [Mode::Default, Mode::AcceptEdits, Mode::Auto, Mode::Plan, Mode::Client] {
        let decision = decided(mode, &[Allow], true, false);
        assert_eq!(decision.verdict, Verdict::Ask, "{mode}");
        assert!(matches!(decision.why, Why::Changed { .. }), "{mode}");
        assert_eq!(decision.decider(), Decider::Person);
        assert!(!decision.is_left_to_classifier(), "a person is asked, whatever a classifier would say");
        assert_eq!(decided(mode, &[Allow, Ask], true, false), decided(mode, &[Ask], true, true));
        assert_eq!(decided(mode, &[Allow, Deny], true, false), decided(mode, &[Deny], true, true));
    }
    assert_eq!(decided(Mode::DontAsk, &[Allow], true, false).verdict, Verdict::Deny);
    assert_eq!(decided(Mode::DontAsk, &[Allow], true, false).decider(), Decider::Mode);
    let bypassed = decided(Mode::BypassPermissions, &[Allow], true, false);
    assert_eq!(bypassed.why, Why::Mode { mode: Mode::BypassPermissions });
    let planned = decided(Mode::Plan, &[Allow], false, false);
    assert_eq!(planned.why, Why::Mode { mode: Mode::Plan });
    assert_eq!(
        decided(Mode::Default, &[Allow], true, false).why.to_string(),
        "allow rule `mcp__git__push` (user, settings), but the tool has changed since"
    );
}

/// The kinds and texts of rules.
type Rules<'r> = &'r [(RuleKind, &'r str)];

// N14 P2
#[test]
fn a_tool_is_denied_whatever_its_arguments_only_where_no_rule_can_allow_it() {
    use RuleKind::{Allow, Ask, Deny};
    let (server, tool) = (ServerName::new("git"), ToolName::new("push"));
    let denies = |mode, rules: Rules<'_>, read_only| {
        let subject = Subject { server: &server, tool: &tool, public: None, arguments: None, read_only };
        let rules = RuleSet::new(rules.iter().map(|(kind, text)| rule(*kind, text)));
        denies_every_call(&subject, &rules, mode, &known(&["git"]))
    };
    let table: [(Mode, Rules<'_>, bool); 10] = [
        (Mode::Default, &[], false),
        (Mode::Client, &[(Ask, "mcp__git")], false),
        (Mode::BypassPermissions, &[(Deny, "mcp__git__push")], true),
        (Mode::BypassPermissions, &[(Deny, "mcp__git__push(branch:main)")], false),
        (Mode::DontAsk, &[], true),
        (Mode::DontAsk, &[(Allow, "mcp__git__push")], false),
        (Mode::DontAsk, &[(Allow, "mcp__git__pull")], true),
        (Mode::DontAsk, &[(Allow, "mcp__git__push(branch:main)")], false),
        (Mode::DontAsk, &[(Ask, "mcp__git__push"), (Allow, "mcp__git__push(branch:main)")], true),
        (Mode::DontAsk, &[(Deny, "mcp__git"), (Allow, "mcp__git__push(branch:main)")], true),
    ];
    for (mode, rules, expected) in table {
        assert_eq!(denies(mode, rules, true), expected, "{mode} {rules:?}");
    }
    assert!(denies(Mode::Plan, &[], false) && !denies(Mode::Plan, &[], true));
}

// B37
#[test]
fn an_allow_rule_given_for_another_server_becomes_a_question_that_says_so() {
    let decide = |mode| decide_with(mode, &[RuleKind::Allow], true, RuleValidity::ServerReplaced);
    let asked = decide(Mode::Client);
    assert_eq!(asked.verdict, Verdict::Ask);
    assert_eq!(
        asked.why.to_string(),
        "allow rule `mcp__git__push` (user, settings), but it was given for another server of that name"
    );
    assert_eq!(decide(Mode::DontAsk).verdict, Verdict::Deny);
    assert_eq!(decide(Mode::BypassPermissions).verdict, Verdict::Allow);
}

#[test]
fn of_several_allow_rules_one_that_holds_is_enough() {
    // P6
    let (server, tool) = (ServerName::new("git"), ToolName::new("push"));
    let subject = Subject { server: &server, tool: &tool, public: None, arguments: None, read_only: false };
    let rules = RuleSet::new(["mcp__git__push", "mcp__git"].map(|text| rule(RuleKind::Allow, text)));
    let validity = |rule: &Rule| match rule.text() {
        "mcp__git" => RuleValidity::Valid,
        _ => RuleValidity::ToolChanged,
    };
    let decision = decide_where(&subject, &rules, Mode::Default, &known(&["git"]), validity);
    assert_eq!(decision.why.to_string(), "allow rule `mcp__git` (user, settings)");
}

#[test]
fn only_mode_auto_without_a_rule_is_left_to_a_classifier() {
    // P2
    for mode in Mode::ALL {
        let decision = decided(mode, &[], true, true);
        assert_eq!(decision.is_left_to_classifier(), mode == Mode::Auto, "{mode}");
    }
    for kind in [RuleKind::Allow, RuleKind::Ask, RuleKind::Deny] {
        assert!(!decided(Mode::Auto, &[kind], true, true).is_left_to_classifier(), "{kind}");
    }
}

#[test]
fn mode_client_leaves_to_the_client_only_tools_that_have_not_changed() {
    // P2 P6
    use RuleKind::{Allow, Ask, Deny};
    let changed = |mode, kinds: &[RuleKind]| decided(mode, kinds, true, true).for_changed_tool();
    assert_eq!(changed(Mode::Client, &[]), Decision { verdict: Verdict::Ask, why: Why::Unreviewed });
    assert_eq!(changed(Mode::Client, &[]).decider(), Decider::Person);
    for kinds in [&[Allow][..], &[Ask], &[Deny], &[Allow, Ask]] {
        assert_eq!(changed(Mode::Client, kinds), decided(Mode::Client, kinds, true, true), "{kinds:?}");
    }
    let bypassed = decided(Mode::BypassPermissions, &[], true, true);
    assert_eq!(changed(Mode::BypassPermissions, &[]), bypassed, "only mode `client` asks here");
}
