//! Two gateways that share their state in memory: what belongs to one of them, asked for at the other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcparley::catalog::Budget;
use mcparley_cluster::{ClusterMember, InProcessStore, KeyNames, LogPosition, SharedStore, StoreChange};
use mcparley_door::{DoorOptions, TokenFile, TokenPolicy};
use mcparley_gateway::{ClusterOptions, GatewayMode, GatewayView, Seal};
use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::door::{HttpReply, OpenDoors, call, options, request};
use crate::world::{Served, World};

pub(crate) const A: (&str, &str) = ("Authorization", "Bearer secret-a");
pub(crate) const B: (&str, &str) = ("Authorization", "Bearer secret-b");
pub(crate) const EVENTS: (&str, &str) = ("Accept", "text/event-stream");

/// Two gateways with servers of their own, for the principals `a` and `b`.
pub(crate) struct Pair {
    pub(crate) store: Arc<InProcessStore>,
    pub(crate) one: Member,
    pub(crate) two: Member,
    _folder: TempDir,
}

pub(crate) struct Member {
    pub(crate) doors: OpenDoors,
    pub(crate) served: Served,
}

/// The options of both gateways.
#[derive(Clone, Copy, Default)]
pub(crate) struct PairOptions {
    pub(crate) is_required: bool,
    /// Whether tools are deferred.
    pub(crate) defers: bool,
    /// The rate of the main endpoint.
    pub(crate) rate: Option<u32>,
    /// The rate of a view.
    pub(crate) view_rate: Option<u32>,
}

impl Pair {
    pub(crate) async fn start(server: impl Fn() -> ScriptedStdio) -> Self {
        Self::start_with(server, PairOptions::default()).await
    }

    pub(crate) async fn start_with(server: impl Fn() -> ScriptedStdio, chosen: PairOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tokens = folder.path().join("s/tokens");
        drop(TokenFile::open(&tokens).unwrap());
        std::fs::write(&tokens, "a:secret-a\nb:secret-b\n").unwrap();
        let store = Arc::<InProcessStore>::default();
        let start = async |name: &str| {
            let shared: Arc<dyn SharedStore> = Arc::<InProcessStore>::clone(&store);
            let (member, mailbox) = ClusterMember::join(shared, KeyNames::new("test"), name).await.unwrap();
            let seal = Seal::from_cluster(&member).await.unwrap();
            let served = World::with([("one", server()), ("two", ScriptedStdio::new(&[]))]);
            let budget = if chosen.defers { Budget::always_defer() } else { Budget::without_limit() };
            let served = served.allow("mcp__one").allow("mcp__two").audited().within(budget);
            let (file, _) = TokenFile::open(&tokens).unwrap();
            let cluster = Some(ClusterOptions { member, mailbox, is_required: chosen.is_required });
            let view = chosen.view_rate.map(|rate| GatewayView {
                name: "slow".to_owned(),
                gateway: served.open_view("slow", served.host().clone(), GatewayMode::default()),
                rate: Some(rate),
                principals: vec!["*".parse().unwrap()],
            });
            let (rate, views, tokens) = (chosen.rate, view.into_iter().collect(), TokenPolicy::File(file));
            let opened = DoorOptions { cluster, seal, tokens, rate, views, ..options() };
            let doors = OpenDoors::open(&served, opened).await;
            let tools = doors.post_new(&[A], "tools/list", json!({})).await;
            assert!(tools.text().await.contains(if chosen.defers { "ToolSearch" } else { "one__echo" }));
            Member { doors, served }
        };
        let (one, two) = (start("one").await, start("two").await);
        Self { store, one, two, _folder: folder }
    }
}

pub(crate) fn asking() -> ScriptedStdio {
    ScriptedStdio::new(&["server-request:elicitation/create"])
}

pub(crate) fn echo() -> Value {
    json!({ "name": "one__echo", "arguments": { "message": "x" } })
}

