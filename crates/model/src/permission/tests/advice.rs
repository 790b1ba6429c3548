//! Tests of a hook's advice combined with every decision.

use super::*;
use crate::permission::{Decider, HookAdvice};

fn advice(verdict: PermissionVerdict) -> HookAdvice {
    HookAdvice { verdict, hook: "guard".to_owned(), reason: Some("because".to_owned()) }
}

/// The decision about a call under `mode` with this rule, after a hook's advice.
fn advised(mode: PermissionMode, by: Option<RuleKind>, read_only: bool, said: PermissionVerdict) -> Decision {
    let (server, tool) = (ServerName::new("git"), ToolName::new("push"));
    let subject =
        PermissionSubject { server: &server, tool: &tool, public: None, arguments: None, read_only };
    let rules = RuleSet::new(by.map(|kind| rule(kind, "mcp__git__push")));
    decide_call(&subject, &rules, mode, &known(&["git"])).apply_advice(&advice(said), mode)
}

#[test]
fn hook_allow_overrides_no_rule_and_not_plan_mode() {
    // P1 P2 K1
    use PermissionVerdict::{Allow, Ask, Deny};
    for mode in PermissionMode::ALL {
        let nobody = mode == PermissionMode::DontAsk;
        let asked = if nobody { Deny } else { Ask };
        let plan = mode == PermissionMode::Plan;
        for (by, expected) in [
            (Some(RuleKind::Deny), Deny),
            (Some(RuleKind::Ask), asked),
            (Some(RuleKind::Allow), Allow),
            (None, Allow),
        ] {
            assert_eq!(advised(mode, by, true, Allow).verdict, expected, "{mode} {by:?}");
            let expected = if plan { Deny } else { expected };
            assert_eq!(advised(mode, by, false, Allow).verdict, expected, "{mode} {by:?}");
        }
    }
}

#[test]
fn hook_ask_turns_every_allow_into_ask() {
    // P1 P2 K1
    for mode in PermissionMode::ALL {
        let asked =
            if mode == PermissionMode::DontAsk { PermissionVerdict::Deny } else { PermissionVerdict::Ask };
        for (by, expected) in [
            (Some(RuleKind::Deny), PermissionVerdict::Deny),
            (Some(RuleKind::Ask), asked),
            (Some(RuleKind::Allow), asked),
            (None, asked),
        ] {
            assert_eq!(advised(mode, by, true, PermissionVerdict::Ask).verdict, expected, "{mode} {by:?}");
        }
    }
}

#[test]
fn hook_deny_wins_unless_already_denied() {
    // P1 K1
    for mode in PermissionMode::ALL {
        for by in [None, Some(RuleKind::Allow), Some(RuleKind::Ask)] {
            assert_eq!(
                advised(mode, by, true, PermissionVerdict::Deny).verdict,
                PermissionVerdict::Deny,
                "{mode} {by:?}"
            );
        }
        let decision = advised(mode, Some(RuleKind::Deny), true, PermissionVerdict::Deny);
        assert_eq!(decision.decider(), Decider::Rule);
    }
}

#[test]
fn decision_names_the_hook_and_its_reason() {
    // P1
    let decision = advised(PermissionMode::Default, None, false, PermissionVerdict::Deny);
    assert_eq!(decision.why.to_string(), "hook `guard`: because");
    assert_eq!(decision.decider(), Decider::Hook);
    assert_eq!(
        serde_json::to_value(&decision).unwrap(),
        json!({
            "verdict": "deny",
            "why": { "by": "hook", "verdict": "deny", "hook": "guard", "reason": "because" },
        })
    );
}

#[test]
fn decider_follows_from_the_decision() {
    // P1
    let decided = |mode, by| advised(mode, by, true, PermissionVerdict::Ask).decider();
    assert_eq!(decided(PermissionMode::Default, None), Decider::Person);
    assert_eq!(decided(PermissionMode::Default, Some(RuleKind::Deny)), Decider::Rule);
    assert_eq!(decided(PermissionMode::DontAsk, Some(RuleKind::Ask)), Decider::Mode);
    assert_eq!(decided(PermissionMode::DontAsk, None), Decider::Hook);
}
