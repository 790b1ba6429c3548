//! What a hook's word does to every decision there can be.

use super::*;
use crate::permission::{Advice, Decider};

fn advice(verdict: Verdict) -> Advice {
    Advice { verdict, hook: "guard".to_owned(), reason: Some("because".to_owned()) }
}

/// What is decided about a call under `mode`, with this rule about it, when a hook has spoken.
fn advised(mode: Mode, by: Option<RuleKind>, read_only: bool, said: Verdict) -> Decision {
    let (server, tool) = (ServerName::new("git"), ToolName::new("push"));
    let subject = Subject { server: &server, tool: &tool, public: None, arguments: None, read_only };
    let rules = RuleSet::new(by.map(|kind| rule(kind, "mcp__git__push")));
    decide(&subject, &rules, mode, &known(&["git"])).advised(&advice(said), mode)
}

#[test]
fn a_hook_that_allows_goes_past_no_rule_and_not_past_plan() {
    // P1 P2 K1
    use Verdict::{Allow, Ask, Deny};
    for mode in Mode::ALL {
        let nobody = mode == Mode::DontAsk;
        let asked = if nobody { Deny } else { Ask };
        let plan = mode == Mode::Plan;
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
fn a_hook_that_asks_makes_a_question_of_every_permission() {
    // P1 P2 K1
    for mode in Mode::ALL {
        let asked = if mode == Mode::DontAsk { Verdict::Deny } else { Verdict::Ask };
        for (by, expected) in [
            (Some(RuleKind::Deny), Verdict::Deny),
            (Some(RuleKind::Ask), asked),
            (Some(RuleKind::Allow), asked),
            (None, asked),
        ] {
            assert_eq!(advised(mode, by, true, Verdict::Ask).verdict, expected, "{mode} {by:?}");
        }
    }
}

#[test]
fn a_hook_that_denies_has_the_last_word_over_what_is_not_denied_already() {
    // P1 K1
    for mode in Mode::ALL {
        for by in [None, Some(RuleKind::Allow), Some(RuleKind::Ask)] {
            assert_eq!(advised(mode, by, true, Verdict::Deny).verdict, Verdict::Deny, "{mode} {by:?}");
        }
        let decision = advised(mode, Some(RuleKind::Deny), true, Verdict::Deny);
        assert_eq!(decision.decider(), Decider::Rule);
    }
}

#[test]
fn a_decision_names_the_hook_and_what_it_said() {
    // P1
    let decision = advised(Mode::Default, None, false, Verdict::Deny);
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
fn who_decides_follows_from_what_was_decided() {
    // P1
    let decided = |mode, by| advised(mode, by, true, Verdict::Ask).decider();
    assert_eq!(decided(Mode::Default, None), Decider::Person);
    assert_eq!(decided(Mode::Default, Some(RuleKind::Deny)), Decider::Rule);
    assert_eq!(decided(Mode::DontAsk, Some(RuleKind::Ask)), Decider::Mode);
    assert_eq!(decided(Mode::DontAsk, None), Decider::Hook);
}
