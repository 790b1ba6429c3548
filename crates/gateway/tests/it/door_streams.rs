//! Event streams of sessions: resumption, replaced readers, slow readers, the end of a session, and metrics.

use mcparley_gateway::GatewayMode;
use mcparley_model::limits::DOOR_STALL_TIME;
use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::client::LONG;
use crate::door::{HttpReply, OpenDoors, call, options, request};
use crate::world::World;

const EVENTS: (&str, &str) = ("Accept", "text/event-stream");

/// The events of a stream until its end: their ids and messages.
async fn read_events(reply: &mut HttpReply) -> Vec<(String, Value)> {
    let mut events = Vec::new();
    while let Some(id) = reply.line("id:").await {
        let data = reply.line("data:").await.unwrap();
        if !data.is_empty() {
            events.push((id, serde_json::from_str(&data).unwrap()));
        }
    }
    events
}

// G1 F91: exactly the events after the given one come again.
#[tokio::test]
async fn resumed_stream_has_exactly_the_rest_of_the_events() {
    let served = World::one().allow("mcp__one").gateway();
    let doors = OpenDoors::open(&served, options()).await;
    let id = doors.initialize("2025-11-25", json!({}), &[]).await;
    let session = ("Mcp-Session-Id", id.as_str());
    let _tools = doors.post(&[session], &request(1, "tools/list", json!({}))).await.text().await;
    let mut slow = call(7, "one__slow", json!({ "ms": 200 }));
    slow["params"]["_meta"]["progressToken"] = json!("t");
    let mut first = doors.post(&[session], &slow).await;
    let all = read_events(&mut first).await;
    assert!(all.len() > 2, "{all:?}");
    for place in 0..all.len() {
        let last = ("Last-Event-ID", all[place].0.as_str());
        let mut again = doors.send("GET /mcp", &[session, EVENTS, last], "").await;
        assert_eq!(read_events(&mut again).await, all[place + 1..], "after {place}");
    }
    // Another session does not know the stream, and says that the outcome is unknown.
    let other = doors.initialize("2025-11-25", json!({}), &[]).await;
    let foreign = [("Mcp-Session-Id", other.as_str()), EVENTS, ("Last-Event-ID", all[0].0.as_str())];
    let mut foreign = doors.send("GET /mcp", &foreign, "").await;
    let answer = foreign.event().await.unwrap();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32603)), "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("outcome unknown"), "{answer}");
    assert!(foreign.event().await.is_none());
    // An event that was never sent.
    let ahead = all[0].0.replacen(".1.", ".99.", 1);
    let mut ahead = doors.send("GET /mcp", &[session, EVENTS, ("Last-Event-ID", &ahead)], "").await;
    assert_eq!(ahead.event().await.unwrap()["error"]["code"], -32603);
}

// G1: one reader at a time, the newest counts.
#[tokio::test]
async fn newer_reader_replaces_the_one_before_it() {
    let mut served = World::one().allow("mcp__one").gateway();
    let doors = OpenDoors::open(&served, options()).await;
    let id = doors.initialize("2025-11-25", json!({}), &[]).await;
    let session = ("Mcp-Session-Id", id.as_str());
    let _tools = doors.post(&[session], &request(1, "tools/list", json!({}))).await.text().await;
    let mut older = doors.send("GET /mcp", &[session, EVENTS], "").await;
    let mut newer = doors.send("GET /mcp", &[session, EVENTS], "").await;
    assert!(older.event().await.is_none(), "the older stream ends");
    served.world.add("two", &ScriptedStdio::new(&[]));
    assert_eq!(newer.event().await.unwrap()["method"], "notifications/tools/list_changed");
    // The stream of a call, too.
    let mut slow = call(7, "one__slow", json!({ "ms": 1000 }));
    slow["params"]["_meta"]["progressToken"] = json!("t");
    let mut first = doors.post(&[session], &slow).await;
    let last = first.line("id:").await.unwrap();
    let mut second = doors.send("GET /mcp", &[session, EVENTS, ("Last-Event-ID", &last)], "").await;
    let mut answers = 0;
    for reply in [&mut first, &mut second] {
        while let Some(message) = reply.event().await {
            answers += usize::from(message["id"] == 7);
        }
    }
    assert_eq!(answers, 1, "the response comes once");
}

