//! Real servers that ask a person.

use std::path::{Path, PathBuf};
use std::time::Duration;

use mcparley::Call;
use mcparley::complete::CompletionTarget;
use mcparley::elicit::{ElicitationReply, ElicitationRequest, FieldKind};
use mcparley::model::log_level::LogLevel;
use mcparley::model::name::ServerName;
use mcparley::permission::Consent;
use serde_json::{Value, json};

use crate::alive::{LONG, Making, servers};
use crate::asking::Person;
use crate::hooking::{hooks, says};
use crate::sampling::Parrot;

/// A file of the fleet.
pub(crate) fn installed(path: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let file = root.join(".tools/fleet").join(path);
    assert!(file.exists(), "{} is missing: run `cargo xtask fleet`", file.display());
    file
}

pub(crate) fn everything() -> Making {
    let script = installed("npm/node_modules/.bin/mcp-server-everything");
    servers([("everything", json!({ "command": installed("npm/node"), "args": [script, "stdio"] }))])
}

fn names(alive: &crate::alive::Alive) -> Vec<String> {
    let catalog = alive.host.publish_catalog();
    catalog.iter().map(|entry| entry.tool.name.as_str().to_owned()).collect()
}

// X5
#[tokio::test]
async fn fleet_everything_shows_asking_tools_only_with_an_elicitor() {
    let asking = "trigger-elicitation-request".to_owned();
    let alone = everything().ready().await;
    assert!(!names(&alone).contains(&asking));
    let person = Person::agreeable();
    let alive = everything().start_as(|builder| builder.elicitor(person.clone()));
    assert!(alive.host.wait_until_ready(LONG).await.settled);
    assert!(names(&alive).contains(&asking), "{:?}", names(&alive));
}

/// Fills in the fields with a default, and sample values for required ones.
fn filled(ask: &ElicitationRequest) -> ElicitationReply {
    let ElicitationRequest::Form(form) = ask else { return ElicitationReply::Decline };
    let mut content = form.defaults();
    for field in form.fields.iter().filter(|field| field.required && field.default.is_none()) {
        content[&field.name] = Value::from("Ada");
    }
    ElicitationReply::Accept(content)
}

// X5
#[tokio::test]
async fn fleet_everything_is_answered_with_a_form_of_every_kind_of_field() {
    let person = Person::new(filled);
    let alive = everything().start_as(|builder| builder.elicitor(person.clone()));
    let outcome = alive.call("everything", "trigger-elicitation-request", json!({})).await.unwrap();
    let text = outcome.to_text();
    assert!(!outcome.is_error && text.contains("Ada"), "{text}");
    assert_eq!(person.asked().len(), 1);
    let declining = Person::new(|_| ElicitationReply::Decline);
    let alive = everything().start_as(|builder| builder.elicitor(declining));
    let outcome = alive.call("everything", "trigger-elicitation-request", json!({})).await.unwrap();
    assert!(outcome.to_text().contains("declined"), "{}", outcome.to_text());
}

// X6
#[tokio::test]
async fn fleet_everything_is_answered_by_a_model() {
    let parrot = Parrot::default();
    let alive = everything().start_as(|builder| builder.sampler(parrot.clone()));
    let asking = json!({ "prompt": "Say it.", "maxTokens": 7 });
    let outcome = alive.call("everything", "trigger-sampling-request", asking).await.unwrap();
    let text = outcome.to_text();
    assert!(text.contains("parrot-1") && text.contains("context: Say it."), "{text}");
    assert_eq!(parrot.asked.lock().unwrap().len(), 1);
}

// X6
#[tokio::test]
async fn fleet_everything_knows_its_folders_and_hears_of_others() {
    let alive = everything().ready().await;
    let (here, other) = (alive.world.path("home/project"), alive.world.path("home/other"));
    alive.host.set_roots([&here]);
    let roots = async || alive.call("everything", "get-roots-list", json!({})).await.unwrap().to_text();
    let here = here.display().to_string();
    assert!(roots().await.contains(&here));
    alive.host.set_roots([&other]);
    assert!(roots().await.contains(&other.display().to_string()), "a call waits until the server knows");
    assert!(!roots().await.contains(&here));
}