pub(crate) async fn post_able(doors: &OpenDoors, who: (&str, &str), params: Value) -> HttpReply {
    let can = json!({ "elicitation": { "form": {} } });
    doors.post_capable(&[who], "tools/call", params, &can).await
}

pub(crate) fn answered(parked: &Value, name: &str) -> Value {
    let mut again = echo();
    again["requestState"] = parked["result"]["requestState"].clone();
    again["inputResponses"] = json!({ "elicitation-1": { "action": "accept", "content": { "name": name } } });
    again
}

pub(crate) async fn wait_until(mut is_met: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !is_met().await {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(crate::client::LONG, waiting).await.expect("in time");
}

// G9 G3 B93
#[tokio::test]
async fn parked_question_is_answered_through_another_gateway_once_and_by_its_principal_only() {
    let pair = Pair::start(asking).await;
    let parked = post_able(&pair.one.doors, A, echo()).await.json().await;
    let stolen = post_able(&pair.two.doors, B, answered(&parked, "Mallory")).await.json().await;
    assert_eq!(stolen["error"]["code"], -32602, "{stolen}");
    let mut other = answered(&parked, "Eve");
    other["arguments"]["message"] = json!("changed");
    let changed = post_able(&pair.two.doors, A, other).await.json().await;
    assert_eq!(changed["error"]["code"], -32602, "{changed}");
    let done = post_able(&pair.two.doors, A, answered(&parked, "Ada")).await.json().await;
    assert!(done["result"]["content"][0]["text"].as_str().unwrap().contains("Ada"), "{done}");
    for doors in [&pair.one.doors, &pair.two.doors] {
        let again = post_able(doors, A, answered(&parked, "Ada")).await.json().await;
        assert_eq!(again["error"]["message"], "`requestState` is not valid for this request", "{again}");
    }
}

// G9 B93
#[tokio::test]
async fn session_goes_on_and_ends_at_every_gateway() {
    let pair = Pair::start(|| ScriptedStdio::new(&[])).await;
    let id = pair.one.doors.initialize("2025-11-25", json!({}), &[A]).await;
    let session = ("Mcp-Session-Id", id.as_str());
    let say = call(2, "one__echo", json!({ "message": "hello" }));
    for doors in [&pair.two.doors, &pair.one.doors] {
        let done = doors.post(&[session, A], &say).await.json().await;
        assert_eq!(done["result"]["content"][0]["text"], "hello", "{done}");
        assert_eq!(doors.post(&[session, B], &say).await.status, 404);
    }
    assert_eq!(pair.two.doors.send("DELETE /mcp", &[session, A], "").await.status, 200);
    wait_until(async || pair.one.doors.post(&[session, A], &say).await.status == 404).await;
    // A gateway that has not seen the session before finds its tombstone.
    let late = pair.two.doors.initialize("2025-11-25", json!({}), &[A]).await;
    let late = ("Mcp-Session-Id", late.as_str());
    assert_eq!(pair.two.doors.send("DELETE /mcp", &[late, A], "").await.status, 200);
    wait_until(async || pair.store.list_keys().iter().filter(|key| key.contains("dead:")).count() == 2).await;
    assert_eq!(pair.one.doors.post(&[late, A], &say).await.status, 404);
}

// G9
#[tokio::test]
async fn answer_of_an_old_client_reaches_the_gateway_that_asks() {
    let pair = Pair::start(asking).await;
    let id = pair.one.doors.initialize("2025-11-25", json!({ "elicitation": {} }), &[A]).await;
    let session = ("Mcp-Session-Id", id.as_str());
    let mut asked =
        pair.one.doors.post(&[session, A], &call(3, "one__echo", json!({ "message": "x" }))).await;
    let question = asked.event().await.unwrap();
    let answer = |name: &str| {
        let result = json!({ "action": "accept", "content": { "name": name } });
        json!({ "jsonrpc": "2.0", "id": question["id"], "result": result })
    };
    assert_eq!(pair.two.doors.post(&[session, B], &answer("Mallory")).await.status, 404);
    let own = pair.two.doors.initialize("2025-11-25", json!({ "elicitation": {} }), &[B]).await;
    let theirs = [("Mcp-Session-Id", own.as_str()), B];
    assert_eq!(
        pair.two.doors.post(&theirs, &answer("Mallory")).await.status,
        202,
        "no question of this session"
    );
    assert_eq!(pair.two.doors.post(&[session, A], &answer("Ada")).await.status, 202);
    let done = asked.event().await.unwrap();
    assert!(done["result"]["content"][0]["text"].as_str().unwrap().contains("Ada"), "{done}");
}

// G9 F91
#[tokio::test]
async fn broken_connection_is_resumed_at_another_gateway() {
    let pair = Pair::start(|| ScriptedStdio::new(&[])).await;
    let id = pair.one.doors.initialize("2025-11-25", json!({}), &[A]).await;
    let session = ("Mcp-Session-Id", id.as_str());
    let mut slow = call(7, "one__slow", json!({ "ms": 1000 }));
    slow["params"]["_meta"]["progressToken"] = json!("t");
    let mut reply = pair.one.doors.post(&[session, A], &slow).await;
    let last = reply.line("id:").await.unwrap();
    drop(reply);
    let other = pair.two.doors.initialize("2025-11-25", json!({}), &[B]).await;
    let stolen = [("Mcp-Session-Id", other.as_str()), B, EVENTS, ("Last-Event-ID", last.as_str())];
    let unknown = pair.two.doors.send("GET /mcp", &stolen, "").await.event().await.unwrap();
    assert_eq!(unknown["error"]["code"], -32603, "{unknown}");
    let ours = [session, A, EVENTS, ("Last-Event-ID", last.as_str())];
    let mut resumed = pair.two.doors.send("GET /mcp", &ours, "").await;
    let mut done = Value::Null;
    let mut ids = vec![last.clone()];
    while let Some(id) = resumed.line("id:").await {
        ids.push(id);
        done = resumed.event().await.unwrap();
    }
    assert_eq!((&done["id"], &done["result"]["content"][0]["text"]), (&json!(7), &json!("done")), "{done}");
    let numbers: Vec<u64> = ids.iter().map(|id| id.split('.').nth(1).unwrap().parse().unwrap()).collect();
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "{ids:?}");
    assert!(ids.iter().all(|id| id.split('.').next() == last.split('.').next()), "{ids:?}");
}

