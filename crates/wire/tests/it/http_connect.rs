//! Era negotiation over HTTP, and the resulting headers.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Instant;

use mcparley_model::config::Era;
use mcparley_model::secret::Secret;
use mcparley_testkit::HttpServer;
use mcparley_wire::peer::{PeerCallOptions, PingHandler};
use mcparley_wire::transport::http::{HttpTarget, HttpTransport, Network};
use mcparley_wire::{AgreedProtocol, Failure, Obstacle, ProtocolVersion};
use serde_json::{Value, json};

use crate::http_world::{AT_ONCE, NEW, Site, old, received, until};
use crate::world::{call, log_file, text};

// T3 T9
#[tokio::test]
async fn every_revision_is_agreed_on_and_calls_work_in_it_in_json_and_in_events() {
    for answer in ["json", "sse"] {
        for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
            let server = HttpServer::start_with(&[], &["--versions", version, "--answer", answer]);
            let connected = Site::at(server.url()).connect_as(Era::Auto).await.unwrap();
            assert_eq!(connected.session.protocol().version().as_str(), version, "{answer}");
            for message in ["one", "two"] {
                let reply = call(&connected, "echo", json!({"message": message})).await.unwrap();
                assert_eq!(text(&reply), message, "{version} {answer}");
            }
            connected.link.stop().await;
            let deleted = u64::from(version != "2026-07-28");
            assert_eq!(server.stats()["delete"], deleted, "{version}");
            assert_eq!(server.stats()["sessions"], 0);
        }
    }
}

// T9
#[tokio::test]
async fn old_http_server_is_connected_however_it_answers_the_probe() {
    for script in ["discover:-32602", "discover:-32600-no-id"] {
        for answer in ["json", "sse"] {
            let server = HttpServer::start_with(&[script], &["--answer", answer]);
            let connected = Site::at(server.url()).connect_as(Era::Auto).await.unwrap();
            assert_eq!(
                connected.session.protocol(),
                AgreedProtocol::Old(ProtocolVersion::NEWEST_OLD),
                "{script}"
            );
        }
    }
}

// T3
#[tokio::test]
async fn requests_of_the_old_era_name_their_session_and_version_and_the_stream_does_too() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_file(&folder);
    let server = HttpServer::start_with(&[], &["--log", &log.to_string_lossy()]);
    let mut site = Site::at(server.url()).with_header("X-Key", "k");
    let connected = site.connect_as(Era::Old).await.unwrap();
    until(&server, |stats| stats["get"] == 1).await;
    call(&connected, "echo", json!({"message": "x"})).await.unwrap();
    connected.link.stop().await;
    let received = received(&log);
    let first = &received[0]["headers"];
    assert_eq!((&first["mcp-session-id"], &first["mcp-protocol-version"]), (&Value::Null, &Value::Null));
    assert_eq!(first["accept"], "application/json, text/event-stream");
    assert_eq!((&first["content-type"], &first["x-key"]), (&json!("application/json"), &json!("k")));
    assert_eq!(first["accept-encoding"], "identity");
    assert_eq!(received.len(), 5, "initialize, initialized, GET, call, DELETE");
    for request in &received[1..] {
        assert_eq!(request["headers"]["mcp-protocol-version"], "2025-11-25", "{request}");
        assert!(request["headers"]["mcp-session-id"].as_str().unwrap().starts_with("session-"));
        assert_eq!(request["headers"]["mcp-method"], Value::Null);
    }
}

// T9
#[tokio::test]
async fn requests_of_the_new_era_have_routing_headers_and_no_session() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_file(&folder);
    let [versions, new] = NEW;
    let server = HttpServer::start_with(&[], &[versions, new, "--log", &log.to_string_lossy()]);
    let connected = crate::http_world::new(&server).await;
    call(&connected, "echo", json!({"message": "x"})).await.unwrap();
    let refused = call(&connected, "nämlich", json!({})).await.unwrap_err();
    // The server returns this only if the encoded name was right.
    assert!(matches!(&refused, Failure::ErrorResponse(error) if error.code == -32602), "{refused:?}");
    connected.link.stop().await;
    let told: Vec<Value> = received(&log)
        .iter()
        .map(|request| json!([request["headers"]["mcp-method"], request["headers"]["mcp-name"]]))
        .collect();
    assert_eq!(
        told,
        [
            json!(["server/discover", null]),
            json!(["tools/call", "echo"]),
            json!(["tools/call", "=?base64?bsOkbWxpY2g=?="])
        ]
    );
    let stats = server.stats();
    assert_eq!((&stats["get"], &stats["delete"]), (&json!(0), &json!(0)));
}

// F30
#[tokio::test]
async fn a_closed_port_is_refused_at_once() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let start = Instant::now();
    let error = Site::at(&url).connect_as(Era::Auto).await.unwrap_err();
    assert!(matches!(error, Failure::Refused { obstacle: Obstacle::PortClosed, .. }), "{error:?}");
    assert!(error.to_string().contains("refused"), "{error}");
    assert!(start.elapsed() < AT_ONCE);
}

