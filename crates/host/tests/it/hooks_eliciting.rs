//! Hooks that answer elicitations: before the user, and never in place of the user at a page.

use mcparley::elicit::{Elicitation, ElicitationReply, ElicitationRequest, UnansweredRequest};
use mcparley::hooks::{HookEvent, Hooks};
use mcparley::{BoxedFuture, CallError};
use mcparley_testkit::{ScriptedStdio, log_lines};
use serde_json::{Value, json};

use crate::alive::{Alive, Making, own, servers, stdio};
use crate::asking::Person;
use crate::hooking::{hooks, says};

const ASKS: &str = "server-request:elicitation/create";

fn asking(version: &str, scripts: &[&str], settings: &Value) -> Making {
    let entry = stdio(&ScriptedStdio::new(scripts).with_option("--versions", version));
    servers([("one", entry)]).file("home/.claude/settings.json", settings)
}

fn answers(reply: Value) -> Value {
    hooks("Elicitation", "one", &[&format!("cat > told; {}", says("Elicitation", reply))])
}

/// The reply that the server received.
async fn told(alive: &Alive) -> Value {
    let text = alive.echo("one", "hi").await.unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["result"].take()
}

// X5 P5
#[tokio::test]
async fn hook_answers_before_the_user_and_without_one() {
    let content = json!({ "name": "Grace", "age": 85, "score": 1.5, "sure": false, "colour": "green" });
    for person in [None, Some(Person::agreeable())] {
        let settings = answers(json!({ "action": "accept", "content": content }));
        let alive = asking("2025-11-25", &[ASKS], &settings).start_as(|builder| match &person {
            Some(person) => builder.elicitor(person.clone()),
            None => builder,
        });
        assert_eq!(told(&alive).await, json!({ "action": "accept", "content": content }));
        assert!(person.is_none_or(|person| person.asked().is_empty()));
        let input = std::fs::read_to_string(alive.world.path("home/project/told")).unwrap();
        let input: Value = serde_json::from_str(&input).unwrap();
        assert_eq!((&input["mcp_server_name"], &input["mode"]), (&json!("one"), &json!("form")));
        assert_eq!(input["message"], "Who are you?");
        assert!(input["requested_schema"]["properties"]["name"].is_object(), "{input}");
    }
}

// X5 P5
#[tokio::test]
async fn hook_declines_or_cancels_and_leaves_the_rest_to_the_user() {
    for action in ["decline", "cancel"] {
        let alive = asking("2025-11-25", &[ASKS], &answers(json!({ "action": action }))).start();
        assert_eq!(told(&alive).await, json!({ "action": action }));
    }
    let refusing = hooks("Elicitation", "*", &["exit 2"]);
    assert_eq!(told(&asking("2025-11-25", &[ASKS], &refusing).start()).await, json!({ "action": "decline" }));
    for settings in [hooks("Elicitation", "*", &["exit 0"]), hooks("Elicitation", "another", &["exit 2"])] {
        let person = Person::agreeable();
        let making = asking("2025-11-25", &[ASKS], &settings);
        let alive = making.start_as(|builder| builder.elicitor(person.clone()));
        assert_eq!(told(&alive).await["action"], "accept");
        assert_eq!(person.asked().len(), 1);
        assert_eq!(
            told(&asking("2025-11-25", &[ASKS], &settings).start()).await,
            json!({ "action": "decline" })
        );
    }
}

// X5 P5 B111
#[tokio::test]
async fn an_answer_that_does_not_fit_the_form_is_never_sent() {
    for content in [json!({ "name": 7 }), json!({ "name": "Ada", "more": "canary" }), json!("Ada")] {
        let settings = answers(json!({ "action": "accept", "content": content }));
        let alive = asking("2025-11-25", &[ASKS], &settings).start();
        assert_eq!(told(&alive).await, json!({ "action": "decline" }), "{content}");
        let notes = alive.host.hook_notes();
        assert!(notes.len() == 1 && notes[0].is_trouble, "{notes:?}");
        assert!(
            notes[0].text.contains("does not fit the form") && !notes[0].text.contains("canary"),
            "{notes:?}"
        );
    }
}

