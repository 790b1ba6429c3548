//! Calls that their servers work on by themselves, in both flavours.

use std::time::Duration;

use mcparley::call::ExecutionStatus;
use mcparley::permission::Consent;
use mcparley::{Call, CallError};
use mcparley_testkit::{HttpServer, ScriptedStdio, log_lines};
use serde_json::{Value, json};

use crate::alive::{Alive, LONG, http, own, servers, stdio};
use crate::asking::Person;

const ERAS: [&str; 2] = ["2025-11-25", "2026-07-28"];

async fn chore(alive: &Alive, server: &str) -> Result<String, CallError> {
    alive.call(server, "chore", json!({ "message": "hi" })).await.map(|outcome| outcome.to_text())
}

fn local(scripts: &[&str], version: &str, log: &std::path::Path) -> Value {
    stdio(&ScriptedStdio::new(scripts).with_option("--versions", version).with_log(log))
}

fn count(log: &std::path::Path, method: &str) -> usize {
    let method = format!(r#""method":"{method}""#);
    log_lines(log).iter().filter(|line| line.text.contains(&method)).count()
}

async fn until_heard(log: &std::path::Path, method: &str) {
    let heard = async {
        while count(log, method) == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LONG, heard).await.unwrap();
}

// X8
#[tokio::test]
async fn a_call_waits_for_the_result_of_its_task_in_both_flavours_and_on_both_transports() {
    for version in ERAS {
        let (_folder, log, _) = own("tasks");
        let remote = HttpServer::start_with(&["task:3"], &["--versions", version]);
        let alive =
            servers([("local", local(&["task:3"], version, &log)), ("remote", http(&remote))]).ready().await;
        for name in ["local", "remote"] {
            assert_eq!(chore(&alive, name).await.unwrap(), "hi", "{version} {name}");
        }
        let looks = remote.stats()["post"]["tasks/get"].as_u64();
        assert_eq!(
            (count(&log, "tools/call"), count(&log, "tasks/get"), looks),
            (1, 3, Some(3)),
            "{version}"
        );
        assert_eq!(count(&log, "tasks/cancel"), 0, "{version}");
    }
}

// X8
#[tokio::test]
async fn task_status_message_is_reported_as_progress() {
    for version in ERAS {
        let (_folder, log, _) = own("progress");
        let alive = servers([("one", local(&["task:3"], version, &log))]).ready().await;
        let call = Call::on_server("one", "chore", json!({ "message": "hi" })).with_consent(Consent::Given);
        let (call, mut progress) = call.with_progress();
        let listening = async {
            let mut said = Vec::new();
            while let Some(progress) = progress.next().await {
                said.extend(progress.message);
            }
            said
        };
        let (outcome, said) = tokio::join!(alive.host.call(call), listening);
        assert_eq!(outcome.unwrap().to_text(), "hi");
        assert!(
            said.contains(&"look 1".to_owned()) && said.contains(&"look 2".to_owned()),
            "{version} {said:?}"
        );
    }
}

// X8 X5
#[tokio::test]
async fn task_that_requires_input_asks_the_user() {
    for version in ERAS {
        let (_folder, log, _) = own("wants");
        let remote =
            HttpServer::start_with(&["task:2", "task-wants"], &["--versions", version, "--answer", "sse"]);
        let entries = [("local", local(&["task:2", "task-wants"], version, &log)), ("remote", http(&remote))];
        let person = Person::agreeable();
        let alive = servers(entries).start_as(|builder| builder.elicitor(person.clone()));
        for name in ["local", "remote"] {
            let told = chore(&alive, name).await.unwrap();
            assert!(told.contains("accept") && told.contains("Ada"), "{version} {name}: {told}");
        }
        assert_eq!(person.asked().len(), 2, "{version}: each was asked once");
    }
}

// X8 F07
#[tokio::test]
async fn canceling_a_call_cancels_its_task_at_the_server() {
    for version in ERAS {
        let (_folder, log, _) = own("dropped");
        let alive = servers([("one", local(&["task:0"], version, &log))]).ready().await;
        {
            let mut running = std::pin::pin!(chore(&alive, "one"));
            tokio::select! {
                result = &mut running => panic!("{result:?}"),
                () = until_heard(&log, "tasks/get") => {}
            }
        }
        until_heard(&log, "tasks/cancel").await;
        assert_eq!(alive.echo("one", "still there").await.unwrap(), "still there", "{version}");
        assert_eq!(count(&log, "tools/call"), 2, "{version}");
    }
}

// X8 K2
#[tokio::test]
async fn a_task_ends_with_the_limit_of_its_call() {
    for version in ERAS {
        let (_folder, log, _) = own("limit");
        // A task whose status changes at every poll is at work; one that cannot be polled times out.
        let hangs = ScriptedStdio::new(&["task:0", "call-hang"]).with_option("--on", "tasks/get");
        let alive =
            servers([("one", stdio(&hangs.with_option("--versions", version).with_log(&log)))]).ready().await;
        let call = Call::on_server("one", "chore", json!({ "message": "hi" })).with_consent(Consent::Given);
        let error = alive.host.call(call.with_limit(Duration::from_millis(500))).await.unwrap_err();
        assert!(error.is_timeout() && error.is_outcome_unknown(), "{version}: {error}");
        until_heard(&log, "tasks/cancel").await;
    }
}

// X8 K6
#[tokio::test]
async fn lost_task_poll_is_repeated_and_the_call_is_not() {
    for (version, script) in [
        ("2025-11-25", "sse-cut"),
        ("2026-07-28", "sse-cut"),
        ("2025-11-25", "status:503"),
        ("2026-07-28", "status:503"),
    ] {
        let lost = ["--versions", version, "--answer", "sse", "--on", "tasks/get", "--times", "2"];
        let remote = HttpServer::start_with(&["task:2", script], &lost);
        let alive = servers([("one", http(&remote))]).ready().await;
        assert_eq!(chore(&alive, "one").await.unwrap(), "hi", "{version} {script}");
        let stats = remote.stats();
        assert_eq!(stats["post"]["tools/call"], 1, "{version} {script}: {stats}");
    }
}

// X8 L7
#[tokio::test]
async fn a_task_outlives_the_session_it_was_begun_in() {
    let lost = ["--versions", "2025-11-25", "--on", "tasks/get", "--times", "1"];
    let remote = HttpServer::start_with(&["task:2", "expire1"], &lost);
    let alive = servers([("one", http(&remote))]).ready().await;
    assert_eq!(chore(&alive, "one").await.unwrap(), "hi");
    let stats = remote.stats();
    assert_eq!((&stats["post"]["tools/call"], &stats["initialize"]), (&json!(1), &json!(2)), "{stats}");
}

// X8 K6
#[tokio::test]
async fn task_without_result_is_an_error_with_the_execution_status() {
    for version in ERAS {
        for (end, expected, executed) in [
            ("failed", "Internal error", ExecutionStatus::Yes),
            ("cancelled", "the server has cancelled the task", ExecutionStatus::Unknown),
            ("forgotten", "no such task", ExecutionStatus::Unknown),
        ] {
            let (_folder, log, _) = own("ends");
            let script = format!("task-end:{end}");
            let looks = if end == "forgotten" { "task:0" } else { "task:1" };
            let alive = servers([("one", local(&[looks, &script], version, &log))]).ready().await;
            let error = chore(&alive, "one").await.unwrap_err();
            assert!(error.to_string().contains(expected), "{version} {end}: {error}");
            let is_known = matches!(&error, CallError::Failed { executed: it, .. } if *it == executed);
            assert!(is_known, "{version} {end}: {error:?}");
            assert_eq!(count(&log, "tools/call"), 1, "{version} {end}");
        }
    }
}

// X8
#[tokio::test]
async fn a_server_whose_process_is_gone_has_lost_its_task_and_is_not_called_again() {
    let (folder, log, _) = own("gone");
    let entry = ScriptedStdio::new(&["task:2", "call-exit"]).with_option("--on", "tasks/get");
    let once = folder.path().join("once");
    let entry = entry.with_option("--once", once.to_str().unwrap());
    let alive = servers([("one", stdio(&entry.with_log(&log)))]).ready().await;
    let error = chore(&alive, "one").await.unwrap_err();
    assert!(error.is_outcome_unknown(), "{error:?}");
    assert_eq!(count(&log, "tools/call"), 1);
}

// X8: the requirement of a tool and the ability of its server are two things.
#[tokio::test]
async fn tool_that_requires_a_task_is_called_normally_without_task_support() {
    use crate::asking::{Answer, DONE, Inside, host};
    let server = Inside::new("2025-11-25", [Answer::Result(DONE)]).with_tool(json!({
        "name": "it", "inputSchema": { "type": "object" }, "execution": { "taskSupport": "required" },
    }));
    let (host, _world) = host(&server, None);
    assert_eq!(host.call(Call::new("mcp__inside__it", json!({}))).await.unwrap().to_text(), "done");
    assert!(!server.heard()[0].contains("ttl"), "{}", server.heard()[0]);
}

// X8 B114
#[tokio::test]
async fn task_in_answer_to_another_request_is_an_error() {
    use crate::asking::{Answer, Inside, host};
    let task = r#"{"resultType":"task","taskId":"1","status":"working"}"#;
    let server = Inside::new("2026-07-28", [Answer::Result(task)]);
    let (host, _world) = host(&server, None);
    host.wait_until_ready(LONG).await;
    let read = Call::new("ReadMcpResource", json!({ "server": "inside", "uri": "a:b" }));
    let error = host.call(read).await.unwrap_err();
    assert!(error.to_string().contains("returned a task for a request that is not a tool call"), "{error}");
}

// X8 B114 H31
#[tokio::test(start_paused = true)]
async fn task_that_always_requires_input_fails_after_three_rounds() {
    use crate::asking::{Answer, Inside, host};
    let wants = |key: u32| {
        let schema =
            json!({ "type": "object", "properties": { "name": { "type": "string", "default": "Ada" } } });
        let ask = json!({ "method": "elicitation/create", "params": { "message": "Who?", "requestedSchema": schema } });
        let look =
            json!({ "taskId": "1", "status": "input_required", "inputRequests": { key.to_string(): ask } });
        Answer::Result(look.to_string().leak())
    };
    let mut answers = vec![Answer::Result(r#"{"resultType":"task","taskId":"1","status":"working"}"#)];
    for key in 0..9 {
        // Slow to process its input: a repeated input request is no new one.
        answers.extend([wants(key), Answer::Result("{}"), wants(key)]);
    }
    let server = Inside::new("2026-07-28", answers);
    let person = Person::agreeable();
    let (host, _world) = host(&server, Some(&person));
    let error = host.call(Call::new("mcp__inside__it", json!({}))).await.unwrap_err();
    let why = mcparley::elicit::UnansweredRequest::TooManyRounds { rounds: 3 };
    assert!(matches!(&error, CallError::Unanswered { why: it, .. } if *it == why), "{error}");
    assert_eq!(person.asked().len(), 3);
}