// F30
#[tokio::test]
async fn unresolvable_name_and_port_without_tls_have_clear_errors() {
    // Longer than a DNS label may be, so no resolver asks a name server.
    let name = "a".repeat(64);
    let error = Site::at(&format!("http://{name}/mcp")).connect_as(Era::Old).await.unwrap_err();
    assert!(matches!(error, Failure::Refused { obstacle: Obstacle::NoAddress, .. }), "{error:?}");
    assert!(error.to_string().contains("cannot be resolved"), "{error}");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/mcp", listener.local_addr().unwrap());
    let plain = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        // Until the client closes the connection.
        std::io::copy(&mut stream, &mut std::io::sink()).unwrap_or_default();
    });
    let error = Site::at(&url).connect_as(Era::Old).await.unwrap_err();
    assert!(matches!(error, Failure::Refused { obstacle: Obstacle::NoTls, .. }), "{error:?}");
    assert!(error.to_string().contains("does not speak TLS at this port"), "{error}");
    plain.join().unwrap();
}

// T3
#[tokio::test]
async fn invalid_configured_header_is_refused_without_its_value() {
    for (name, value) in [("a b", "v"), ("x-key", "hid\nden"), ("Content-Length", "5")] {
        let mut site = Site::at("http://127.0.0.1:1/").with_header(name, value);
        let error = site.connect_as(Era::Old).await.unwrap_err();
        assert!(matches!(error, Failure::Refused { .. }), "{error:?}");
        assert!(!error.to_string().contains("den"), "{error}");
    }
}

// H26
#[tokio::test]
async fn headers_of_the_protocol_cannot_be_configured() {
    for options in [NEW.as_slice(), &[]] {
        let folder = tempfile::tempdir().unwrap();
        let log = log_file(&folder);
        let server = HttpServer::start_with(&[], &[options, &["--log", &log.to_string_lossy()]].concat());
        let mut site = Site::at(server.url());
        for name in ["Mcp-Method", "mcp-name", "MCP-Session-Id", "MCP-Protocol-Version", "Mcp-Param-X"] {
            site = site.with_header(name, "forged");
        }
        let connected = site.connect_as(Era::Auto).await.unwrap();
        assert_eq!(text(&call(&connected, "echo", json!({"message": "x"})).await.unwrap()), "x");
        connected.link.stop().await;
        let requests = received(&log);
        assert!(requests.len() >= 2, "a greeting and a call: {requests:?}");
        assert!(requests.iter().all(|request| !request.to_string().contains("forged")));
    }
}

// T3
#[tokio::test]
async fn no_secret_is_printed() {
    let url = "http://user:hidden@127.0.0.1:1/hidden?key=hidden".parse().unwrap();
    let headers = vec![("X-Key".to_owned(), Secret::new("hidden".to_owned()))];
    let target = HttpTarget::new(url, headers);
    let link = HttpTransport::open(&target, &Network::default(), Arc::new(PingHandler)).unwrap();
    let error = link.peer().call("ping", None, PeerCallOptions::default()).await.unwrap_err();
    let printed = format!("{target:?} {link:?} {error:?} {error}");
    assert!(!printed.contains("hidden") && printed.contains("X-Key"), "{printed}");
}

// F54
#[tokio::test]
async fn one_redirect_within_the_origin_is_followed_and_no_other() {
    let server = HttpServer::start(&["redirect:same"]);
    let connected = old(&server).await;
    let reply = call(&connected, "echo", json!({"message": "moved"})).await.unwrap();
    assert_eq!(text(&reply), "moved");
    // The second redirect would lead on forever.
    for (to, redirected) in [("redirect:other", 1), ("redirect:loop", 2)] {
        let server = HttpServer::start(&[to]);
        let error = Site::at(server.url()).connect_as(Era::Old).await.unwrap_err();
        assert!(matches!(error, Failure::Protocol(_)), "{error:?}");
        assert_eq!(server.stats()["otherOrigin"], 0, "not even a header");
        assert_eq!(server.stats()["redirected"], redirected, "{to}");
    }
}

// T3
#[tokio::test]
async fn unauthorized_server_returns_a_challenge_and_accepts_a_token() {
    let server = HttpServer::start(&["www-authenticate"]);
    let error = Site::at(server.url()).connect_as(Era::Auto).await.unwrap_err();
    let Failure::Unauthorized { challenge: Some(challenge) } = error else {
        unreachable!("{error:?}");
    };
    assert!(challenge.raw().starts_with("Bearer resource_metadata="), "{challenge:?}");
    assert_eq!(server.stats()["unauthorized"], 1, "the other greeting would meet the same");
    let mut site = Site::at(server.url()).with_header("Authorization", "Bearer t");
    assert!(site.connect_as(Era::Auto).await.is_ok());
}