// G9 G3
#[tokio::test]
async fn task_is_read_and_canceled_through_another_gateway_by_its_principal_only() {
    let server = || ScriptedStdio::new(&["task:1"]).with_option("--versions", "2026-07-28");
    let pair = Pair::start(server).await;
    let can = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let chore = json!({ "name": "one__chore", "arguments": { "message": "swept" } });
    let created = pair.one.doors.post_capable(&[A], "tools/call", chore, &can).await.json().await;
    let task = created["result"]["taskId"].as_str().unwrap_or_else(|| panic!("{created}")).to_owned();
    let named = |who| [who, ("Mcp-Name", task.as_str())];
    let params = json!({ "taskId": task });
    let read = async |doors: &OpenDoors, who| {
        doors.post_capable(&named(who), "tasks/get", params.clone(), &can).await.json().await
    };
    let stolen = read(&pair.two.doors, B).await;
    assert_eq!(stolen["error"]["code"], -32602, "{stolen}");
    let (here, there) = (read(&pair.one.doors, A).await, read(&pair.two.doors, A).await);
    assert_eq!(here["result"]["taskId"], there["result"]["taskId"], "{there}");
    wait_until(async || read(&pair.two.doors, A).await["result"]["status"] == "completed").await;
    let canceled = pair.two.doors.post_capable(&named(A), "tasks/cancel", params.clone(), &can).await;
    assert!(canceled.json().await.get("error").is_none_or(|error| error["code"] != -32603));
}

