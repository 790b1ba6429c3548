//! Answers of hook commands: their output and their exit codes.

use serde_json::json;

use super::*;

fn ran(code: i32, printed: &str, said: &str) -> FinishedCommand {
    let exit = ProcessExit { code: Some(code), signal: None };
    FinishedCommand { exit, stdout: printed.into(), stderr: said.into() }
}

fn read(event: HookEvent, printed: &str) -> Result<HookAnswer, HookFailure> {
    HookAnswer::parse(event, &ran(0, printed, ""))
}

fn printed(value: &Value) -> HookAnswer {
    read(HookEvent::PreToolUse, &value.to_string()).unwrap()
}

// P5
#[test]
fn every_field_of_the_hook_output_is_parsed() {
    let whole = json!({ "suppressOutput": true, "systemMessage": "look", "hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": "why",
        "updatedInput": { "a": 1 }, "additionalContext": "more", "unknown": {},
    }});
    assert_eq!(
        printed(&whole),
        HookAnswer {
            verdict: Some(PermissionVerdict::Ask),
            reason: Some("why".into()),
            arguments: Some(json!({ "a": 1 })),
            context: Some("more".into()),
            message: Some("look".into()),
            ..HookAnswer::default()
        }
    );
    for (word, verdict) in [
        ("allow", PermissionVerdict::Allow),
        ("ask", PermissionVerdict::Ask),
        ("deny", PermissionVerdict::Deny),
    ] {
        let answer = printed(&json!({ "hookSpecificOutput": { "permissionDecision": word } }));
        assert_eq!(answer.verdict, Some(verdict));
    }
    let old = printed(&json!({ "decision": "block", "reason": "no" }));
    assert_eq!((old.verdict, old.reason.as_deref()), (Some(PermissionVerdict::Deny), Some("no")));
    assert_eq!(printed(&json!({ "decision": "approve" })).verdict, Some(PermissionVerdict::Allow));
    let stopping = printed(&json!({ "continue": false, "stopReason": "enough" }));
    assert_eq!(
        (stopping.verdict, stopping.reason.as_deref()),
        (Some(PermissionVerdict::Deny), Some("enough"))
    );
    for output in [json!("text"), json!([{ "type": "text", "text": "t" }])] {
        let said = json!({ "hookSpecificOutput": { "updatedMCPToolOutput": output } });
        assert_eq!(printed(&said).replacement, Some(output));
    }
}

// P5 X5
#[test]
fn elicitation_reply_is_parsed_from_action_and_content() {
    let answer = |output: Value| {
        read(HookEvent::Elicitation, &json!({ "hookSpecificOutput": output }).to_string()).unwrap().reply
    };
    let content = json!({ "name": "Ada" });
    let accepted = answer(json!({ "action": "accept", "content": content }));
    assert_eq!(accepted, Some(ElicitationReply::Accept(content)));
    assert_eq!(answer(json!({ "action": "accept" })), Some(ElicitationReply::Accept(json!({}))));
    assert_eq!(answer(json!({ "action": "decline" })), Some(ElicitationReply::Decline));
    assert_eq!(answer(json!({ "action": "cancel" })), Some(ElicitationReply::Cancel));
    assert_eq!(answer(json!({})), None);
}

// P5
#[test]
fn invalid_hook_output_is_a_failure() {
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
        let mute = read(HookEvent::PreToolUse, broken).unwrap_err();
        assert!(!mute.0.contains("perhaps"), "{mute:?}");
    }
}

// P5
#[test]
fn plain_output_is_context_only_at_session_start() {
    assert_eq!(read(HookEvent::PreToolUse, "all fine\n").unwrap(), HookAnswer::default());
    let answer = read(HookEvent::SessionStart, " the build is broken\n").unwrap();
    assert_eq!(answer.context.as_deref(), Some("the build is broken"));
    assert_eq!(read(HookEvent::SessionStart, "  \n").unwrap(), HookAnswer::default());
}

// P5
#[test]
fn exit_code_two_denies_and_other_codes_are_failures() {
    let no =
        HookAnswer::parse(HookEvent::PreToolUse, &ran(2, r#"{"decision": "approve"}"#, "not on\tFriday\n"))
            .unwrap();
    assert_eq!((no.verdict, no.reason.as_deref()), (Some(PermissionVerdict::Deny), Some("not on\tFriday")));
    assert_eq!(no.reply, Some(ElicitationReply::Decline));
    let mute =
        HookAnswer::parse(HookEvent::PreToolUse, &ran(1, "", "usage\nbad --token abcdef1234567890\n\n"))
            .unwrap_err();
    assert_eq!(mute.0, "it exited with code 1: bad --token ***");
    let killed = FinishedCommand {
        exit: ProcessExit { code: None, signal: Some(9) },
        stdout: Vec::new(),
        stderr: Vec::new(),
    };
    assert_eq!(HookAnswer::parse(HookEvent::PreToolUse, &killed).unwrap_err().0, "it was ended by signal 9");
}

// P5 N7
#[test]
fn hook_texts_are_sanitized_and_bounded() {
    let long = "x".repeat(50_000);
    let said = json!({ "hookSpecificOutput": {
        "additionalContext": long, "permissionDecision": "deny", "permissionDecisionReason": "n\u{1b}[31mo\u{202e}",
    }});
    let answer = printed(&said);
    assert_eq!(answer.reason.as_deref(), Some("n[31mo"));
    assert!(answer.context.unwrap().chars().count() <= HOOK_TEXT_CHARS + 20);
}
