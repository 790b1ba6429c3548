//! Two gateways behind nginx, with their state in Redis: real processes, which are killed and stopped.

mod figures;
mod parts;

use std::io::{BufRead, BufReader};
use std::time::{Duration, Instant};

use mcparley_testkit::ScriptedStdio;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::talk::entry;
use parts::{
    Answer, Balancer, ClusterGateway, Redis, TOKEN_A, TOKEN_B, begin, call_body, finish, free_port,
    open_session, post_new, refer, send, wait_until,
};

/// Two gateways with servers of their own.
struct Cluster {
    redis: Redis,
    one: ClusterGateway,
    two: ClusterGateway,
    /// The port for the proxy before them.
    port: u16,
}

impl Cluster {
    fn start(server: &ScriptedStdio) -> Self {
        let redis = Redis::start();
        let servers = json!({ "one": entry(server), "two": entry(&plain()) });
        let port = free_port();
        let host = format!("127.0.0.1:{port}");
        let start = || ClusterGateway::start(&servers, &redis, &["--host", &host]);
        let (one, two) = (start(), start());
        for gateway in [&one, &two] {
            let tools = post_new(&gateway.address, TOKEN_A, "tools/list", json!({}));
            assert!(tools.body.contains("one__echo"), "{tools:?}");
        }
        Self { redis, one, two, port }
    }
}

fn plain() -> ScriptedStdio {
    ScriptedStdio::new(&[])
}

fn asking() -> ScriptedStdio {
    ScriptedStdio::new(&["server-request:elicitation/create"])
}

fn echo() -> Value {
    json!({ "name": "one__echo", "arguments": { "message": "x" } })
}

fn call(address: &str, session: &[String], id: u64, name: &str, arguments: &Value) -> Answer {
    send(address, "POST", &refer(session), &call_body(id, name, arguments, false))
}

fn answer_parked(address: &str, token: &str, parked: &Value, name: &str) -> Answer {
    answer_call(address, token, (echo(), parked), name)
}

/// Repeats a parked call with its answer.
fn answer_call(address: &str, token: &str, (mut again, parked): (Value, &Value), name: &str) -> Answer {
    again["requestState"] = parked["result"]["requestState"].clone();
    again["inputResponses"] = json!({ "elicitation-1": { "action": "accept", "content": { "name": name } } });
    post_new(address, token, "tools/call", again)
}

// G9 F93
#[test]
fn heavy_killed_gateway_loses_only_the_calls_that_ran_there() {
    let mut cluster = Cluster::start(&plain());
    let balancer = Balancer::start(cluster.port, &[&cluster.one, &cluster.two]);
    let sessions: Vec<Vec<String>> = (0..8).map(|_| open_session(&balancer.address, TOKEN_A)).collect();
    for session in &sessions {
        let tools = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
        assert_eq!(send(&balancer.address, "POST", &refer(session), &tools).status, 200);
    }
    let (done, started) = (std::sync::Mutex::new(Vec::new()), std::sync::atomic::AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for session in &sessions {
            let (done, started, address) = (&done, &started, &balancer.address);
            scope.spawn(move || {
                for number in 0..125 {
                    started.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    let arguments = json!({ "ms": 10 });
                    let body = call_body(10 + number, "one__slow", &arguments, false);
                    let answer = finish(begin(address, "POST", &refer(session), &body));
                    done.lock().unwrap().push(answer);
                }
            });
        }
        wait_until("half of the calls", || started.load(std::sync::atomic::Ordering::SeqCst) >= 500);
        cluster.two.process.kill();
    });
    let done = done.into_inner().unwrap();
    assert_eq!(done.len(), 1000);
    let is_ok =
        |answer: &&Option<Answer>| answer.as_ref().is_some_and(|it| it.status == 200 && it.text() == "done");
    let failed: Vec<&Option<Answer>> = done.iter().filter(|answer| !is_ok(answer)).collect();
    // Eight clients, each with one call at a time.
    assert!(failed.len() <= 8, "{} failed: {failed:?}", failed.len());
    for answer in failed {
        let answer = answer.as_ref().expect("an answer of the balancer");
        assert_eq!(answer.status, 502, "{answer:?}");
        assert!(answer.body.contains("outcome unknown"), "{answer:?}");
    }
    for session in &sessions {
        let again = call(&balancer.address, session, 900, "one__echo", &json!({ "message": "on" }));
        assert_eq!(again.text(), "on", "{again:?}");
    }
}