// X5: in the new era it cannot ask.
#[tokio::test]
async fn fleet_fastmcp_is_answered_in_the_old_era() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let demo = root.join("fleet/demo_fastmcp.py");
    let entry = json!({
        "command": installed("fastmcp/bin/fastmcp"), "args": ["run", demo, "--no-banner"], "era": "old",
        "env": { "PYTHONDONTWRITEBYTECODE": "1" },
    });
    let person = Person::new(filled);
    let alive = servers([("demo", entry)]).start_as(|builder| builder.elicitor(person.clone()));
    let outcome = alive.call("demo", "ask", json!({})).await.unwrap();
    assert!(outcome.to_text().starts_with("accept: Ada"), "{}", outcome.to_text());
    assert_eq!(person.asked(), ["demo: Your name? (form of 1)"]);
}

// X5 P5
#[tokio::test]
async fn fleet_everything_is_answered_by_a_hook() {
    let content = json!({ "name": "Grace", "check": true });
    let said = json!({ "action": "accept", "content": content });
    let settings = hooks("Elicitation", "everything", &[&says("Elicitation", said)]);
    let alive = everything().file("home/.claude/settings.json", &settings).start();
    let outcome = alive.call("everything", "trigger-elicitation-request", json!({})).await.unwrap();
    assert!(!outcome.is_error && outcome.to_text().contains("Grace"), "{}", outcome.to_text());
    assert_eq!(alive.host.hook_notes(), []);
}

// X8
#[tokio::test]
async fn fleet_everything_completes_what_depends_on_what_is_settled() {
    let alive = everything().ready().await;
    let server = ServerName::new("everything");
    let prompt = CompletionTarget::Prompt { server: server.clone(), name: "completable-prompt".into() };
    let complete = async |argument: &str, value: &str, known: &[(&str, &str)]| {
        let known = known.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        alive.host.complete_argument(&prompt, argument, value, &known).await.unwrap().values
    };
    assert_eq!(complete("department", "S", &[]).await, ["Sales", "Support"]);
    assert_eq!(complete("name", "", &[("department", "Sales")]).await, ["David", "Eve", "Frank"]);
    let template =
        CompletionTarget::Template { server, uri: "demo://resource/dynamic/text/{resourceId}".into() };
    let completed =
        alive.host.complete_argument(&template, "resourceId", "1", &Default::default()).await.unwrap();
    assert_eq!(completed.values, ["1"]);
}

// X8
#[tokio::test]
async fn fleet_everything_logs_what_it_is_asked_to() {
    let alive = everything().ready().await;
    let mut messages = alive.host.log_messages();
    alive.host.set_log_level(None, LogLevel::Debug);
    alive.call("everything", "toggle-simulated-logging", json!({})).await.unwrap();
    let message = tokio::time::timeout(LONG, messages.recv()).await.unwrap().unwrap();
    assert!(message.line.text.raw().contains("message"), "{message:?}");
    assert_eq!(message.server.as_str(), "everything");
}

// X8 K2
#[tokio::test]
async fn fleet_everything_tells_how_far_it_is_and_takes_longer_than_the_limit() {
    let alive = everything().ready().await;
    let long = json!({ "duration": 2, "steps": 8 });
    let call =
        Call::on_server("everything", "trigger-long-running-operation", long).with_consent(Consent::Given);
    let (call, mut progress) = call.with_limit(Duration::from_millis(1500)).with_progress();
    let listening = async {
        let mut totals = Vec::new();
        while let Some(newest) = progress.next().await {
            totals.extend(newest.total);
        }
        totals
    };
    let (outcome, totals) = tokio::join!(alive.host.call(call), listening);
    assert!(outcome.unwrap().to_text().contains("completed"));
    assert!(totals.len() >= 2 && totals.iter().all(|total| *total > 7.0), "{totals:?}");
}

