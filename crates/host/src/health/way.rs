//! Walks the way to a server once on its own, so that its parts can be told apart and timed.
//!
//! Nothing is decided here: whether the server can be reached is found out by connecting, whatever this says. A
//! server behind a proxy is not walked to, because its name and port are the proxy's business.

use std::net::SocketAddr;
use std::time::Duration;

use mcparley_model::config::{Remote, ServerConfig, Transport};
use mcparley_platform::process::locate;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use url::{Host, Url};

use crate::connect::{Stage, Surroundings, Trace};
use crate::launch::launch;

/// What takes longer is told as slow, and connecting has its own patience.
const PATIENCE: Duration = Duration::from_secs(3);

/// Walks there.
pub(super) async fn walk(surroundings: &Surroundings, config: &ServerConfig, trace: &mut Trace) {
    match &config.transport {
        Transport::Stdio(stdio) => {
            trace.begin(Stage::Find);
            // A path is what it is; where a name leads is worth knowing.
            if let Ok(path) = locate(&launch(stdio, &surroundings.env, &surroundings.paths))
                && !stdio.command.contains('/')
            {
                trace.found(&path.to_string_lossy());
            }
        }
        Transport::Http(Remote { url, headers_helper: None, .. })
        | Transport::Sse(Remote { url, headers_helper: None, .. })
            if !surroundings.is_proxied(url.expose()) =>
        {
            knock(url.expose(), trace).await;
        }
        // Reached through something else, or not reached at all.
        Transport::Http(_)
        | Transport::Sse(_)
        | Transport::Ws(_)
        | Transport::Sdk { .. }
        | Transport::SseIde(_)
        | Transport::WsIde(_)
        | Transport::ClaudeAiProxy { .. } => {}
    }
}

async fn knock(url: &Url, trace: &mut Trace) {
    let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else { return };
    let addresses = match host {
        Host::Domain(name) => resolve(name, port, trace).await,
        Host::Ipv4(address) => vec![SocketAddr::from((address, port))],
        Host::Ipv6(address) => vec![SocketAddr::from((address, port))],
    };
    if addresses.is_empty() {
        return;
    }
    trace.begin(Stage::Reach);
    match timeout(PATIENCE, TcpStream::connect(addresses.as_slice())).await {
        // It was only to see whether somebody opens.
        Ok(Ok(stream)) => drop(stream),
        Ok(Err(error)) => trace.found(&error.kind().to_string()),
        Err(_) => trace.found("no answer yet"),
    }
}

async fn resolve(name: &str, port: u16, trace: &mut Trace) -> Vec<SocketAddr> {
    trace.begin(Stage::Resolve);
    let found = match timeout(PATIENCE, lookup_host((name, port))).await {
        Ok(Ok(found)) => found.collect(),
        Ok(Err(_)) => Vec::new(),
        Err(_) => {
            trace.found("no answer yet");
            return Vec::new();
        }
    };
    match found.as_slice() {
        [] => trace.found("it has no address"),
        [only] => trace.found(&only.ip().to_string()),
        [first, others @ ..] => trace.found(&format!("{} and {} more", first.ip(), others.len())),
    }
    found
}