// X5 T9
#[tokio::test]
async fn elicitation_is_declared_in_both_eras_when_hooks_answer_forms() {
    for version in ["2025-11-25", "2026-07-28"] {
        let (_folder, log, _) = own("hooks-capabilities");
        let entry = stdio(&ScriptedStdio::new(&[ASKS]).with_option("--versions", version).with_log(&log));
        let settings = answers(json!({ "action": "decline" }));
        let alive = servers([("one", entry)]).file("home/.claude/settings.json", &settings).start();
        alive.reach("one").await;
        let lines = log_lines(&log);
        let says = |text: &str| lines.iter().any(|line| line.text.contains(text));
        assert!(says(r#""elicitation":{"form":{}}"#) && !says(r#""url":{}"#), "{version}");
    }
}

// X5 H31
#[tokio::test]
async fn a_server_of_the_new_era_is_answered_by_a_hook() {
    let settings = answers(
        json!({ "action": "accept", "content": { "name": "Grace", "age": 85, "score": 1.5, "sure": true, "colour": "green" } }),
    );
    let entry = ScriptedStdio::new(&["wants:form"])
        .with_option("--versions", "2026-07-28")
        .with_option("--times", "1");
    let alive = servers([("one", stdio(&entry))]).file("home/.claude/settings.json", &settings).start();
    assert_eq!(alive.echo("one", "hi").await.unwrap(), "hi");
    let input = std::fs::read_to_string(alive.world.path("home/project/told")).unwrap();
    assert!(input.contains(r#""mode":"form""#), "{input}");
}

// H30 K3
#[tokio::test]
async fn hook_that_accepts_a_page_makes_the_call_be_repeated() {
    for person in [None, Some(Person::agreeable())] {
        let accepting = answers(json!({ "action": "accept", "content": {} }));
        let (_folder, log, _) = own("hook-accepts-page");
        let server =
            ScriptedStdio::new(&["url-required:https://a.example/visit"]).with_option("--times", "1");
        let entry = stdio(&server.with_option("--versions", "2025-11-25").with_log(&log));
        let making = servers([("one", entry)]).file("home/.claude/settings.json", &accepting);
        let alive = making.start_as(|builder| match &person {
            Some(person) => builder.elicitor(person.clone()),
            None => builder,
        });
        assert_eq!(alive.echo("one", "hi").await.unwrap(), "hi");
        let calls = log_lines(&log).iter().filter(|line| line.text.contains(r#""tools/call""#)).count();
        assert_eq!(calls, 2, "once refused, once repeated");
        assert!(person.is_none_or(|person| person.asked().is_empty()), "a hook spares the person");
        let input = std::fs::read_to_string(alive.world.path("home/project/told")).unwrap();
        let input: Value = serde_json::from_str(&input).unwrap();
        assert_eq!(
            (&input["mode"], &input["url"]),
            (&json!("url"), &json!("https://a.example/visit")),
            "{input}"
        );
        assert!(alive.host.hook_notes().is_empty(), "{:?}", alive.host.hook_notes());
    }
}

// H30 H31
#[tokio::test]
async fn hook_that_accepts_a_page_answers_a_server_of_the_new_era() {
    let entry = ScriptedStdio::new(&["wants:url"])
        .with_option("--versions", "2026-07-28")
        .with_option("--times", "1");
    let accepting = answers(json!({ "action": "accept", "content": {} }));
    let alive = servers([("one", stdio(&entry))]).file("home/.claude/settings.json", &accepting).start();
    assert_eq!(alive.echo("one", "hi").await.unwrap(), "hi");
}

// H30 K3
#[tokio::test]
async fn hook_that_declines_a_page_ends_the_call_and_spares_the_person() {
    let person = Person::agreeable();
    let making = asking("2025-11-25", &["url-required"], &answers(json!({ "action": "decline" })));
    let alive = making.start_as(|builder| builder.elicitor(person.clone()));
    let error = alive.echo("one", "hi").await.unwrap_err();
    let expected = UnansweredRequest::Declined;
    assert!(matches!(&error, CallError::Unanswered { why, .. } if *why == expected), "{error}");
    assert_eq!(person.asked(), Vec::<String>::new(), "a hook spares the person");
}

// K3
#[tokio::test]
async fn error_of_a_call_carries_the_page_where_neither_hook_nor_person_answers() {
    let silent = hooks("Elicitation", "*", &["exit 0"]);
    let alive = asking("2025-11-25", &["url-required:https://a.example/visit?x=1"], &silent).start();
    let error = alive.echo("one", "hi").await.unwrap_err();
    let expected = UnansweredRequest::NoElicitor { url: "https://a.example/visit?x=1".to_owned() };
    assert!(matches!(&error, CallError::Unanswered { why, .. } if *why == expected), "{error}");
    assert!(error.to_string().contains("https://a.example/visit?x=1"), "{error}");
}

/// Fills in every form of which all fields have defaults.
struct Defaults;

impl Hooks for Defaults {
    fn events(&self) -> &[HookEvent] {
        &[HookEvent::Elicitation]
    }

    fn on_elicitation<'h>(&'h self, question: Elicitation<'h>) -> BoxedFuture<'h, Option<ElicitationReply>> {
        let reply = match question.request {
            ElicitationRequest::Form(form) => Some(ElicitationReply::Accept(form.defaults())),
            _ => None,
        };
        Box::pin(std::future::ready(reply))
    }
}

// X5 P5
#[tokio::test]
async fn hooks_of_a_program_answer_elicitations_like_commands() {
    let making = asking("2025-11-25", &[ASKS], &json!({}));
    let alive = making.start_as(|builder| builder.hooks(Defaults));
    assert_eq!(told(&alive).await["action"], "accept");
}