// G1 B93: a deleted session is over, with its calls and streams.
#[tokio::test]
async fn deleted_session_ends_its_streams_and_calls() {
    let served = World::one().allow("mcp__one").gateway();
    let doors = OpenDoors::open(&served, options()).await;
    let id = doors.initialize("2025-11-25", json!({}), &[]).await;
    let session = ("Mcp-Session-Id", id.as_str());
    let _tools = doors.post(&[session], &request(1, "tools/list", json!({}))).await.text().await;
    let mut channel = doors.send("GET /mcp", &[session, EVENTS], "").await;
    let mut slow = call(7, "one__slow", json!({ "ms": 60_000 }));
    slow["params"]["_meta"]["progressToken"] = json!("t");
    let mut running = doors.post(&[session], &slow).await;
    let last = running.line("id:").await.unwrap();
    assert_eq!(doors.send("DELETE /mcp", &[session], "").await.status, 200);
    assert!(channel.event().await.is_none());
    let mut messages = Vec::new();
    while let Some(message) = running.event().await {
        messages.push(message);
    }
    assert!(messages.iter().all(|message| message["method"] == "notifications/progress"), "{messages:?}");
    for reply in [
        doors.post(&[session], &request(2, "tools/list", json!({}))).await,
        doors.send("GET /mcp", &[session, EVENTS], "").await,
        doors.send("GET /mcp", &[session, EVENTS, ("Last-Event-ID", &last)], "").await,
        doors.send("DELETE /mcp", &[session], "").await,
    ] {
        assert_eq!(reply.status, 404);
    }
    let metrics = doors.send("GET /metrics", &[], "").await.text().await;
    assert!(metrics.contains("mcparley_sessions 0") && metrics.contains("requests_in_flight 0"), "{metrics}");
}

// F92: a client that does not read is cut off, and its messages are bounded.
#[tokio::test]
async fn client_that_does_not_read_slows_no_other_and_gets_the_newest_progress() {
    let server = ScriptedStdio::new(&["progress-storm:20000"]).with_option("--times", "1");
    let served = World::with([("one", server)]).allow("mcp__one").gateway();
    let doors = OpenDoors::open(&served, options()).await;
    let id = doors.initialize("2025-11-25", json!({}), &[]).await;
    let session = ("Mcp-Session-Id", id.as_str());
    let _tools = doors.post(&[session], &request(1, "tools/list", json!({}))).await.text().await;
    let mut echo = call(7, "one__echo", json!({ "message": "m" }));
    echo["params"]["_meta"]["progressToken"] = json!("t");
    let body = echo.to_string();
    let mut stream = TcpStream::connect(doors.address).await.unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMcp-Session-Id: {id}\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // Meanwhile another client is served.
    for number in 0..20 {
        let done = doors.post(&[session], &call(100 + number, "one__add", json!({ "a": 1, "b": 2 }))).await;
        assert_eq!(done.json().await["result"]["content"][0]["text"], "3");
    }
    let mut reply = HttpReply::read(stream).await;
    let mut messages = Vec::new();
    while let Some(message) = reply.event().await {
        messages.push(message);
    }
    let last = messages.pop().unwrap();
    assert_eq!(last["result"]["content"][0]["text"], "m", "{last}");
    // The socket takes some thousands; of the others, newer progress replaces older.
    let steps: Vec<f64> = messages.iter().filter_map(|it| it["params"]["progress"].as_f64()).collect();
    assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "in order");
    assert_eq!(steps.last(), Some(&20_000.0), "the newest is not lost");
}

