//! Proxies: used, bypassed, and blamed.
//!
//! Names are never resolved here: a proxied request leaves that to the proxy.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use mcparley_model::config::Era;
use mcparley_testkit::{HttpServer, SocksBehavior, SocksProxy, SocksRequest};
use mcparley_wire::{Failure, Obstacle};
use serde_json::json;

use crate::http_world::{NEW, Site, received};
use crate::world::{call, log_file, text};

/// A proxy that records the head of every request and forwards it to one server, for any host.
pub(crate) struct Proxy {
    pub(crate) address: String,
    heads: Arc<Mutex<Vec<String>>>,
}

/// The action of a proxy on a request.
#[derive(Clone)]
pub(crate) enum Manner {
    /// Forwards the request to this server.
    HandOn(String),
    /// Answers the request itself.
    Answer(&'static str),
}

impl Proxy {
    pub(crate) fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&heads);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (noted, manner) = (Arc::clone(&noted), manner.clone());
                std::thread::spawn(move || serve(stream, &noted, &manner));
            }
        });
        Self { address, heads }
    }

    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

/// One request per connection, so that only its head has to be parsed.
fn serve(mut client: TcpStream, heads: &Mutex<Vec<String>>, manner: &Manner) {
    let mut reader = BufReader::new(client.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap_or(0) > 0 {}
    heads.lock().unwrap().push(head.clone());
    let server = match manner {
        Manner::Answer(answer) => return client.write_all(answer.as_bytes()).unwrap_or_default(),
        Manner::HandOn(server) => server,
    };
    let mut server = TcpStream::connect(server).unwrap();
    let plain =
        head.split_once(" http://").and_then(|(method, rest)| Some((method, rest.split_once('/')?.1)));
    let is_tunnel = plain.is_none();
    match plain {
        Some((method, rest)) => {
            let head = format!("{method} /{rest}").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
            server.write_all(head.as_bytes()).unwrap();
        }
        None => client.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").unwrap(),
    }
    let mut back = server.try_clone().unwrap();
    std::thread::spawn(move || {
        if !is_tunnel {
            let mut first = [0; b"HTTP/1.1 200 OK\r\n".len()];
            back.read_exact(&mut first).unwrap_or_default();
            client.write_all(&first).unwrap_or_default();
            client.write_all(b"Connection: close\r\n").unwrap_or_default();
        }
        std::io::copy(&mut back, &mut client).unwrap_or_default();
        client.shutdown(Shutdown::Both).unwrap_or_default();
    });
    std::io::copy(&mut reader, &mut server).unwrap_or_default();
}

// T8 F34
#[tokio::test]
async fn server_is_reached_through_its_proxy_with_proxy_credentials() {
    let server = HttpServer::start_with(&[], &NEW);
    let proxy = Proxy::start(Manner::HandOn(server.address().to_owned()));
    let url = format!("http://name:hidden@{}", proxy.address);
    let mut site = Site::at("http://server.invalid/mcp").with_variables(&[("HTTP_PROXY", &url)]);
    let connected = site.connect_as(Era::New).await.unwrap();
    assert_eq!(text(&call(&connected, "echo", json!({"message": "through"})).await.unwrap()), "through");
    let heads = proxy.heads();
    assert!(heads[0].starts_with("POST http://server.invalid/mcp HTTP/1.1\r\n"), "{}", heads[0]);
    // `name:hidden`, as RFC 7617 writes it.
    assert!(heads[0].to_lowercase().contains("proxy-authorization: basic bmftztpoawrkzw4="), "{}", heads[0]);
}

// T8 F34
#[tokio::test]
async fn this_machine_and_exempt_hosts_are_reached_without_the_proxy() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_file(&folder);
    let server = HttpServer::start_with(&[], &["--log", &log.to_string_lossy()]);
    let proxy = Proxy::start(Manner::Answer("HTTP/1.1 502 Bad Gateway\r\n\r\n"));
    let url = format!("http://name:hidden@{}", proxy.address);
    let mut site = Site::at(server.url()).with_variables(&[("ALL_PROXY", &url)]);
    site.connect_as(Era::Old).await.unwrap();
    let told = received(&log).iter().any(|request| request.to_string().contains("authorization"));
    assert!(!told, "the password is the proxy's");
    let variables = [("ALL_PROXY", proxy.address.as_str()), ("NO_PROXY", "*")];
    // Longer than a DNS label may be, so no resolver asks a name server.
    let name = format!("http://{}/mcp", "a".repeat(64));
    let error = Site::at(&name).with_variables(&variables).connect_as(Era::Old).await.unwrap_err();
    assert!(error.to_string().contains("cannot be resolved"), "{error}");
    assert!(proxy.heads().is_empty());
}