// X8
#[tokio::test]
async fn fleet_everything_is_called_as_a_task_and_asks_in_between() {
    let person = Person::new(|ask| match ask {
        ElicitationRequest::Form(form) => {
            let field = &form.fields[0];
            let FieldKind::Choice(choices) = &field.kind else { return ElicitationReply::Decline };
            ElicitationReply::Accept(json!({ field.name.as_str(): choices[0].value }))
        }
        _ => ElicitationReply::Decline,
    });
    let alive = everything().start_as(|builder| builder.elicitor(person.clone()));
    let topic = json!({ "topic": "python", "ambiguous": true });
    let call = Call::on_server("everything", "simulate-research-query", topic).with_consent(Consent::Given);
    let (call, mut progress) = call.with_progress();
    let outcome = alive.host.call(call).await.unwrap();
    assert!(outcome.to_text().contains("# Research Report: python ("), "{}", outcome.to_text());
    assert_eq!(person.asked().len(), 1, "{:?}", person.asked());
    assert!(progress.next().await.is_some_and(|last| last.message.is_some()));
}

// X8 X5 X6: the examples of the TypeScript SDK.
#[tokio::test]
async fn fleet_sdk_tasks_ask_a_person_and_a_model() {
    let script = installed("npm/node_modules/@modelcontextprotocol/sdk")
        .join("dist/esm/examples/server/simpleTaskInteractive.js");
    let node = installed("npm/node");
    let server = mcparley_testkit::ExternalServer::start(|port| {
        let mut command = std::process::Command::new(node);
        command.arg(script).env("PORT", port.to_string());
        command
    });
    let url = format!("http://localhost:{}/mcp", server.address().port());
    let person = Person::new(|_| ElicitationReply::Accept(json!({ "confirm": true })));
    let parrot = Parrot::default();
    let alive = servers([("tasks", json!({ "type": "http", "url": url }))])
        .start_as(|builder| builder.elicitor(person.clone()).sampler(parrot.clone()));
    let deleted = alive.call("tasks", "confirm_delete", json!({ "filename": "a.txt" })).await.unwrap();
    assert_eq!(deleted.to_text(), "Deleted 'a.txt'");
    let haiku = alive.call("tasks", "write_haiku", json!({ "topic": "autumn" })).await.unwrap();
    assert_eq!(haiku.to_text(), "Haiku:\nWrite a haiku about autumn");
}

// X8 X5: the official Rust SDK, in the new era.
#[tokio::test]
async fn fleet_rmcp_tasks_are_looked_at_and_ask_a_person() {
    let program = std::env::current_exe().unwrap();
    let program = program.parent().unwrap().parent().unwrap().join("mcparley-fleet-rmcp");
    assert!(program.exists(), "{} is missing: build `mcparley-fleet-rmcp`", program.display());
    let person = Person::agreeable();
    let entry = json!({ "command": program, "era": "new" });
    let alive = servers([("rmcp", entry)]).start_as(|builder| builder.elicitor(person.clone()));
    let call = Call::on_server("rmcp", "chore", json!({})).with_consent(Consent::Given);
    let (call, mut progress) = call.with_progress();
    let listening = async {
        let mut said = Vec::new();
        while let Some(newest) = progress.next().await {
            said.extend(newest.message);
        }
        said
    };
    let (outcome, said) = tokio::join!(alive.host.call(call), listening);
    let text = outcome.unwrap().to_text();
    assert!(text.starts_with("swept: ") && text.contains("Ada"), "{text}");
    assert!(said.contains(&"sweeping".to_owned()), "{said:?}");
    assert_eq!(person.asked(), ["rmcp: For whom? (form of 1)"]);
}