// X5 G4
#[tokio::test]
async fn metrics_count_calls_by_the_server_and_the_tool_of_the_client() {
    let asking = ScriptedStdio::new(&["server-request:elicitation/create"]);
    let servers = [("one", ScriptedStdio::new(&[])), ("two", asking)];
    let served = World::with(servers).allow("mcp__one").allow("mcp__two").gateway();
    let doors = OpenDoors::open(&served, options()).await;
    let _tools = doors.post_new(&[], "tools/list", json!({})).await.text().await;
    let echo = json!({ "name": "one__echo", "arguments": { "message": "m" } });
    for _ in 0..3 {
        assert_eq!(doors.post_new(&[], "tools/call", echo.clone()).await.status, 200);
    }
    let unknown = json!({ "name": "one__none", "arguments": {} });
    let _refused = doors.post_new(&[], "tools/call", unknown).await;
    let failing = json!({ "name": "one__fail", "arguments": {} });
    assert_eq!(doors.post_new(&[], "tools/call", failing).await.status, 200);
    let asking = json!({ "name": "two__echo", "arguments": { "message": "m" } });
    let can = json!({ "elicitation": { "form": {} } });
    assert_eq!(doors.post_capable(&[], "tools/call", asking, &can).await.status, 200);
    let _host = doors.send("POST /mcp", &[("Host", "evil.com")], "{}").await;
    let metrics = doors.send("GET /metrics", &[], "").await.text().await;
    for line in [
        r#"mcparley_calls_total{server="one",tool="one__echo",principal="open",outcome="ok"} 3"#,
        r#"mcparley_calls_total{server="unknown",tool="unknown",principal="open",outcome="failed"} 1"#,
        r#"mcparley_calls_total{server="one",tool="one__fail",principal="open",outcome="tool-error"} 1"#,
        r#"mcparley_calls_total{server="two",tool="two__echo",principal="open",outcome="input-required"} 1"#,
        r#"mcparley_call_seconds_count{server="one"} 4"#,
        r#"mcparley_refusals_total{reason="host"} 1"#,
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
}

// B117 H35: a list says that it is not to be shared, and every principal gets its own answer.
#[tokio::test]
async fn lists_are_private_to_their_principal() {
    let served = World::one().allow("mcp__one").gateway();
    let doors = OpenDoors::open(&served, options()).await;
    let list = doors.post_new(&[], "tools/list", json!({})).await;
    assert_ne!(list.header("cache-control"), Some("public"));
    let list = list.json().await;
    assert_eq!(list["result"]["cacheScope"], "private", "{list}");
    let discovered = doors.post_new(&[], "server/discover", json!({})).await.json().await;
    assert_eq!(discovered["result"]["cacheScope"], "private", "{discovered}");
}

// F92: a reader that stalls is cut off after the stall time.
#[tokio::test]
async fn connection_of_a_reader_that_stalls_is_closed() {
    let mode = GatewayMode { for_model: false, ..GatewayMode::default() };
    let served = World::one().allow("mcp__one").in_mode(mode);
    let doors = OpenDoors::open(&served, options()).await;
    let id = doors.initialize("2025-11-25", json!({}), &[]).await;
    let session = [("Mcp-Session-Id", id.as_str())];
    let _tools = doors.post(&session, &request(1, "tools/list", json!({}))).await.text().await;
    // More than the buffers of both sockets hold.
    let size = 12_000_000;
    let reply = doors.post(&session, &call(2, "one__big", json!({ "bytes": size }))).await;
    assert_eq!(reply.status, 200);
    // Not read any further, for longer than the limit.
    tokio::time::pause();
    tokio::time::advance(DOOR_STALL_TIME / 2).await;
    tokio::time::advance(DOOR_STALL_TIME).await;
    tokio::time::resume();
    let (mut rest, mut stream) = (Vec::new(), reply.stream);
    let _lost = tokio::time::timeout(LONG, stream.read_to_end(&mut rest)).await.expect("an end");
    assert!(rest.len() < size, "{} of {size}", rest.len());
}
