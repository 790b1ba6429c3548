//! Calls, their progress, their cancellation and their log messages.

use serde_json::{Value, json};

use crate::matrix::bench::Bench;
use crate::matrix::cell::Sight;

pub(crate) async fn call(bench: &mut Bench) -> Sight {
    let text = "h\u{e9}llo \u{1f600}";
    let result = bench.client.call(&bench.tool("echo"), json!({ "message": text })).await;
    assert_eq!(result["content"], json!([{ "type": "text", "text": text }]));
    Sight::Result
}

pub(crate) async fn progress(bench: &mut Bench) -> Sight {
    let name = bench.tool("slow");
    let params = json!({ "name": name, "arguments": { "ms": 100 }, "_meta": { "progressToken": "mine" } });
    let answer = bench.client.ask("tools/call", params).await;
    assert_eq!(answer["result"]["content"][0]["text"], "done", "{answer}");
    let heard = std::mem::take(&mut bench.client.heard);
    let reports: Vec<&Value> =
        heard.iter().filter(|it| it["method"] == "notifications/progress").map(|it| &it["params"]).collect();
    assert_eq!(reports.len(), heard.len(), "{heard:?}");
    // The numbers are integers, as the server wrote them.
    let last = json!({ "progressToken": "mine", "progress": 10, "total": 10 });
    assert_eq!(reports.last(), Some(&&last));
    Sight::ProgressOfRequest
}

pub(crate) async fn cancel(bench: &mut Bench) -> Sight {
    let name = bench.tool("slow");
    let params = json!({ "name": name, "arguments": { "ms": 60_000 }, "_meta": { "progressToken": 7 } });
    let id = bench.client.begin("tools/call", params).await;
    bench.await_server_message("tools/call").await;
    bench.client.cancel(&id).await;
    bench.await_cancellation().await;
    let echo = bench.echo();
    bench.client.ask("tools/call", echo).await;
    assert!(bench.client.heard.iter().all(|it| it["id"] != id), "{:?}", bench.client.heard);
    Sight::Canceled
}

pub(crate) async fn log(bench: &mut Bench) -> Sight {
    let mut echo = bench.echo();
    let is_new = bench.cell.client.is_new();
    match is_new {
        true => echo["_meta"]["io.modelcontextprotocol/logLevel"] = json!("warning"),
        false => {
            let set = bench.client.ask("logging/setLevel", json!({ "level": "warning" })).await;
            assert_eq!(set["result"], json!({}), "{set}");
        }
    }
    let answer = bench.client.ask("tools/call", echo).await;
    assert_eq!(answer["result"]["content"][0]["text"], "hello", "{answer}");
    let heard: Vec<&Value> =
        bench.client.heard.iter().filter(|it| it["method"] == "notifications/message").collect();
    let levels: Vec<&Value> = heard.iter().map(|it| &it["params"]["level"]).collect();
    assert_eq!(levels, ["warning", "error", "critical", "alert", "emergency"], "{heard:?}");
    assert_eq!(heard[0]["params"]["data"], json!({ "said": "a warning" }));
    if !bench.cell.server.is_new() {
        let set = bench.await_server_message("logging/setLevel").await;
        assert_eq!(set["params"]["level"], "warning", "{set}");
    }
    if is_new {
        bench.client.heard.clear();
        let echo = bench.echo();
        bench.client.ask("tools/call", echo).await;
        assert!(bench.client.heard.is_empty(), "without a level: {:?}", bench.client.heard);
        return Sight::RequestLog;
    }
    Sight::SessionLog
}