// G9 G3 B93
#[test]
fn parked_question_is_answered_through_the_other_gateway() {
    let cluster = Cluster::start(&asking());
    let parked = post_new(&cluster.one.address, TOKEN_A, "tools/call", echo()).message();
    assert_eq!(parked["result"]["resultType"], "input_required", "{parked}");
    let stolen = answer_parked(&cluster.two.address, TOKEN_B, &parked, "Mallory");
    assert_eq!(stolen.message()["error"]["code"], -32602, "{stolen:?}");
    let done = answer_parked(&cluster.two.address, TOKEN_A, &parked, "Ada");
    assert!(done.text().contains("Ada"), "{done:?}");
    let again = answer_parked(&cluster.two.address, TOKEN_A, &parked, "Ada");
    assert_eq!(again.message()["error"]["code"], -32602, "{again:?}");
    // Nothing in Redis names what clients hold, and the password is in no message.
    let state = parked["result"]["requestState"].as_str().unwrap();
    assert!(!cluster.redis.keys().contains(state));
    for gateway in [&cluster.one, &cluster.two] {
        assert!(!gateway.stderr.lock().unwrap().contains("secret-word"));
    }
}

/// A call of a tool that is not marked as read-only.
fn add() -> Value {
    json!({ "name": "one__add", "arguments": { "a": 1, "b": 2 } })
}

// G9 G3: the claim that closes a call is made once, and the owner that was only asleep drops its result.
#[test]
fn heavy_parked_call_of_a_dead_gateway_is_made_again_if_it_is_safe_and_else_its_outcome_is_unknown() {
    let mut cluster = Cluster::start(&asking());
    let park = |params: Value| post_new(&cluster.one.address, TOKEN_A, "tools/call", params).message();
    let (unsafe_call, safe_call, later) = (park(add()), park(echo()), park(add()));
    cluster.one.process.signal(Signal::STOP);
    let ended = answer_call(&cluster.two.address, TOKEN_A, (add(), &unsafe_call), "Ada");
    assert!(ended.text().contains("outcome unknown"), "{ended:?}");
    assert_eq!(ended.message()["result"]["isError"], true, "{ended:?}");
    // The server of this gateway asks again.
    let again = answer_parked(&cluster.two.address, TOKEN_A, &safe_call, "Ada").message();
    assert_eq!(again["result"]["resultType"], "input_required", "{again}");
    let done = answer_parked(&cluster.two.address, TOKEN_A, &again, "Ada");
    assert!(done.text().contains("Ada"), "{done:?}");
    cluster.one.process.signal(Signal::CONT);
    for address in [&cluster.one.address, &cluster.two.address] {
        for (params, state) in [(add(), &unsafe_call), (echo(), &safe_call)] {
            let again = answer_call(address, TOKEN_A, (params, state), "Eve");
            assert_eq!(again.message()["error"]["code"], -32602, "{again:?}");
        }
    }
    // A call that no other gateway has ended goes on at the gateway that slept.
    let other = answer_call(&cluster.one.address, TOKEN_A, (add(), &later), "Grace");
    assert!(other.text().contains("Grace"), "{other:?}");
    cluster.one.process.kill();
}

