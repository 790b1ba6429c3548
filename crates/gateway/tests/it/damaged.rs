//! Invalid requests: answered with an error, and skipped.

use mcparley::model::limits::MESSAGE_BYTES;
use serde_json::{Value, json};

use crate::client::Client;
use crate::world::World;

fn call(message: &str) -> String {
    let params = json!({ "name": "one__echo", "arguments": { "message": message } });
    json!({ "jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": params }).to_string()
}

// B03 B04 B05 B06 B07 B08 B09 B10 H22
#[tokio::test]
async fn every_damaged_line_gets_an_error_and_the_next_one_an_answer() {
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":5,"method":"ping","params":{{"a":{}{}}}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let zeros = format!("[{}]", vec!["0"; 20_000].join(","));
    let digits =
        format!(r#"{{"jsonrpc":"2.0","id":5,"method":"ping","params":{{"a":1e{}}}}}"#, "9".repeat(100));
    let table: Vec<(&[u8], Value, i64)> = vec![
        (b"hello", Value::Null, -32700),
        (b"Content-Length: 17", Value::Null, -32700),
        (b"\x1b[31mlog line", Value::Null, -32700),
        (b"{", Value::Null, -32700),
        (br#"{"jsonrpc":"2.0","id":5,"method":"ping""#, json!(5), -32700),
        (br#"{"jsonrpc":"2.0","id":"x","method":"ping",}"#, json!("x"), -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"pi\xffng\"}", json!(5), -32700),
        (br#"{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":"\ud800"}}"#, json!(5), -32602),
        (br#"{"jsonrpc":"2.0","id":5,"id":6,"method":"ping"}"#, json!(5), -32600),
        (br#"{"jsonrpc":"2.0","id":5,"method":"ping","method":"tools/list"}"#, json!(5), -32600),
        (br#"{"jsonrpc":"2.0","id":5,"method":"ping","params":{},"params":{}}"#, json!(5), -32600),
        (br#"{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":1,"a":2}}"#, json!(5), -32602),
        (br#"{"jsonrpc":"1.0","id":5,"method":"ping"}"#, json!(5), -32600),
        (br#"{"id":5,"method":"ping"}"#, json!(5), -32600),
        (br#"{"jsonrpc":2,"id":5,"method":"ping"}"#, json!(5), -32600),
        (br#"{"jsonrpc":"2.0","id":5,"Method":"ping"}"#, Value::Null, -32600),
        (br#"{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}"#, Value::Null, -32600),
        (br#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, Value::Null, -32600),
        (br#"{"jsonrpc":"2.0","id":5,"method":"ping","params":[1]}"#, json!(5), -32602),
        (br#"{"jsonrpc":"2.0","id":5,"method":7}"#, json!(5), -32600),
        (b"[]", Value::Null, -32600),
        (zeros.as_bytes(), Value::Null, -32700),
        (deep.as_bytes(), json!(5), -32602),
        (digits.as_bytes(), json!(5), -32602),
    ];
    let gateway = World::one().allow("mcp__one").gateway();
    let mut client = Client::new(&gateway, "2025-11-25").await;
    for (line, id, code) in table {
        let shown = String::from_utf8_lossy(line.get(..70).unwrap_or(line)).into_owned();
        client.say(line).await;
        let mut answer = client.next().await;
        if line.starts_with(b"[0") {
            // Ten thousand of them fit; each is told, until the batch proves too large.
            assert_eq!(answer["error"]["code"], -32700, "{shown}");
        }
        let told = answer["id"].take();
        assert_eq!((told, answer["error"]["code"].as_i64()), (id, Some(code)), "{shown}");
        client.begin_as(&json!(900), "ping", json!({})).await;
        assert_eq!(client.answer(&json!(900)).await["result"], json!({}), "after {shown}");
        client.heard.clear();
    }
}

// B08 B10: valid lines among invalid ones.
#[tokio::test]
async fn unusual_but_valid_messages_are_answered() {
    let gateway = World::one().allow("mcp__one").gateway();
    let mut client = Client::new(&gateway, "2025-11-25").await;
    let crlf = format!("{}\r", call("crlf"));
    let bom = format!("\u{feff}{}", call("bom"));
    let spaces = format!("   {}  ", call("spaces"));
    let escaped = call("x").replace("\"method\"", "\"m\\u0065thod\"");
    for line in [crlf, bom, spaces, escaped, call("\u{2028}\u{0}")] {
        client
            .begin_as(
                &json!(900),
                "tools/call",
                json!({ "name": "one__echo", "arguments": { "message": "" } }),
            )
            .await;
        client.answer(&json!(900)).await;
        client.say("").await;
        client.say(&line).await;
        let answer = client.answer(&json!(900)).await;
        assert_eq!(answer["result"]["isError"], false, "{line}: {answer}");
    }
}

// B01 B02
#[tokio::test]
async fn a_message_over_the_limit_is_refused_with_its_id_and_one_at_the_limit_is_not_heavy() {
    let gateway = World::one().allow("mcp__one").gateway();
    let mut client = Client::new(&gateway, "2025-11-25").await;
    let filled = |length: usize| {
        let empty = call("");
        let text = "x".repeat(length - empty.len());
        call(&text)
    };
    client.say(filled(MESSAGE_BYTES + 1)).await;
    let refused = client.answer(&json!(900)).await;
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    let last = format!(
        r#"{{"jsonrpc":"2.0","method":"ping","params":{{"a":"{}"}},"id":901}}"#,
        "x".repeat(2 * MESSAGE_BYTES)
    );
    client.say(last).await;
    assert_eq!(client.answer(&json!(901)).await["error"]["code"], -32600, "the id stands at the end");
    client
        .begin_as(&json!(900), "tools/call", json!({ "name": "one__echo", "arguments": { "message": "" } }))
        .await;
    client.answer(&json!(900)).await;
    client.say(filled(MESSAGE_BYTES)).await;
    let answered = client.answer(&json!(900)).await;
    assert!(answered.get("result").is_some(), "exactly the limit is taken");
}