// G9
#[tokio::test]
async fn call_on_its_own_gateway_writes_nothing() {
    let pair = Pair::start(|| ScriptedStdio::new(&[])).await;
    let id = pair.one.doors.initialize("2025-11-25", json!({}), &[A]).await;
    let session = ("Mcp-Session-Id", id.as_str());
    let _tools = pair.one.doors.post(&[session, A], &request(1, "tools/list", json!({}))).await.text().await;
    let say = call(2, "one__echo", json!({ "message": "hello" }));
    let _first = pair.two.doors.post(&[session, A], &say).await.text().await;
    let mut before = 0;
    wait_until(async || std::mem::replace(&mut before, pair.store.change_count()) == before).await;
    for doors in [&pair.one.doors, &pair.two.doors] {
        for _ in 0..50 {
            assert_eq!(doors.post(&[session, A], &say).await.status, 200);
            assert_eq!(doors.post_new(&[A], "tools/call", echo()).await.status, 200);
        }
    }
    // A heartbeat of each gateway may fall into this time.
    let written = pair.store.change_count() - before;
    assert!(written <= 4, "{written} writes in 200 calls");
}

/// The number of requests that both gateways admit while a client sends as many as it can.
async fn admitted_requests(pair: &Pair, path: &str, time: Duration) -> usize {
    let (begun, mut admitted, mut refused) = (Instant::now(), 0, 0);
    let headers = [("Content-Type", "application/json"), A];
    while begun.elapsed() < time {
        for doors in [&pair.one.doors, &pair.two.doors] {
            // No message: it is refused after the limits have admitted it.
            match doors.send(&format!("POST {path}"), &headers, "{}").await.status {
                429 => refused += 1,
                _ => admitted += 1,
            }
        }
    }
    assert!(refused > 0, "{admitted} requests are no load");
    admitted
}

// G9 G4: two buckets of their own would admit twice as many.
#[tokio::test]
async fn rate_of_a_principal_holds_for_all_gateways_together() {
    const RATE: u32 = 20;
    let time = Duration::from_secs(3);
    let whole = PairOptions { rate: Some(RATE), ..PairOptions::default() };
    let view = PairOptions { view_rate: Some(RATE), ..PairOptions::default() };
    for (chosen, path) in [(whole, "/mcp"), (view, "/mcp/slow")] {
        let pair = Pair::start_with(|| ScriptedStdio::new(&[]), chosen).await;
        let admitted = admitted_requests(&pair, path, time).await;
        // A full bucket and three seconds are 80 requests; both admit some more until they hear of each other.
        assert!(admitted <= 120, "{admitted} requests at {path}");
        assert!(admitted >= 50, "{admitted} requests at {path}");
    }
}

