//! Servers that ask a model, in both eras.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcparley::elicit::UnansweredRequest;
use mcparley::sample::{Sampler, SamplingRefusal, SamplingRequest, SamplingResult};
use mcparley::{BoxedFuture, Call, CallError, Host};
use mcparley_testkit::{HttpServer, ScriptedStdio, log_lines};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::alive::{http, own, servers, stdio};
use crate::asking::{Answer, DONE, Inside, host, host_as};
use crate::together;
use crate::world::World;

const SAMPLE: &str = "sampling/createMessage";

/// A model that repeats its last message, and records it.
#[derive(Clone, Default)]
pub(crate) struct Parrot {
    pub(crate) asked: Arc<Mutex<Vec<String>>>,
    refusal: Option<SamplingRefusal>,
    takes_tools: bool,
    /// The duration of an answer.
    pub(crate) pace: Duration,
    open: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
    pub(crate) came: Arc<Notify>,
}

impl Sampler for Parrot {
    fn sample<'s>(
        &'s self,
        request: &'s SamplingRequest,
    ) -> BoxedFuture<'s, Result<SamplingResult, SamplingRefusal>> {
        Box::pin(async move {
            let text = request.messages.last().unwrap().text();
            self.asked.lock().unwrap().push(format!("{}: {text}", request.server));
            self.came.notify_one();
            let open = self.open.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(open, Ordering::SeqCst);
            tokio::time::sleep(self.pace).await;
            self.open.fetch_sub(1, Ordering::SeqCst);
            match &self.refusal {
                Some(refusal) => Err(refusal.clone()),
                None => Ok(SamplingResult::from_text("parrot-1", &text)),
            }
        })
    }

    fn takes_tools(&self) -> bool {
        self.takes_tools
    }
}

fn with(server: &Inside, parrot: &Parrot) -> (Host, World) {
    host_as(server, |builder| builder.sampler(parrot.clone()))
}

fn call() -> Call {
    Call::new("mcp__inside__it", json!({}))
}

fn question(text: &str) -> Value {
    json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": text } }], "maxTokens": 10 })
}

fn said(text: &str) -> Value {
    let content = json!({ "type": "text", "text": text });
    json!({ "role": "assistant", "content": content, "model": "parrot-1", "stopReason": "endTurn" })
}

// X6
#[tokio::test]
async fn a_model_answers_servers_of_both_eras_on_both_transports() {
    let asks = format!("server-request:{SAMPLE}");
    let old = stdio(&ScriptedStdio::new(&[&asks]).with_option("--versions", "2025-11-25"));
    let remote = HttpServer::start_with(&[&asks], &["--versions", "2025-06-18"]);
    let (_folder, log, _) = own("sampling");
    let wants = ScriptedStdio::new(&["wants:sampling"])
        .with_option("--versions", "2026-07-28")
        .with_option("--times", "1");
    let new = stdio(&wants.with_log(&log));
    let parrot = Parrot::default();
    let alive = servers([("old", old), ("remote", http(&remote)), ("new", new)])
        .start_as(|builder| builder.sampler(parrot.clone()));
    for name in ["old", "remote"] {
        let told: Value = serde_json::from_str(&alive.echo(name, "hi").await.unwrap()).unwrap();
        assert_eq!(told["result"], said("Say hello."), "{name}");
    }
    assert_eq!(alive.echo("new", "hi").await.unwrap(), "hi");
    let given = json!({ "it": said("Say hello.") });
    let calls: Vec<Value> = log_lines(&log)
        .iter()
        .filter(|line| line.text.contains("tools/call"))
        .map(|line| serde_json::from_str(&line.text).unwrap())
        .collect();
    assert_eq!(calls[1]["params"]["inputResponses"], given);
    assert_eq!(
        *parrot.asked.lock().unwrap(),
        ["old", "remote", "new"].map(|name| format!("{name}: Say hello."))
    );
}