// G9 G3 B93
#[test]
fn heavy_task_is_read_from_the_other_gateway_and_fails_with_the_name_of_one_that_is_gone() {
    let server = ScriptedStdio::new(&["task:1"]).with_option("--versions", "2026-07-28");
    let mut cluster = Cluster::start(&server);
    let chore = json!({ "name": "one__chore", "arguments": { "message": "swept" } });
    let created = post_new(&cluster.one.address, TOKEN_A, "tools/call", chore).message();
    let task =
        json!({ "taskId": created["result"]["taskId"].as_str().unwrap_or_else(|| panic!("{created}")) });
    let read = |address: &str, token| post_new(address, token, "tasks/get", task.clone()).message();
    wait_until("the end of the task", || {
        read(&cluster.two.address, TOKEN_A)["result"]["status"] == "completed"
    });
    let stolen = read(&cluster.two.address, TOKEN_B);
    assert_eq!(stolen["error"]["code"], -32602, "{stolen}");
    cluster.one.process.kill();
    let lost = read(&cluster.two.address, TOKEN_A);
    let message = lost["error"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(message.contains(&cluster.one.address), "{lost}");
}

// G9 F91
#[test]
fn broken_connection_is_resumed_at_the_other_gateway_and_after_the_end_of_its_own() {
    let mut cluster = Cluster::start(&plain());
    let session = open_session(&cluster.one.address, TOKEN_A);
    let start = |ms: u64| {
        let body = call_body(7, "one__slow", &json!({ "ms": ms }), true);
        let stream = begin(&cluster.one.address, "POST", &refer(&session), &body);
        let lines = BufReader::new(stream).lines().map_while(Result::ok);
        let id = lines.filter_map(|line| line.strip_prefix("id:").map(|id| id.trim().to_owned())).next();
        format!("Last-Event-ID: {}", id.unwrap())
    };
    let resume = |last: &str| {
        let mut headers = refer(&session);
        headers.extend(["Accept: text/event-stream", last]);
        send(&cluster.two.address, "GET", &headers, "")
    };
    let resumed = resume(&start(1000));
    assert_eq!(resumed.text(), "done", "{resumed:?}");
    let last = start(60_000);
    wait_until("the log of the broken connection", || cluster.redis.keys().contains(":log:"));
    cluster.one.process.kill();
    let lost = resume(&last);
    assert!(lost.body.contains("outcome unknown"), "{lost:?}");
    assert_eq!(lost.message()["id"], 7, "{lost:?}");
}

// G9
#[test]
fn deleted_session_is_gone_at_the_other_gateway() {
    let cluster = Cluster::start(&plain());
    let session = open_session(&cluster.one.address, TOKEN_A);
    let say = json!({ "message": "hello" });
    assert_eq!(call(&cluster.two.address, &session, 2, "one__echo", &say).text(), "hello");
    let mut stolen = session.clone();
    TOKEN_B.clone_into(&mut stolen[0]);
    assert_eq!(call(&cluster.two.address, &stolen, 2, "one__echo", &say).status, 404);
    assert_eq!(send(&cluster.one.address, "DELETE", &refer(&session), "").status, 200);
    wait_until("404", || call(&cluster.two.address, &session, 2, "one__echo", &say).status == 404);
}

fn readiness(gateway: &ClusterGateway) -> (u16, String) {
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect(&gateway.address).unwrap();
    stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let status = text.split(' ').nth(1).unwrap().parse().unwrap();
    (status, text.rsplit("\r\n\r\n").next().unwrap().trim().to_owned())
}

// G9
#[test]
fn heavy_gateways_serve_on_while_redis_is_away_or_stalls() {
    let mut cluster = Cluster::start(&asking());
    let session = open_session(&cluster.one.address, TOKEN_A);
    let deleted = open_session(&cluster.one.address, TOKEN_A);
    let park = |cluster: &Cluster| post_new(&cluster.one.address, TOKEN_A, "tools/call", echo()).message();
    let sum = json!({ "a": 1, "b": 2 });
    assert_eq!(call(&cluster.two.address, &deleted, 2, "two__add", &sum).text(), "3");
    for is_stalled in [true, false] {
        let parked = park(&cluster);
        match is_stalled {
            true => cluster.redis.process.signal(Signal::STOP),
            false => cluster.redis.process.kill(),
        }
        let since = Instant::now();
        for gateway in [&cluster.one, &cluster.two] {
            wait_until("degraded", || readiness(gateway) == (200, "degraded".to_owned()));
        }
        while since.elapsed() < Duration::from_secs(10) {
            for gateway in [&cluster.one, &cluster.two] {
                let begun = Instant::now();
                assert_eq!(call(&gateway.address, &session, 2, "two__add", &sum).text(), "3");
                assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
            }
            let refused = answer_parked(&cluster.two.address, TOKEN_A, &parked, "Ada");
            assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")), "{refused:?}");
        }
        let here = answer_parked(&cluster.one.address, TOKEN_A, &parked, "Eve");
        assert!(here.text().contains("Eve"), "{here:?}");
        if is_stalled {
            cluster.redis.process.signal(Signal::CONT);
        } else {
            assert_eq!(send(&cluster.one.address, "DELETE", &refer(&deleted), "").status, 200);
            assert_eq!(call(&cluster.one.address, &deleted, 2, "two__add", &sum).status, 404);
            cluster.redis.restart();
        }
        for gateway in [&cluster.one, &cluster.two] {
            wait_until("ready", || readiness(gateway) == (200, "ready".to_owned()));
        }
    }
    wait_until("404", || call(&cluster.two.address, &deleted, 2, "two__add", &sum).status == 404);
    let parked = park(&cluster);
    // A gateway that starts now has the same key, although Redis has lost its data.
    let servers = json!({ "one": entry(&asking()), "two": entry(&plain()) });
    let three = ClusterGateway::start(&servers, &cluster.redis, &[]);
    assert_eq!(call(&three.address, &session, 2, "two__add", &sum).text(), "3");
    let done = answer_parked(&three.address, TOKEN_A, &parked, "Grace");
    assert!(done.text().contains("Grace"), "{done:?}");
}

// G9
#[test]
fn heavy_calls_on_their_own_gateway_write_nothing_to_redis() {
    let cluster = Cluster::start(&plain());
    let session = open_session(&cluster.one.address, TOKEN_A);
    let say = json!({ "message": "hello" });
    assert_eq!(call(&cluster.one.address, &session, 2, "one__echo", &say).text(), "hello");
    let (before, begun) = (cluster.redis.command_counts(), Instant::now());
    for number in 0..500 {
        assert_eq!(call(&cluster.one.address, &session, 3 + number, "one__echo", &say).text(), "hello");
        assert_eq!(post_new(&cluster.one.address, TOKEN_A, "tools/call", echo()).text(), "x");
    }
    let (after, beats) = (cluster.redis.command_counts(), 2 * (begun.elapsed().as_secs() / 5 + 1));
    for (name, count) in &after {
        let calls = count - before.get(name).unwrap_or(&0);
        match name.as_str() {
            // Readers that wait for messages, checks of the connections, and this test itself.
            "xread" | "ping" | "auth" | "info" | "client|setinfo" | "select" | "hello" | "quit" => {}
            "set" | "get" => assert!(calls <= beats, "{calls} heartbeats in {:?}", begun.elapsed()),
            _ => assert_eq!(calls, 0, "{name}: {after:?}"),
        }
    }
}
