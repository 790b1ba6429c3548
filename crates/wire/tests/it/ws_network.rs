//! WebSockets over TLS, certificates and proxies, as for HTTP.

use mcparley_testkit::HttpServer;
use mcparley_wire::Failure;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::http_proxy::{Manner, Proxy};
use crate::http_tls::{Authority, Files, Identity, acceptor, authority, identity};
use crate::http_world::{Site, received};
use crate::world::{call, log_file, text};
use crate::ws::{connect_to, refused};

/// Starts TLS in front of a server; returns its address.
async fn with_tls(server: &HttpServer, identity: &Identity, clients: Option<&Authority>) -> String {
    let acceptor = acceptor(identity, clients);
    let behind = server.address().to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, behind) = (acceptor.clone(), behind.clone());
            tokio::spawn(async move {
                match acceptor.accept(stream).into_fallible().await {
                    Ok(mut stream) => {
                        let mut behind = TcpStream::connect(behind).await.unwrap();
                        drop(tokio::io::copy_bidirectional(&mut stream, &mut behind).await);
                    }
                    // Reads on, so that the alert is not lost in a reset.
                    Err((_, mut stream)) => drop(stream.read_to_end(&mut Vec::new()).await),
                }
            });
        }
    });
    address
}

async fn echoes(site: Site) {
    let connected = connect_to(site).await.unwrap();
    assert_eq!(text(&call(&connected, "echo", json!({"message": "through"})).await.unwrap()), "through");
}

async fn reason(site: Site) -> (String, String) {
    let failure = refused(site).await;
    let Failure::Refused { reason, hint, .. } = failure else { unreachable!("{failure:?}") };
    (reason.to_string(), hint.unwrap_or_default().to_string())
}

// T4 T8 F33
#[tokio::test]
async fn websocket_uses_the_same_certificates_as_http() {
    let (ours, theirs) = (authority("ours"), authority("theirs"));
    let files = Files::new();
    let ca = files.put("ca.pem", &ours.pem());
    let client = identity(&theirs, "client.example", |_| {});
    let shown = files.put("client.pem", &format!("{}{}", client.certificate, client.key));
    let server = HttpServer::start(&[]);
    let here = identity(&ours, "127.0.0.1", |_| {});
    let trusting = ("NODE_EXTRA_CA_CERTS", ca.as_str());

    let url = format!("wss://{}/mcp", with_tls(&server, &here, None).await);
    echoes(Site::at(&url).with_variables(&[trusting])).await;
    let (why, hint) = reason(Site::at(&url)).await;
    assert_eq!(why, "its certificate is signed by an unknown issuer");
    assert!(hint.contains("NODE_EXTRA_CA_CERTS"), "{hint}");

    let url = format!("wss://{}/mcp", with_tls(&server, &here, Some(&theirs)).await);
    echoes(Site::at(&url).with_variables(&[trusting, ("CLAUDE_CODE_CLIENT_CERT", &shown)])).await;
    let (why, _) = reason(Site::at(&url).with_variables(&[trusting])).await;
    assert_eq!(why, "it requires a client certificate");

    let plain = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("wss://{}/mcp", plain.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = plain.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        stream.read_to_end(&mut Vec::new()).await.unwrap_or_default();
    });
    let (why, hint) = reason(Site::at(&url)).await;
    assert_eq!(why, "it does not speak TLS at this port");
    assert!(hint.contains("`ws://`"), "{hint}");
}

// T4 T8 F34
#[tokio::test]
async fn every_socket_is_reached_through_a_tunnel_of_its_proxy() {
    let ours = authority("ours");
    let files = Files::new();
    let ca = files.put("ca.pem", &ours.pem());
    let folder = tempfile::tempdir().unwrap();
    let log = log_file(&folder);
    let server = HttpServer::start_with(&[], &["--log", &log.to_string_lossy()]);
    let secure = with_tls(&server, &identity(&ours, "server.invalid", |_| {}), None).await;
    for (scheme, behind, port) in [("ws", server.address().to_owned(), 80), ("wss", secure, 443)] {
        let proxy = Proxy::start(Manner::HandOn(behind));
        let through = format!("http://na%6de:hidden@{}", proxy.address);
        let variables = [("ALL_PROXY", through.as_str()), ("NODE_EXTRA_CA_CERTS", &ca)];
        echoes(Site::at(&format!("{scheme}://server.invalid/mcp?a=b")).with_variables(&variables)).await;
        let head = proxy.heads()[0].to_lowercase();
        assert!(head.starts_with(&format!("connect server.invalid:{port} http/1.1\r\n")), "{head}");
        assert!(head.contains("proxy-authorization: basic bmftztpoawrkzw4="), "{head}");
        assert_eq!(proxy.heads().len(), 1, "what is in the tunnel is not for the proxy");
    }
    let requests: Vec<_> = received(&log).into_iter().filter(|line| line["frame"].is_null()).collect();
    for request in &requests {
        assert_eq!(
            (&request["path"], &request["headers"]["host"]),
            (&json!("/mcp"), &json!("server.invalid"))
        );
        assert_eq!(request["headers"]["user-agent"], requests[0]["headers"]["user-agent"]);
        assert!(!request.to_string().contains("authorization"), "the password is the proxy's: {request}");
    }
    assert_eq!(requests.len(), 2);
}

// T4 T8 F34
#[tokio::test]
async fn this_machine_and_exempt_hosts_are_reached_without_the_proxy() {
    let server = HttpServer::start(&[]);
    let proxy = Proxy::start(Manner::Answer("HTTP/1.1 502 Bad Gateway\r\n\r\n"));
    echoes(Site::at(&server.socket_url()).with_variables(&[("ALL_PROXY", &proxy.address)])).await;
    let variables = [("ALL_PROXY", proxy.address.as_str()), ("NO_PROXY", "*")];
    // Longer than a DNS label may be, so no resolver asks a name server.
    let failure = refused(Site::at(&format!("ws://{}/mcp", "a".repeat(64))).with_variables(&variables)).await;
    assert!(failure.to_string().contains("cannot be resolved"), "{failure}");
    assert!(proxy.heads().is_empty());
}

// T4 T8 F34
#[tokio::test]
async fn proxy_that_refuses_a_tunnel_is_blamed_and_not_the_server() {
    let answers = |answer| Proxy::start(Manner::Answer(answer)).address;
    let talking = [
        (
            answers("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"),
            "requires sign-in",
        ),
        (answers("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"), "it refuses to connect"),
        (answers("HTTP/1.1 200 Connected\r\nand then"), "it does not speak HTTP"),
        (answers("SSH-2.0-nothing\r\n\r\n"), "it does not speak HTTP"),
        (answers(""), "it does not speak HTTP"),
    ];
    // Last, so that none of the others gets its port.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let down = (listener.local_addr().unwrap().to_string(), "Connection refused");
    drop(listener);
    for (proxy, says) in talking.into_iter().chain([down]) {
        let site = Site::at("ws://server.invalid/mcp").with_variables(&[("HTTP_PROXY", &proxy)]);
        let (why, _) = reason(site).await;
        assert!(why.starts_with(&format!("the proxy `http://{proxy}`")) && why.contains(says), "{why}");
    }
    let site = Site::at("ws://server.invalid/mcp").with_variables(&[("HTTP_PROXY", "https://proxy.invalid")]);
    let (why, _) = reason(site).await;
    assert!(why.contains("behind TLS"), "{why}");
}