// X6
#[tokio::test]
async fn sampling_is_declared_only_with_a_sampler_and_its_tools_only_if_supported() {
    let takes_tools = Parrot { takes_tools: true, ..Parrot::default() };
    for version in ["2025-11-25", "2026-07-28"] {
        for (parrot, says) in [
            (None, None),
            (Some(Parrot::default()), Some(r#""sampling":{}"#)),
            (Some(takes_tools.clone()), Some(r#""sampling":{"tools":{}}"#)),
        ] {
            let server = Inside::new(version, [Answer::Result(DONE)]);
            let (host, _world) = host_as(&server, |builder| match parrot {
                Some(parrot) => builder.sampler(parrot),
                None => builder,
            });
            host.call(call()).await.unwrap();
            let greeting = server.greeted.lock().unwrap().last().unwrap().clone();
            assert_eq!(greeting.contains("sampling"), says.is_some(), "{version} {greeting}");
            assert!(says.is_none_or(|says| greeting.contains(says)), "{version} {greeting}");
        }
    }
}

// X6
#[tokio::test]
async fn sampling_without_a_sampler_is_method_not_found() {
    let server = Inside::new("2025-11-25", [Answer::Asks(SAMPLE, question("hi"))]);
    let (host, _world) = host(&server, None);
    let told = host.call(call()).await.unwrap().to_text();
    assert!(told.contains("error -32601"), "{told}");
}

// X6
#[tokio::test]
async fn a_refusal_reaches_the_server_of_the_old_era_and_ends_the_call_in_the_new() {
    let failed = SamplingRefusal::Failed { reason: "no credit".into() };
    for (refusal, code, reason) in [
        (SamplingRefusal::Declined, "error -1:", "the request was declined"),
        (failed, "error -32603:", "the model gave no answer: no credit"),
    ] {
        let parrot = Parrot { refusal: Some(refusal), ..Parrot::default() };
        let server = Inside::new("2025-11-25", [Answer::Asks(SAMPLE, question("hi"))]);
        let (host, _world) = with(&server, &parrot);
        let told = host.call(call()).await.unwrap().to_text();
        assert!(told.contains(code) && told.contains(reason), "{told}");
        let wants = r#"{"resultType":"input_required","inputRequests":{"a":{"method":"sampling/createMessage","params":
            {"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":1}}}}"#;
        let server = Inside::new("2026-07-28", [wants, DONE].map(Answer::Result));
        let (host, _world) = with(&server, &parrot);
        let error = host.call(call()).await.unwrap_err();
        let expected = UnansweredRequest::SamplingFailed { reason: reason.into() };
        assert!(matches!(&error, CallError::Unanswered { why, .. } if *why == expected), "{error}");
        assert_eq!(server.heard().len(), 1);
    }
}

// X6
#[tokio::test]
async fn invalid_sampling_request_or_unsupported_tools_are_rejected() {
    let mut tooled = question("hi");
    tooled["tools"] = json!([{ "name": "a", "inputSchema": { "type": "object" } }]);
    for (params, takes_tools, is_refused) in
        [(json!({ "messages": 7 }), true, true), (tooled.clone(), false, true), (tooled, true, false)]
    {
        let parrot = Parrot { takes_tools, ..Parrot::default() };
        let server = Inside::new("2025-11-25", [Answer::Asks(SAMPLE, params.clone())]);
        let (host, _world) = with(&server, &parrot);
        let told = host.call(call()).await.unwrap().to_text();
        assert_eq!(told.contains("error -32602"), is_refused, "{params}: {told}");
        assert_eq!(parrot.asked.lock().unwrap().is_empty(), is_refused, "{params}");
    }
}

// X6 B114
#[tokio::test(start_paused = true)]
async fn sampling_has_a_concurrency_limit_and_a_rate_limit_per_server() {
    let server = Inside::new("2025-11-25", [Answer::Asks(SAMPLE, question("hi"))]);
    let parrot = Parrot { pace: Duration::from_millis(10), ..Parrot::default() };
    let (host, _world) = with(&server, &parrot);
    let asked = || together((0..32).map(|_| host.call(call())));
    let mut answers = asked().await;
    answers.extend(asked().await);
    let texts: Vec<String> = answers.into_iter().map(|answer| answer.unwrap().to_text()).collect();
    let refused = texts.iter().filter(|text| text.contains("exceed 60 a minute")).count();
    assert_eq!((texts.len() - refused, parrot.most.load(Ordering::SeqCst)), (60, 4));
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert!(
        host.call(call()).await.unwrap().to_text().contains("parrot-1"),
        "a minute later it may ask again"
    );
}

// X6 K2
#[tokio::test(start_paused = true)]
async fn a_model_may_take_longer_than_the_limit_of_the_call() {
    const HOUR: Duration = Duration::from_secs(3600);
    let server = Inside::new("2025-11-25", [Answer::Asks(SAMPLE, question("hi"))]);
    let parrot = Parrot { pace: HOUR, ..Parrot::default() };
    let (host, _world) = with(&server, &parrot);
    assert!(host.call(call().with_limit(Duration::from_secs(10))).await.is_ok());
}

// X6 F07
#[tokio::test]
async fn canceling_a_call_cancels_its_sampling_request() {
    let wants = r#"{"resultType":"input_required","inputRequests":{"a":{"method":"sampling/createMessage","params":
        {"messages":[{"role":"user","content":"hi"}],"maxTokens":1}}}}"#;
    let server = Inside::new("2026-07-28", [Answer::Result(wants)]);
    let parrot = Parrot { pace: Duration::from_secs(3600), ..Parrot::default() };
    let (host, _world) = with(&server, &parrot);
    {
        let mut running = std::pin::pin!(host.call(call()));
        tokio::select! {
            result = &mut running => panic!("{result:?}"),
            () = parrot.came.notified() => {}
        }
    }
    assert_eq!(
        (server.heard().len(), parrot.open.load(Ordering::SeqCst)),
        (1, 1),
        "it never came to an answer"
    );
}
