//! Mode `auto`: the classifier decides, and the user is asked when it fails (P2, N4, H14, B49).

use std::sync::{Arc, Mutex};

use mcparley::model::permission::{Decider, PermissionMode, PermissionVerdict};
use mcparley::permission::{Classification, Classifier, ClassifierCase};
use mcparley::{Approver, BoxedFuture, Call, CallError, PermissionAnswer, PermissionQuestion};
use serde_json::{Value, json};

use crate::alive::{Alive, Making, scripted, servers};

fn making() -> Making {
    servers([("one", scripted(&[]))]).wish(|run_options| run_options.mode = Some(PermissionMode::Auto))
}

fn echo() -> Call {
    Call::new("mcp__one__echo", json!({ "message": "hi" }))
}

/// The error of a call that was not permitted.
async fn refusal(alive: &Alive) -> String {
    match alive.host.call(echo()).await.unwrap_err() {
        CallError::Denied { decision, .. } => decision.why.to_string(),
        other => panic!("{other}"),
    }
}

/// A host that asks this shell script, which has the JSON on its standard input.
async fn classified(script: &str) -> Alive {
    let setting =
        json!({ "autoClassifier": { "command": "/bin/sh", "args": ["-c", script], "timeout": 2000 } });
    making().file("home/.claude/settings.json", &setting).ready().await
}

// P2
#[tokio::test]
async fn classifier_command_gets_the_whole_call_and_decides() {
    let alive = classified(r#"cat > input.json; echo '{"decision":"allow","reason":"fine"}'"#).await;
    assert!(alive.host.call(echo()).await.is_ok());
    let written = std::fs::read_to_string(alive.world.path("home/project/input.json")).unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&written).unwrap(),
        json!({
            "server": "one", "tool": "echo", "name": "mcp__one__echo", "description": "Repeat a message",
            "arguments": { "message": "hi" },
            "hints": { "readOnly": true, "destructive": false, "idempotent": true, "openWorld": true },
            "wasAllowed": false,
        })
    );
    let alive = classified(r#"echo '{"decision":"deny","reason":"not\u202e today"}'"#).await;
    assert_eq!(refusal(&alive).await, "mode `auto`: not today");
    let alive = classified(r#"echo '{"decision":"ask"}'"#).await;
    assert_eq!(refusal(&alive).await, "mode `auto`: the classifier says so");
}

// P2
#[tokio::test]
async fn user_is_asked_when_the_classifier_command_fails() {
    for (script, trouble) in [
        ("exit 1", "it exited with an error"),
        ("echo yes", r#"it did not print `{"decision": …}`"#),
        (r#"echo '{"decision":"maybe"}'"#, r#"it did not print `{"decision": …}`"#),
        ("sleep 60", "it did not end within 2s"),
    ] {
        let alive = classified(script).await;
        assert_eq!(
            refusal(&alive).await,
            format!("mode `auto`: the classifier failed: {trouble}"),
            "{script}"
        );
    }
}

// P2 B25: the author of a repository decides nothing.
#[tokio::test]
async fn project_cannot_set_a_classifier() {
    let setting = json!({ "autoClassifier": { "command": "/bin/sh", "args": ["-c", "touch ran"] } });
    for file in ["home/project/.claude/settings.json", "home/project/.claude/settings.local.json"] {
        let alive = making().file(file, &setting).ready().await;
        assert!(alive.host.call(echo()).await.is_err());
        assert!(!alive.world.path("home/project/ran").exists());
        let warned = alive.world.warnings();
        assert!(warned.iter().any(|text| text.contains("`autoClassifier` counts only in")), "{warned:?}");
    }
}

/// A classifier of an embedding program, which records its cases.
#[derive(Clone, Default)]
struct Own(Arc<Mutex<Vec<bool>>>);

impl Classifier for Own {
    fn classify_call<'c>(&'c self, case: ClassifierCase<'c>) -> BoxedFuture<'c, Classification> {
        self.0.lock().unwrap().push(case.was_allowed);
        let opinion = Classification { verdict: PermissionVerdict::Ask, reason: "who knows".to_owned() };
        Box::pin(std::future::ready(opinion))
    }
}

struct Yes;

impl Approver for Yes {
    fn ask_permission<'q>(&'q self, question: PermissionQuestion<'q>) -> BoxedFuture<'q, PermissionAnswer> {
        assert_eq!(question.decision.why.to_string(), "mode `auto`: who knows");
        assert_eq!(question.decision.decider(), Decider::Person);
        Box::pin(std::future::ready(PermissionAnswer::Allow))
    }
}

// P2
#[tokio::test]
async fn classifier_of_a_program_gets_the_users_earlier_answer() {
    let own = Own::default();
    let alive = making().start_as(|builder| builder.classifier(own.clone()).approver(Yes));
    assert!(alive.host.wait_until_ready(crate::alive::LONG).await.settled);
    alive.host.call(echo()).await.unwrap();
    alive.host.call(echo()).await.unwrap();
    assert_eq!(*own.0.lock().unwrap(), [false, true]);
    let consented = alive.call("one", "add", json!({ "a": 1, "b": 2 })).await;
    assert!(consented.is_ok(), "a person's own call is not classified");
    assert_eq!(own.0.lock().unwrap().len(), 2);
}
