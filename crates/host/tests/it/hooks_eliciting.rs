//! Hooks that answer what servers ask a person: before anybody else, and never in a person's place at a page.

use mcparley::elicit::{Ask, Elicitation, Reply};
use mcparley::hooks::{HookEvent, Hooks};
use mcparley::{Boxed, CallError};
use mcparley_testkit::{Scripted, log_lines};
use serde_json::{Value, json};

use crate::alive::{Alive, Making, own, servers, stdio};
use crate::asking::Person;
use crate::hooking::{hooks, says};

const ASKS: &str = "server-request:elicitation/create";

fn asking(version: &str, scripts: &[&str], settings: &Value) -> Making {
    let entry = stdio(&Scripted::stdio(scripts).with("--versions", version));
    servers([("one", entry)]).file("home/.claude/settings.json", settings)
}

fn answers(reply: Value) -> Value {
    hooks("Elicitation", "one", &[&format!("cat > told; {}", says("Elicitation", reply))])
}

/// What the server was told.
async fn told(alive: &Alive) -> Value {
    let text = alive.echo("one", "hi").await.unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["result"].take()
}

// X5 P5
#[tokio::test]
async fn a_hook_answers_before_the_person_and_without_one() {
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
async fn a_hook_declines_or_puts_aside_and_leaves_the_rest_to_the_person() {
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
async fn servers_of_both_eras_are_told_that_hooks_answer_forms() {
    for version in ["2025-11-25", "2026-07-28"] {
        let (_folder, log, _) = own("hooks-capabilities");
        let entry = stdio(&Scripted::stdio(&[ASKS]).with("--versions", version).logged(&log));
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
    let entry = Scripted::stdio(&["wants:form"]).with("--versions", "2026-07-28").with("--times", "1");
    let alive = servers([("one", stdio(&entry))]).file("home/.claude/settings.json", &settings).start();
    assert_eq!(alive.echo("one", "hi").await.unwrap(), "hi");
    let input = std::fs::read_to_string(alive.world.path("home/project/told")).unwrap();
    assert!(input.contains(r#""mode":"form""#), "{input}");
}

// H30 K3 B110
#[tokio::test]
async fn a_hook_never_visits_a_page() {
    let accepting = answers(json!({ "action": "accept", "content": {} }));
    let alive = asking("2025-11-25", &["url-required"], &accepting).start();
    let error = alive.echo("one", "hi").await.unwrap_err();
    assert!(matches!(error, CallError::Unanswered { .. }), "{error}");
    let notes = alive.host.hook_notes();
    assert!(notes.iter().any(|note| note.text == "a page can be accepted by a person only"), "{notes:?}");

    let person = Person::agreeable();
    let making = asking("2025-11-25", &["url-required"], &answers(json!({ "action": "decline" })));
    let alive = making.start_as(|builder| builder.elicitor(person.clone()));
    let error = alive.echo("one", "hi").await.unwrap_err();
    assert!(matches!(error, CallError::Unanswered { .. }), "{error}");
    assert_eq!(person.asked(), Vec::<String>::new(), "a hook spares the person");
}

/// Fills in every form of which all fields have defaults.
struct Defaults;

impl Hooks for Defaults {
    fn events(&self) -> &[HookEvent] {
        &[HookEvent::Elicitation]
    }

    fn elicitation<'h>(&'h self, question: Elicitation<'h>) -> Boxed<'h, Option<Reply>> {
        let reply = match question.ask {
            Ask::Form(form) => Some(Reply::Accept(form.defaults())),
            _ => None,
        };
        Box::pin(std::future::ready(reply))
    }
}

// X5 P5
#[tokio::test]
async fn a_program_answers_like_a_command() {
    let making = asking("2025-11-25", &[ASKS], &json!({}));
    let alive = making.start_as(|builder| builder.hooks(Defaults));
    assert_eq!(told(&alive).await["action"], "accept");
}
