//! What commands mean by what they print and how they end.

use serde_json::json;

use super::*;

fn ran(code: i32, printed: &str, said: &str) -> Ran {
    let exit = Exit { code: Some(code), signal: None };
    Ran { exit, printed: printed.into(), said: said.into() }
}

fn read(event: Event, printed: &str) -> Result<Answer, Mute> {
    Answer::read(event, &ran(0, printed, ""))
}

fn printed(value: &Value) -> Answer {
    read(Event::PreToolUse, &value.to_string()).unwrap()
}

// P5
#[test]
fn every_word_of_the_contract_is_understood() {
    let whole = json!({ "suppressOutput": true, "systemMessage": "look", "hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": "why",
        "updatedInput": { "a": 1 }, "additionalContext": "more", "unknown": {},
    }});
    assert_eq!(
        printed(&whole),
        Answer {
            verdict: Some(Verdict::Ask),
            reason: Some("why".into()),
            arguments: Some(json!({ "a": 1 })),
            context: Some("more".into()),
            message: Some("look".into()),
            ..Answer::default()
        }
    );
    for (word, verdict) in [("allow", Verdict::Allow), ("ask", Verdict::Ask), ("deny", Verdict::Deny)] {
        let answer = printed(&json!({ "hookSpecificOutput": { "permissionDecision": word } }));
        assert_eq!(answer.verdict, Some(verdict));
    }
    let old = printed(&json!({ "decision": "block", "reason": "no" }));
    assert_eq!((old.verdict, old.reason.as_deref()), (Some(Verdict::Deny), Some("no")));
    assert_eq!(printed(&json!({ "decision": "approve" })).verdict, Some(Verdict::Allow));
    let stopping = printed(&json!({ "continue": false, "stopReason": "enough" }));
    assert_eq!((stopping.verdict, stopping.reason.as_deref()), (Some(Verdict::Deny), Some("enough")));
    for output in [json!("text"), json!([{ "type": "text", "text": "t" }])] {
        let said = json!({ "hookSpecificOutput": { "updatedMCPToolOutput": output } });
        assert_eq!(printed(&said).replacement, Some(output));
    }
}

// P5 X5
#[test]
fn a_question_is_answered_by_action_and_content() {
    let answer = |output: Value| {
        read(Event::Elicitation, &json!({ "hookSpecificOutput": output }).to_string()).unwrap().reply
    };
    let content = json!({ "name": "Ada" });
    let accepted = answer(json!({ "action": "accept", "content": content }));
    assert_eq!(accepted, Some(Reply::Accept(content)));
    assert_eq!(answer(json!({ "action": "accept" })), Some(Reply::Accept(json!({}))));
    assert_eq!(answer(json!({ "action": "decline" })), Some(Reply::Decline));
    assert_eq!(answer(json!({ "action": "cancel" })), Some(Reply::Cancel));
    assert_eq!(answer(json!({})), None);
}

// P5
#[test]
fn what_breaks_the_contract_is_nothing_said() {
    for broken in [
        r#"{"hookSpecificOutput": {"permissionDecision": "perhaps"}}"#,
        r#"{"hookSpecificOutput": {"hookEventName": "PostToolUse", "permissionDecision": "allow"}}"#,
        r#"{"hookSpecificOutput": {"updatedInput": [1]}}"#,
        r#"{"hookSpecificOutput": {"updatedMCPToolOutput": 7}}"#,
        r#"{"hookSpecificOutput": {"action": "shrug"}}"#,
        r#"{"hookSpecificOutput": "allow"}"#,
        r#"{"continue": "no"}"#,
        r#"{"decision": "#,
    ] {
        let mute = read(Event::PreToolUse, broken).unwrap_err();
        assert!(!mute.0.contains("perhaps"), "{mute:?}");
    }
}

// P5
#[test]
fn plain_output_is_context_at_the_start_only() {
    assert_eq!(read(Event::PreToolUse, "all fine\n").unwrap(), Answer::default());
    let answer = read(Event::SessionStart, " the build is broken\n").unwrap();
    assert_eq!(answer.context.as_deref(), Some("the build is broken"));
    assert_eq!(read(Event::SessionStart, "  \n").unwrap(), Answer::default());
}

// P5
#[test]
fn code_two_is_a_no_and_other_codes_are_failures() {
    let no =
        Answer::read(Event::PreToolUse, &ran(2, r#"{"decision": "approve"}"#, "not on\tFriday\n")).unwrap();
    assert_eq!((no.verdict, no.reason.as_deref()), (Some(Verdict::Deny), Some("not on\tFriday")));
    assert_eq!(no.reply, Some(Reply::Decline));
    let mute =
        Answer::read(Event::PreToolUse, &ran(1, "", "usage\nbad --token abcdef1234567890\n\n")).unwrap_err();
    assert_eq!(mute.0, "it exited with code 1: bad --token ***");
    let killed = Ran { exit: Exit { code: None, signal: Some(9) }, printed: Vec::new(), said: Vec::new() };
    assert_eq!(Answer::read(Event::PreToolUse, &killed).unwrap_err().0, "it was ended by signal 9");
}

// P5 N7
#[test]
fn texts_of_hooks_are_clean_and_bounded() {
    let long = "x".repeat(50_000);
    let said = json!({ "hookSpecificOutput": {
        "additionalContext": long, "permissionDecision": "deny", "permissionDecisionReason": "n\u{1b}[31mo\u{202e}",
    }});
    let answer = printed(&said);
    assert_eq!(answer.reason.as_deref(), Some("n[31mo"));
    assert!(answer.context.unwrap().chars().count() <= HOOK_TEXT_CHARS + 20);
}
