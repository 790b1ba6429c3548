//! Mode `auto`: who decides, and what happens when nobody can (P2, N4, H14, B49).

use std::sync::{Arc, Mutex};

use mcparley::model::permission::{Decider, Mode, Verdict};
use mcparley::{Answer, Approver, Boxed, Call, CallError, Case, Classifier, Opinion, Question};
use serde_json::{Value, json};

use crate::alive::{Alive, Making, scripted, servers};

fn making() -> Making {
    servers([("one", scripted(&[]))]).wish(|run_options| run_options.mode = Some(Mode::Auto))
}

fn echo() -> Call {
    Call::new("mcp__one__echo", json!({ "message": "hi" }))
}

/// What is said about a call that was not permitted.
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
async fn a_command_decides_and_is_told_everything_about_the_call() {
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
async fn whatever_goes_wrong_with_the_command_a_person_is_asked() {
    for (script, trouble) in [
        ("exit 1", "it did not end well"),
        ("echo yes", r#"it printed something else than `{"decision": …}`"#),
        (r#"echo '{"decision":"maybe"}'"#, r#"it printed something else than `{"decision": …}`"#),
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

// P2 B25: whoever wrote the repository decides nothing.
#[tokio::test]
async fn a_project_cannot_bring_a_classifier() {
    let setting = json!({ "autoClassifier": { "command": "/bin/sh", "args": ["-c", "touch ran"] } });
    for file in ["home/project/.claude/settings.json", "home/project/.claude/settings.local.json"] {
        let alive = making().file(file, &setting).ready().await;
        assert!(alive.host.call(echo()).await.is_err());
        assert!(!alive.world.path("home/project/ran").exists());
        let warned = alive.world.warnings();
        assert!(warned.iter().any(|text| text.contains("`autoClassifier` counts only in")), "{warned:?}");
    }
}

/// An embedding program's own, which remembers what it was asked.
#[derive(Clone, Default)]
struct Own(Arc<Mutex<Vec<bool>>>);

impl Classifier for Own {
    fn classify<'c>(&'c self, case: Case<'c>) -> Boxed<'c, Opinion> {
        self.0.lock().unwrap().push(case.was_allowed);
        let opinion = Opinion { verdict: Verdict::Ask, reason: "who knows".to_owned() };
        Box::pin(std::future::ready(opinion))
    }
}

struct Yes;

impl Approver for Yes {
    fn ask<'q>(&'q self, question: Question<'q>) -> Boxed<'q, Answer> {
        assert_eq!(question.decision.why.to_string(), "mode `auto`: who knows");
        assert_eq!(question.decision.decider(), Decider::Person);
        Box::pin(std::future::ready(Answer::Allow))
    }
}

// P2
#[tokio::test]
async fn a_programs_own_classifier_knows_what_a_person_said_before() {
    let own = Own::default();
    let alive = making().start_as(|builder| builder.classifier(own.clone()).approver(Yes));
    assert!(alive.host.ready(crate::alive::LONG).await.settled);
    alive.host.call(echo()).await.unwrap();
    alive.host.call(echo()).await.unwrap();
    assert_eq!(*own.0.lock().unwrap(), [false, true]);
    let consented = alive.call("one", "add", json!({ "a": 1, "b": 2 })).await;
    assert!(consented.is_ok(), "a person's own call is not classified");
    assert_eq!(own.0.lock().unwrap().len(), 2);
}
