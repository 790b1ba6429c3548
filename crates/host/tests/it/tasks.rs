//! Calls that their servers work on by themselves, in both flavours.

use std::time::Duration;

use mcparley::{Call, CallError, Consent, Executed, Progress};
use mcparley_testkit::{HttpServer, Scripted, log_lines};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::alive::{Alive, LONG, http, own, servers, stdio};
use crate::asking::Person;

const ERAS: [&str; 2] = ["2025-11-25", "2026-07-28"];

async fn chore(alive: &Alive, server: &str) -> Result<String, CallError> {
    alive.call(server, "chore", json!({ "message": "hi" })).await.map(|outcome| outcome.text())
}

fn local(scripts: &[&str], version: &str, log: &std::path::Path) -> Value {
    stdio(&Scripted::stdio(scripts).with("--versions", version).logged(log))
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
async fn what_a_server_says_about_its_task_is_progress() {
    for version in ERAS {
        let (_folder, log, _) = own("progress");
        let alive = servers([("one", local(&["task:3"], version, &log))]).ready().await;
        let (sender, mut seen) = watch::channel::<Option<Progress>>(None);
        let call = Call::to("one", "chore", json!({ "message": "hi" })).with_consent(Consent::Given);
        let listening = async {
            let mut said = Vec::new();
            while seen.changed().await.is_ok() {
                said.extend(seen.borrow_and_update().clone().and_then(|progress| progress.message));
            }
            said
        };
        let (outcome, said) = tokio::join!(alive.host.call(call.with_progress(sender)), listening);
        assert_eq!(outcome.unwrap().text(), "hi");
        assert!(
            said.contains(&"look 1".to_owned()) && said.contains(&"look 2".to_owned()),
            "{version} {said:?}"
        );
    }
}

// X8 X5
#[tokio::test]
async fn a_task_that_wants_to_know_something_asks_the_person() {
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
async fn giving_a_call_up_gives_its_task_up_at_the_server() {
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
        // A task that says something else at every look is at work; one that is not to be looked at is late.
        let hangs = Scripted::stdio(&["task:0", "call-hang"]).with("--on", "tasks/get");
        let alive = servers([("one", stdio(&hangs.with("--versions", version).logged(&log)))]).ready().await;
        let call = Call::to("one", "chore", json!({ "message": "hi" })).with_consent(Consent::Given);
        let error = alive.host.call(call.with_limit(Duration::from_millis(500))).await.unwrap_err();
        assert!(error.is_timeout() && error.is_outcome_unknown(), "{version}: {error}");
        until_heard(&log, "tasks/cancel").await;
    }
}

// X8 K6
#[tokio::test]
async fn a_look_that_is_lost_is_repeated_and_the_call_is_not() {
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
async fn a_task_that_ends_otherwise_is_an_error_and_says_what_is_known() {
    for version in ERAS {
        for (end, expected, executed) in [
            ("failed", "Internal error", Executed::Yes),
            ("cancelled", "the server has cancelled the task", Executed::Unknown),
            ("forgotten", "no such task", Executed::Unknown),
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
    let entry = Scripted::stdio(&["task:2", "call-exit"]).with("--on", "tasks/get");
    let once = folder.path().join("once");
    let entry = entry.with("--once", once.to_str().unwrap());
    let alive = servers([("one", stdio(&entry.logged(&log)))]).ready().await;
    let error = chore(&alive, "one").await.unwrap_err();
    assert!(error.is_outcome_unknown(), "{error:?}");
    assert_eq!(count(&log, "tools/call"), 1);
}

// X8: what a tool has to be is one thing, what its server can do another.
#[tokio::test]
async fn a_tool_that_must_be_a_task_is_called_plainly_where_the_server_has_none() {
    use crate::asking::{Answer, DONE, Inside, host};
    let server = Inside::new("2025-11-25", [Answer::Result(DONE)]).with_tool(json!({
        "name": "it", "inputSchema": { "type": "object" }, "execution": { "taskSupport": "required" },
    }));
    let (host, _world) = host(&server, None);
    assert_eq!(host.call(Call::new("mcp__inside__it", json!({}))).await.unwrap().text(), "done");
    assert!(!server.heard()[0].contains("ttl"), "{}", server.heard()[0]);
}

// X8 B114
#[tokio::test]
async fn what_becomes_a_task_and_is_no_call_is_an_error() {
    use crate::asking::{Answer, Inside, host};
    let task = r#"{"resultType":"task","taskId":"1","status":"working"}"#;
    let server = Inside::new("2026-07-28", [Answer::Result(task)]);
    let (host, _world) = host(&server, None);
    host.ready(LONG).await;
    let read = Call::new("ReadMcpResource", json!({ "server": "inside", "uri": "a:b" }));
    let error = host.call(read).await.unwrap_err();
    assert!(error.to_string().contains("made a task of what is no call"), "{error}");
}

// X8 B114 H31
#[tokio::test(start_paused = true)]
async fn a_task_that_never_stops_wanting_is_given_up_after_three_rounds() {
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
        // Slow to notice what it was told: that is no new wish.
        answers.extend([wants(key), Answer::Result("{}"), wants(key)]);
    }
    let server = Inside::new("2026-07-28", answers);
    let person = Person::agreeable();
    let (host, _world) = host(&server, Some(&person));
    let error = host.call(Call::new("mcp__inside__it", json!({}))).await.unwrap_err();
    let why = mcparley::elicit::Unanswered::Endless { rounds: 3 };
    assert!(matches!(&error, CallError::Unanswered { why: it, .. } if *it == why), "{error}");
    assert_eq!(person.asked().len(), 3);
}
