//! Tests of servers that require a token: connectors behind a proxy, and editors.

use crate::http_client::{Live, exchange, post, request, send};
use crate::stdio_client::initialize;
use mcparley_testkit::HttpServer;
use serde_json::json;

#[test]
fn only_tokens_currently_in_file_are_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    std::fs::write(&tokens, "one\ntwo\n").unwrap();
    let server = HttpServer::start(&[&format!("token-file:{}", tokens.display())]);
    let greeting = request(1, "initialize", &initialize("2025-11-25"));
    let status = |headers: &[(&str, &str)]| post(&server, headers, &greeting).status;
    assert_eq!(
        [status(&[("Authorization", "Bearer one")]), status(&[("Authorization", "Bearer two")])],
        [200; 2]
    );
    std::fs::write(&tokens, "two\n").unwrap();
    assert_eq!([status(&[("Authorization", "Bearer one")]), status(&[])], [401; 2]);
    assert_eq!(server.stats()["unauthorized"], 2);
}

#[test]
fn connector_catalog_is_paged_and_its_paths_reach_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("pages");
    std::fs::write(&pages, "{\"url\":\"ORIGIN/x\"}\nsecond\n").unwrap();
    let server = HttpServer::start(&[&format!("connectors:{}", pages.display())]);
    let get = |query: &str| exchange(&server, &format!("GET /v1/mcp_servers?{query}"), &[], "");
    assert_eq!(get("limit=5").message(), json!({ "url": format!("http://{}/x", server.address()) }));
    assert_eq!(get("page=1").body, b"second");
    assert_eq!(get("page=2").status, 404);
    assert_eq!(server.stats()["catalog"], 3);
    let greeting = request(1, "initialize", &initialize("2025-11-25")).to_string();
    let headers = [("Accept", "*/*"), ("Content-Type", "application/json")];
    assert_eq!(exchange(&server, "POST /v1/mcp/some-id", &headers, &greeting).status, 200);
}

// B98
#[test]
fn editor_requires_token_and_rejects_web_pages() {
    let server = HttpServer::start(&["legacy-sse-only", "ide:key"]);
    let token = ("X-Claude-Code-Ide-Authorization", "key");
    for (headers, status) in [
        (vec![], 401),
        (vec![("X-Claude-Code-Ide-Authorization", "other")], 401),
        (vec![token, ("Origin", "http://127.0.0.1")], 403),
    ] {
        assert_eq!(exchange(&server, "GET /sse", &headers, "").status, status, "{headers:?}");
    }
    let mut stream = Live::open(send(&server, "GET /sse", &[token], ""));
    let event = stream.piece().unwrap();
    let endpoint = event.strip_prefix("event: endpoint\ndata: ").unwrap().trim_end();
    let list = request(1, "tools/list", &json!({})).to_string();
    assert_eq!(exchange(&server, &format!("POST {endpoint}"), &[], &list).status, 401);
    assert_eq!(exchange(&server, &format!("POST {endpoint}"), &[token], &list).status, 202);
    let tools = stream.message()["result"]["tools"].clone();
    let names: Vec<&str> =
        tools.as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["openDiff", "closeAllDiffTabs", "getDiagnostics", "executeCode"]);
}
