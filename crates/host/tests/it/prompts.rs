//! Prompts and instructions of real servers, in both eras.

use mcparley::call::RequestError;
use mcparley::config::StartPolicy;
use mcparley::elicit::UnansweredRequest;
use mcparley::model::name::ServerName;
use mcparley::prompt::{PromptCall, PromptError, PromptMessages};
use mcparley::sample::Role;
use mcparley::{ContentBlock, Host, HostBuilder};
use mcparley_testkit::{HttpServer, ScriptedStdio, log_lines};

use crate::alive::{http, own, scripted, servers, stdio};
use crate::asking::Person;

fn texts(given: &PromptMessages) -> Vec<(Role, &str)> {
    given
        .messages
        .iter()
        .flat_map(|message| message.content.iter().map(move |block| (message.role, block)))
        .map(|(role, block)| match block {
            ContentBlock::Text(text) => (role, text.as_str()),
            other => panic!("{other:?}"),
        })
        .collect()
}

async fn greet(host: &Host, name: &str) -> Result<PromptMessages, PromptError> {
    host.fetch_prompt(&PromptCall::parse(name)?).await
}

// X3 T9
#[tokio::test]
async fn prompt_is_fetched_in_both_eras_and_on_every_transport() {
    for version in ["2025-11-25", "2026-07-28"] {
        let remote = HttpServer::start_with(&[], &["--versions", version]);
        let local = ScriptedStdio::new(&[]).with_option("--versions", version);
        let alive = servers([("local", stdio(&local)), ("far away", http(&remote))]).ready().await;
        for name in ["/mcp__local__greet", "mcp__far_away__greet"] {
            let given = greet(&alive.host, name).await.unwrap();
            assert_eq!(texts(&given), [(Role::User, "Say hello.")], "{version} {name}");
        }
    }
}

// X3
#[tokio::test]
async fn wrong_prompt_arguments_fail_before_a_request_is_sent() {
    let (_folder, log, _) = own("unfit-prompts");
    let alive = servers([("one", stdio(&ScriptedStdio::new(&[]).with_log(&log)))]).ready().await;
    let error = greet(&alive.host, "/mcp__one__greet surplus").await.unwrap_err();
    assert_eq!(error.to_string(), "`surplus` is unexpected: the prompt takes no arguments");
    let error = greet(&alive.host, "/mcp__one__gret").await.unwrap_err();
    assert_eq!(error.hint().unwrap(), "did you mean `mcp__one__greet`?");
    let lines = log_lines(&log);
    assert!(lines.iter().any(|line| line.text.contains("prompts/list")), "{lines:?}");
    assert!(lines.iter().all(|line| !line.text.contains("prompts/get")), "{lines:?}");
}

// X3 X5 H31
#[tokio::test]
async fn prompt_is_fetched_in_up_to_three_rounds() {
    for (times, is_given) in [("1", true), ("9", false)] {
        let server = HttpServer::start_with(
            &["wants:form"],
            &["--versions", "2026-07-28", "--on", "prompts/get", "--times", times],
        );
        let person = Person::agreeable();
        let alive = servers([("one", http(&server))])
            .start_as(|builder: HostBuilder| builder.elicitor(person.clone()));
        let given = greet(&alive.host, "/mcp__one__greet").await;
        match given {
            Ok(given) => assert!(is_given && texts(&given).len() == 1),
            Err(PromptError::Request(RequestError::Unanswered { why, .. })) => {
                assert_eq!((is_given, why), (false, UnansweredRequest::TooManyRounds { rounds: 3 }));
            }
            Err(other) => panic!("{other}"),
        }
        assert!(!person.asked().is_empty());
    }
}

// X3 L7
#[tokio::test]
async fn a_prompt_survives_a_session_that_expired() {
    let server = HttpServer::start_with(&["expire1"], &["--on", "prompts/get"]);
    let alive = servers([("one", http(&server))]).ready().await;
    let given = greet(&alive.host, "/mcp__one__greet").await.unwrap();
    assert_eq!(texts(&given).len(), 1);
    assert_eq!(server.stats()["post"]["initialize"], 2);
}

// X4
#[tokio::test]
async fn instructions_follow_servers_that_come_and_go() {
    let entry = |tag| stdio(&ScriptedStdio::new(&[]).with_option("--tag", tag));
    let alive = servers([("a", entry("a")), ("b", entry("b"))]);
    let alive = alive.start_with(StartPolicy::Only(vec![ServerName::new("b")])).ready().await;
    let first = alive.host.instructions();
    let names = |said: &mcparley::instruction::Instructions| -> Vec<String> {
        said.iter().map(|section| section.server.to_string()).collect()
    };
    assert!(names(&first).contains(&"b".to_owned()) && !names(&first).contains(&"a".to_owned()));
    alive.reach("a").await;
    let later = alive.host.instructions();
    assert_eq!(names(&later).last().unwrap(), "a");
    assert_eq!(later.changes_since(&first).added.len(), 1);
    alive.host.disable_server(&ServerName::new("a")).await;
    alive.until("a", |status| matches!(status, mcparley::pool::connection::ServerStatus::Disabled)).await;
    assert_eq!(alive.host.instructions().changes_since(&later).gone, [ServerName::new("a")]);
    assert!(alive.host.instructions().changes_since(&first).is_empty());
}

// N6
#[tokio::test]
async fn endless_instructions_are_cut() {
    let alive = servers([("one", scripted(&["long-instructions:100000"]))]).ready().await;
    let said = alive.host.instructions();
    let one = said.iter().find(|section| section.server.as_str() == "one").unwrap();
    assert_eq!(one.text.chars().count(), 2048 + "… [truncated]".chars().count());
}