// G9
#[tokio::test]
async fn gateways_serve_on_while_the_shared_state_is_away() {
    let pair = Pair::start(asking).await;
    let id = pair.one.doors.initialize("2025-11-25", json!({ "elicitation": {} }), &[A]).await;
    let session = ("Mcp-Session-Id", id.as_str());
    let gone = pair.two.doors.initialize("2025-11-25", json!({}), &[A]).await;
    let gone = ("Mcp-Session-Id", gone.as_str());
    let parked = post_able(&pair.one.doors, A, echo()).await.json().await;
    let mut asked =
        pair.two.doors.post(&[session, A], &call(3, "one__echo", json!({ "message": "x" }))).await;
    let question = asked.event().await.unwrap();
    pair.store.set_available(false);
    let ready = pair.one.doors.send("GET /readyz", &[], "").await;
    assert_eq!((ready.status, ready.text().await.as_str()), (200, "degraded\n"));
    // Sessions and calls go on.
    let add = call(4, "two__add", json!({ "a": 1, "b": 2 }));
    for doors in [&pair.one.doors, &pair.two.doors] {
        assert_eq!(doors.post_new(&[A], "tools/list", json!({})).await.status, 200);
        let sum = doors.post(&[session, A], &add).await.json().await;
        assert_eq!(sum["result"]["content"][0]["text"], "3", "{sum}");
    }
    // A message for the other gateway may come again soon.
    let result = json!({ "action": "accept", "content": { "name": "Eve" } });
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
    let refused = [
        post_able(&pair.two.doors, A, answered(&parked, "Mallory")).await,
        pair.one.doors.post(&[session, A], &answer).await,
    ];
    for reply in refused {
        assert_eq!((reply.status, reply.header("retry-after")), (503, Some("1")));
    }
    // A parked call of this gateway goes on.
    let done = post_able(&pair.one.doors, A, answered(&parked, "Ada")).await.json().await;
    assert!(done["result"]["content"][0]["text"].as_str().unwrap().contains("Ada"), "{done}");
    // A session is deleted here at once, and later at the other gateway.
    assert_eq!(pair.two.doors.send("DELETE /mcp", &[gone, A], "").await.status, 200);
    assert_eq!(pair.two.doors.post(&[gone, A], &add).await.status, 404);
    pair.store.set_available(true);
    wait_until(async || pair.one.doors.post(&[gone, A], &add).await.status == 404).await;
    assert_eq!(pair.one.doors.post(&[session, A], &answer).await.status, 202);
    let done = asked.event().await.unwrap();
    assert!(done["result"]["content"][0]["text"].as_str().unwrap().contains("Eve"), "{done}");
    let parked = post_able(&pair.one.doors, A, echo()).await.json().await;
    let done = post_able(&pair.two.doors, A, answered(&parked, "Grace")).await.json().await;
    assert!(done["result"]["content"][0]["text"].as_str().unwrap().contains("Grace"), "{done}");
    let ready = pair.one.doors.send("GET /readyz", &[], "").await;
    assert_eq!((ready.status, ready.text().await.as_str()), (200, "ready\n"));
}

// G9
#[tokio::test]
async fn gateway_that_requires_the_shared_state_is_not_ready_without_it() {
    let pair = Pair::start_with(
        || ScriptedStdio::new(&[]),
        PairOptions { is_required: true, ..PairOptions::default() },
    )
    .await;
    pair.store.set_available(false);
    let ready = pair.one.doors.send("GET /readyz", &[], "").await;
    assert_eq!((ready.status, ready.text().await.as_str()), (503, "degraded\n"));
    assert_eq!(pair.one.doors.post_new(&[A], "tools/list", json!({})).await.status, 200);
}

// G9
#[tokio::test]
async fn cancellation_reaches_the_gateway_that_runs_the_call() {
    let pair = Pair::start(|| ScriptedStdio::new(&[])).await;
    let id = pair.one.doors.initialize("2025-11-25", json!({}), &[A]).await;
    let session = ("Mcp-Session-Id", id.as_str());
    let mut slow = call(7, "one__slow", json!({ "ms": 60_000 }));
    slow["params"]["_meta"]["progressToken"] = json!("t");
    let mut reply = pair.one.doors.post(&[session, A], &slow).await;
    assert!(reply.line("id:").await.is_some());
    let reason = "long ".repeat(10_000);
    let params = json!({ "requestId": 7, "reason": reason });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    assert_eq!(pair.two.doors.post(&[session, A], &cancel).await.status, 202);
    while let Some(message) = reply.event().await {
        assert_eq!(message["method"], "notifications/progress", "{message}");
    }
    let news = (KeyNames::new("test").news_log(), LogPosition::start());
    let news = pair.store.read_logs(vec![news], None).await.unwrap();
    assert!(
        !news.is_empty() && news.iter().all(|entry| entry.content.len() < 1000),
        "the reason is not shared"
    );
}

