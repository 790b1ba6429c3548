//! Networks that drop all packets: other servers are not delayed, and neither is shutdown.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use mcparley::pool::connection::ServerStatus;
use mcparley_testkit::{Fault, FaultProxy, HttpServer};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::alive::{http, is_connected, servers};

fn entry(address: &str) -> Value {
    json!({ "type": "http", "url": format!("http://{address}/mcp") })
}

// L8 F35: a server that does not take the goodbye costs a second, and many cost no more.
#[tokio::test]
async fn shutdown_ends_all_sessions_concurrently() {
    let server = HttpServer::start_with(&[], &["--versions", "2025-11-25"]);
    let proxies: Vec<FaultProxy> = (0..10).map(|_| FaultProxy::for_server(server.address())).collect();
    let names: Vec<String> = (0..proxies.len()).map(|number| format!("remote{number}")).collect();
    let entries = names.iter().zip(&proxies).map(|(name, proxy)| (name.as_str(), entry(proxy.address())));
    let alive = servers(entries).ready().await;
    assert!(names.iter().all(|name| is_connected(&alive.status(name))));
    for proxy in &proxies {
        proxy.set_fault(Fault::Stop);
    }
    let begun = Instant::now();
    alive.host.shut_down().await;
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}

/// A port that accepts no more connections and sends no reply: its backlog is full.
async fn full() -> (TcpListener, Vec<TcpStream>, SocketAddr) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let listener = socket.listen(0).unwrap();
    let address = listener.local_addr().unwrap();
    let mut waiting = Vec::new();
    // The queue has room for as many as the system likes; the first that hangs shows that it is full.
    while let Ok(stream) = tokio::time::timeout(Duration::from_millis(300), TcpStream::connect(address)).await
    {
        waiting.push(stream.unwrap());
    }
    (listener, waiting, address)
}

// F31 L3
#[tokio::test]
async fn unreachable_server_times_out_and_delays_no_other() {
    let (_listener, _waiting, address) = full().await;
    let server = HttpServer::start_with(&[], &["--versions", "2025-11-25"]);
    let entries = [("silent", entry(&address.to_string())), ("good", http(&server))];
    let alive = servers(entries).variable("MCP_TIMEOUT", "2000").start();
    let begun = Instant::now();
    assert_eq!(alive.echo("good", "hi").await.unwrap(), "hi");
    assert!(matches!(alive.status("silent"), ServerStatus::Pending { .. }), "{:?}", alive.status("silent"));
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    alive.until("silent", |status| matches!(status, ServerStatus::Failed(_))).await;
    let took = begun.elapsed();
    assert!(took >= Duration::from_millis(1900) && took < Duration::from_secs(4), "{took:?}");
    let ServerStatus::Failed(error) = alive.status("silent") else { unreachable!() };
    assert!(error.to_string().contains("timed out after 2s while connecting"), "{error}");
}
