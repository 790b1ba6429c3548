//! Tests the stages before a connection one by one (program lookup, name resolution, TCP), so that each can
//! be timed.
//!
//! The results are only informative: whether the server is reachable is decided by connecting. A server
//! behind a proxy is not tested, because the proxy resolves its name and port.

use std::net::SocketAddr;
use std::time::Duration;

use mcparley_model::config::{RemoteConfig, ServerConfig, TransportConfig};
use mcparley_platform::process::locate_program;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use url::{Host, Url};

use crate::connect::{ConnectContext, ConnectStage, ConnectTrace};
use crate::launch::build_launch;

/// The timeout of one stage. Slower stages are reported as slow; connecting has its own timeout.
const PATIENCE: Duration = Duration::from_secs(3);

/// Tests the stages before a connection and records them in `trace`.
pub(super) async fn probe_stages(context: &ConnectContext, config: &ServerConfig, trace: &mut ConnectTrace) {
    match &config.transport {
        TransportConfig::Stdio(stdio) => {
            trace.begin_stage(ConnectStage::Find);
            // Only worth reporting if the command is a name that was looked up on `PATH`.
            if let Ok(path) = locate_program(&build_launch(stdio, &context.dialer.env, &context.dialer.paths))
                && !stdio.command.contains('/')
            {
                trace.add_detail(&path.to_string_lossy());
            }
        }
        TransportConfig::Http(RemoteConfig { url, headers_helper: None, .. })
        | TransportConfig::Sse(RemoteConfig { url, headers_helper: None, .. })
            if !context.dialer.is_proxied(url.expose()) =>
        {
            probe_port(url.expose(), trace).await;
        }
        // Reached through a proxy or helper, or not over a network that can be tested here.
        TransportConfig::Http(_)
        | TransportConfig::Sse(_)
        | TransportConfig::Ws(_)
        | TransportConfig::Sdk { .. }
        | TransportConfig::SseIde(_)
        | TransportConfig::WsIde(_)
        | TransportConfig::ClaudeAiProxy { .. } => {}
    }
}

/// Resolves the host and opens a TCP connection to its port.
async fn probe_port(url: &Url, trace: &mut ConnectTrace) {
    let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else { return };
    let addresses = match host {
        Host::Domain(name) => resolve_host(name, port, trace).await,
        Host::Ipv4(address) => vec![SocketAddr::from((address, port))],
        Host::Ipv6(address) => vec![SocketAddr::from((address, port))],
    };
    if addresses.is_empty() {
        return;
    }
    trace.begin_stage(ConnectStage::Reach);
    match timeout(PATIENCE, TcpStream::connect(addresses.as_slice())).await {
        // Only a test whether the port accepts connections.
        Ok(Ok(stream)) => drop(stream),
        Ok(Err(error)) => trace.add_detail(&error.kind().to_string()),
        Err(_) => trace.add_detail("no answer yet"),
    }
}

/// Resolves a host name.
async fn resolve_host(name: &str, port: u16, trace: &mut ConnectTrace) -> Vec<SocketAddr> {
    trace.begin_stage(ConnectStage::Resolve);
    let found = match timeout(PATIENCE, lookup_host((name, port))).await {
        Ok(Ok(found)) => found.collect(),
        Ok(Err(_)) => Vec::new(),
        Err(_) => {
            trace.add_detail("no answer yet");
            return Vec::new();
        }
    };
    match found.as_slice() {
        [] => trace.add_detail("host not found"),
        [only] => trace.add_detail(&only.ip().to_string()),
        [first, others @ ..] => trace.add_detail(&format!("{} and {} more", first.ip(), others.len())),
    }
    found
}
