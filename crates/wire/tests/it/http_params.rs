//! Arguments that stand in headers too.

use mcparley_model::tool::{Tool, headers};
use mcparley_testkit::HttpServer;
use mcparley_wire::handshake::Connected;
use mcparley_wire::peer::CallOptions;
use mcparley_wire::transport::http::Http;
use mcparley_wire::{Failure, Params, RawJson};
use serde_json::{Value, json};

use crate::http_world::{NEW, new};
use crate::world::{LONG, Server, text};

fn tools(listing: &RawJson) -> (Vec<Tool>, Vec<String>) {
    let entries = listing.elements("tools").unwrap();
    let read = entries.iter().map(|entry| Tool::read(entry.as_raw_value().unwrap()));
    let (good, bad): (Vec<_>, Vec<_>) = read.partition(Result::is_ok);
    let reasons = bad.into_iter().map(|bad| bad.unwrap_err().to_string()).collect();
    (good.into_iter().map(Result::unwrap).collect(), reasons)
}

async fn locate(connected: &Connected<Http>, tool: &Tool, arguments: &Value) -> Result<RawJson, Failure> {
    let raw = RawJson::of(arguments).unwrap();
    let headers = headers(&tool.header_params, raw.as_raw_value().unwrap());
    let params = Params::new().with("name", &"locate").with_raw("arguments", &raw);
    let options = CallOptions { limit: Some(LONG), headers, ..CallOptions::default() };
    connected.session.call("tools/call", params, options).await
}

// B107 B108 H26 T9
#[tokio::test]
async fn a_server_that_compares_headers_with_the_body_finds_them_equal() {
    let server = HttpServer::start_with(&["param-headers"], &NEW);
    let connected = new(&server).await;
    let listing = connected.session.call("tools/list", Params::new(), CallOptions::default()).await.unwrap();
    let (good, bad) = tools(&listing);
    assert_eq!(bad.len(), 4, "{bad:?}");
    assert!(bad.iter().all(|reason| reason.contains("x-mcp-header")), "{bad:?}");
    let tool = good.iter().find(|tool| tool.name.as_str() == "locate").unwrap();
    assert!(good.iter().any(|tool| tool.name.as_str() == "echo"), "the others are kept");
    for region in [
        "us-west1",
        " padded ",
        "line1\nline2",
        "🙂",
        "=?base64?literal?=",
        "=?base64?open",
        "a\r\nX-Y: z",
        "",
    ] {
        let arguments = json!({"region": region, "deep": {"level": -3}});
        assert_eq!(text(&locate(&connected, tool, &arguments).await.unwrap()), region, "{region:?}");
    }
    let without = locate(&connected, tool, &json!({"region": "x", "deep": null})).await.unwrap();
    assert_eq!(text(&without), "x");
    // It does compare.
    let params = Params::new().with("name", &"locate").with("arguments", &json!({"region": "x"}));
    let refused = connected.session.call("tools/call", params, CallOptions::default()).await.unwrap_err();
    assert!(matches!(&refused, Failure::Answered(error) if error.code == -32020), "{refused:?}");
}

// H26
#[tokio::test]
async fn only_headers_of_arguments_can_be_set_for_a_call_and_other_transports_have_none() {
    let folder = tempfile::tempdir().unwrap();
    let log = crate::world::log_file(&folder);
    let [versions, version] = NEW;
    let server = HttpServer::start_with(&[], &[versions, version, "--log", &log.to_string_lossy()]);
    let connected = new(&server).await;
    let headers = ["Authorization", "mcp-method", "Mcp-Param-A", "Mcp-Param-\r\n"]
        .map(|name| (name.to_owned(), "mine".to_owned()))
        .to_vec();
    let params = || Params::new().with("name", &"echo").with("arguments", &json!({"message": "x"}));
    let options = CallOptions { headers: headers.clone(), ..CallOptions::default() };
    connected.session.call("tools/call", params(), options).await.unwrap();
    let sent = &crate::http_world::received(&log)[1]["headers"];
    let mine = sent.as_object().unwrap().iter().filter(|(_, value)| **value == "mine");
    assert_eq!(mine.map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["mcp-param-a"]);

    let connected = Server::scripted(&[]).connect().await.unwrap();
    let options = CallOptions { headers, ..CallOptions::default() };
    let answer = connected.session.call("tools/call", params(), options).await.unwrap();
    assert_eq!(text(&answer), "x");
}