async fn refused(url: &str, variables: &[(&str, &str)]) -> (String, String) {
    let error = Site::at(url).with_variables(variables).connect_as(Era::Auto).await.unwrap_err();
    let Failure::Refused { obstacle, reason, hint } = error else { unreachable!("{error:?}") };
    let wants_sign_in = reason.ends_with("requires sign-in");
    assert_eq!(obstacle, if wants_sign_in { Obstacle::ProxySignIn } else { Obstacle::Proxy });
    (reason.to_string(), hint.unwrap_or_default().to_string())
}

// T8 F34
#[tokio::test]
async fn proxy_that_requires_sign_in_refuses_or_is_down_is_blamed_and_not_the_server() {
    let wants =
        "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let forbids = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let (wants, forbids) = (Proxy::start(Manner::Answer(wants)), Proxy::start(Manner::Answer(forbids)));
    for url in ["http://server.invalid/mcp", "https://server.invalid/mcp"] {
        let proxy = format!("http://name:hidden@{}", wants.address);
        let (reason, hint) = refused(url, &[("ALL_PROXY", &proxy)]).await;
        assert_eq!(reason, format!("the proxy `http://{}` requires sign-in", wants.address));
        assert!(hint.contains("user:password"), "{hint}");
    }
    assert!(wants.heads()[1].starts_with("CONNECT server.invalid:443 "), "{:?}", wants.heads());
    let (reason, _) = refused("https://server.invalid/mcp", &[("https_proxy", &forbids.address)]).await;
    assert_eq!(
        reason,
        format!("the proxy `http://{}`: it refuses to connect to the server", forbids.address)
    );
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let down = listener.local_addr().unwrap().to_string();
    drop(listener);
    for url in ["http://server.invalid/mcp", "https://server.invalid/mcp"] {
        let (reason, hint) = refused(url, &[("ALL_PROXY", &down)]).await;
        assert!(reason.starts_with(&format!("the proxy `http://{down}`: Connection refused")), "{reason}");
        assert!(hint.contains("NO_PROXY"), "{hint}");
    }
    let (reason, hint) = refused("https://server.invalid/mcp", &[("HTTPS_PROXY", "nonsense://x")]).await;
    assert!(reason.contains("proxy") && hint.contains("HTTPS_PROXY"), "{reason} {hint}");
}

// T8 F34: the proxy resolves the name.
#[tokio::test]
async fn server_is_reached_through_socks_and_only_the_proxy_gets_its_credentials() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_file(&folder);
    let server = HttpServer::start_with(&[], &[&NEW[..], &["--log", &log.to_string_lossy()]].concat());
    for (login, heard) in [("", None), ("name:hidden@", Some("name:hidden".to_owned()))] {
        let proxy = SocksProxy::start(SocksBehavior::HandOn(server.address().to_owned()));
        let url = format!("socks5h://{login}{}", proxy.address());
        let mut site = Site::at("http://server.invalid/mcp").with_variables(&[("ALL_PROXY", &url)]);
        let connected = site.connect_as(Era::New).await.unwrap();
        assert_eq!(text(&call(&connected, "echo", json!({"message": "through"})).await.unwrap()), "through");
        let asked = SocksRequest { login: heard, server: "server.invalid:80".to_owned() };
        assert_eq!(proxy.received_requests().first(), Some(&asked));
    }
    let told = received(&log).iter().any(|request| request.to_string().contains("authorization"));
    assert!(!told, "the password is the proxy's");
}

// T8 F34
#[tokio::test]
async fn a_socks_proxy_that_refuses_or_is_down_is_blamed_and_not_the_server() {
    let hidden = |address: &str| format!("socks5h://name:hidden@{address}");
    for (manner, why) in [
        (SocksBehavior::Refuse, "SOCKS error: connection refused"),
        (SocksBehavior::Deny, "SOCKS error: server does not support user/pass authentication"),
    ] {
        let proxy = SocksProxy::start(manner);
        let url = hidden(proxy.address());
        let (reason, hint) = refused("http://server.invalid/mcp", &[("ALL_PROXY", &url)]).await;
        assert_eq!(reason, format!("the proxy `socks5h://{}`: {why}", proxy.address()));
        assert!(hint.contains("ALL_PROXY"), "{hint}");
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let down = listener.local_addr().unwrap().to_string();
    drop(listener);
    let (reason, _) = refused("http://server.invalid/mcp", &[("ALL_PROXY", &hidden(&down))]).await;
    assert_eq!(reason, format!("the proxy `socks5h://{down}`: it cannot be reached"));
}
