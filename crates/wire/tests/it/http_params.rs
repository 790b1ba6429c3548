//! Arguments that are repeated in headers.

use mcparley_model::tool::{Tool, param_headers};
use mcparley_testkit::HttpServer;
use mcparley_wire::handshake::EstablishedConnection;
use mcparley_wire::peer::PeerCallOptions;
use mcparley_wire::transport::http::HttpTransport;
use mcparley_wire::{Failure, RawJson, RequestParams};
use serde_json::{Value, json};

use crate::http_world::{NEW, new};
use crate::world::{LONG, Server, text};

fn tools(listing: &RawJson) -> (Vec<Tool>, Vec<String>) {
    let entries = listing.member_elements("tools").unwrap();
    let read = entries.iter().map(|entry| Tool::parse(entry.as_raw_value().unwrap()));
    let (good, bad): (Vec<_>, Vec<_>) = read.partition(Result::is_ok);
    let reasons = bad.into_iter().map(|bad| bad.unwrap_err().to_string()).collect();
    (good.into_iter().map(Result::unwrap).collect(), reasons)
}

async fn locate(
    connected: &EstablishedConnection<HttpTransport>,
    tool: &Tool,
    arguments: &Value,
) -> Result<RawJson, Failure> {
    let raw = RawJson::from_value(arguments).unwrap();
    let headers = param_headers(&tool.header_params, raw.as_raw_value().unwrap());
    let params = RequestParams::new().with_member("name", &"locate").with_raw("arguments", &raw);
    let options = PeerCallOptions { limit: Some(LONG), headers, ..PeerCallOptions::default() };
    connected.session.call("tools/call", params, options).await
}

// B107 B108 H26 T9
#[tokio::test]
async fn a_server_that_compares_headers_with_the_body_finds_them_equal() {
    let server = HttpServer::start_with(&["param-headers"], &NEW);
    let connected = new(&server).await;
    let listing =
        connected.session.call("tools/list", RequestParams::new(), PeerCallOptions::default()).await.unwrap();
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
    // The server does compare.
    let params =
        RequestParams::new().with_member("name", &"locate").with_member("arguments", &json!({"region": "x"}));
    let refused = connected.session.call("tools/call", params, PeerCallOptions::default()).await.unwrap_err();
    assert!(matches!(&refused, Failure::ErrorResponse(error) if error.code == -32020), "{refused:?}");
}

// H26
#[tokio::test]
async fn only_argument_headers_can_be_set_for_a_call_and_other_transports_ignore_them() {
    let folder = tempfile::tempdir().unwrap();
    let log = crate::world::log_file(&folder);
    let [versions, version] = NEW;
    let server = HttpServer::start_with(&[], &[versions, version, "--log", &log.to_string_lossy()]);
    let connected = new(&server).await;
    let headers = ["Authorization", "mcp-method", "Mcp-Param-A", "Mcp-Param-\r\n"]
        .map(|name| (name.to_owned(), "mine".to_owned()))
        .to_vec();
    let params = || {
        RequestParams::new().with_member("name", &"echo").with_member("arguments", &json!({"message": "x"}))
    };
    let options = PeerCallOptions { headers: headers.clone(), ..PeerCallOptions::default() };
    connected.session.call("tools/call", params(), options).await.unwrap();
    let sent = &crate::http_world::received(&log)[1]["headers"];
    let mine = sent.as_object().unwrap().iter().filter(|(_, value)| **value == "mine");
    assert_eq!(mine.map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["mcp-param-a"]);

    let connected = Server::scripted(&[]).connect().await.unwrap();
    let options = PeerCallOptions { headers, ..PeerCallOptions::default() };
    let answer = connected.session.call("tools/call", params(), options).await.unwrap();
    assert_eq!(text(&answer), "x");
}