// G9 B93
#[tokio::test]
async fn answer_to_an_invented_question_fills_no_mailbox() {
    let pair = Pair::start(|| ScriptedStdio::new(&[])).await;
    let id = pair.one.doors.initialize("2025-11-25", json!({ "elicitation": {} }), &[A]).await;
    let session = ("Mcp-Session-Id", id.as_str());
    for gateway in 3_u64..20 {
        let answer = json!({ "jsonrpc": "2.0", "id": (gateway << 32) + 1, "result": {} });
        // After a start the other gateways may just be late with their heartbeats.
        let status = pair.one.doors.post(&[session, A], &answer).await.status;
        assert!(status == 503 || status == 202, "{status}");
    }
    let large = json!({ "jsonrpc": "2.0", "id": (2_u64 << 32) + 1, "result": { "x": "x".repeat(5 << 20) } });
    assert_eq!(pair.one.doors.post(&[session, A], &large).await.status, 413);
    let keys = pair.store.list_keys();
    assert!(!keys.iter().any(|key| key.ends_with(":in")), "{keys:?}");
}

// G9 F93
#[tokio::test]
async fn gateway_that_stops_finishes_requests_of_others_and_refuses_new_ones() {
    let mut pair = Pair::start(asking).await;
    let stop = pair.one.doors.stop.take().unwrap();
    let (one, two) = (&pair.one.doors, &pair.two.doors);
    let begun = post_able(one, A, echo()).await.json().await;
    let other = post_able(one, A, echo()).await.json().await;
    let id = one.initialize("2025-11-25", json!({}), &[A]).await;
    let session = ("Mcp-Session-Id", id.as_str());
    let mut slow = call(7, "two__slow", json!({ "ms": 5000 }));
    slow["params"]["_meta"]["progressToken"] = json!("t");
    // A call in progress, which the gateway waits for when it stops.
    let mut running = one.post(&[session, A], &slow).await;
    let stopping = async {
        // The gateway has confirmed the request.
        wait_until(async || pair.store.list_keys().iter().any(|key| key.ends_with("gw:2:in"))).await;
        stop.send(()).unwrap();
        wait_until(async || one.send("GET /readyz", &[], "").await.status == 503).await;
        post_able(two, A, answered(&other, "Eve")).await
    };
    let answering = async { post_able(two, A, answered(&begun, "Ada")).await.json().await };
    let (done, refused) = tokio::join!(answering, stopping);
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    assert!(done["result"]["content"][0]["text"].as_str().unwrap().contains("Ada"), "{done}");
    while running.event().await.is_some_and(|message| message["result"].is_null()) {}
    tokio::time::timeout(crate::client::LONG, &mut pair.one.doors.serving).await.expect("an end").unwrap();
}

// G9
#[tokio::test]
async fn message_that_no_gateway_of_the_cluster_has_sealed_is_ignored() {
    let pair = Pair::start(|| ScriptedStdio::new(&[])).await;
    let id = pair.one.doors.initialize("2025-11-25", json!({}), &[A]).await;
    let session = ("Mcp-Session-Id", id.as_str());
    let _tools = pair.one.doors.post(&[session, A], &request(1, "tools/list", json!({}))).await.text().await;
    let mut key = String::new();
    wait_until(async || {
        let keys = pair.store.list_keys();
        key = keys.iter().find_map(|key| key.strip_prefix("mp:test:s:")).unwrap_or_default().to_owned();
        !key.is_empty()
    })
    .await;
    let forged = json!({ "Deleted": { "session": key } }).to_string().into_bytes();
    let ttl = std::time::Duration::from_secs(60);
    let forged = StoreChange::Append { log: KeyNames::new("test").news_log(), entry: forged, most: 100, ttl };
    pair.store.apply_changes(vec![forged]).await.unwrap();
    // News that come later have been handled, so the forged ones have been too.
    let other = pair.two.doors.initialize("2025-11-25", json!({}), &[A]).await;
    let other = ("Mcp-Session-Id", other.as_str());
    let say = call(2, "one__echo", json!({ "message": "hello" }));
    assert_eq!(pair.one.doors.post(&[other, A], &say).await.status, 200);
    assert_eq!(pair.two.doors.send("DELETE /mcp", &[other, A], "").await.status, 200);
    wait_until(async || pair.one.doors.post(&[other, A], &say).await.status == 404).await;
    assert_eq!(pair.one.doors.post(&[session, A], &say).await.status, 200);
}
