//! The gateways of others: where each is installed, and how it is started before one server.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::json;

/// The surroundings of a gateway that is to be started.
pub(super) struct GatewaySetup<'a> {
    pub(super) port: &'a str,
    /// The program of the server.
    pub(super) server: &'a str,
    /// The file that configures this server as `s00`, in the format that most programs understand.
    pub(super) servers: &'a str,
    /// The folder for a file in another format.
    pub(super) home: &'a Path,
}

/// A gateway of others.
pub(super) struct PeerGateway {
    pub(super) name: &'static str,
    /// The program, below the folder of the peers.
    pub(super) program: &'static str,
    pub(super) arguments: fn(&GatewaySetup<'_>) -> io::Result<Vec<String>>,
    /// The path of its endpoint.
    pub(super) path: &'static str,
    /// The public name of `echo`.
    pub(super) tool: &'static str,
}

/// All of them. The last two are from crates.io, the second of which is another program of the same name.
pub(super) const GATEWAYS: [PeerGateway; 6] = [
    PeerGateway {
        name: "mcp-proxy (npm)",
        program: "npm/gateways/node_modules/.bin/mcp-proxy",
        arguments: |GatewaySetup { port, server, .. }| {
            words(&["--host", "127.0.0.1", "--port", port, "--server", "stream", "--", server])
        },
        path: "/mcp",
        tool: "echo",
    },
    PeerGateway {
        name: "supergateway",
        program: "npm/gateways/node_modules/.bin/supergateway",
        arguments: |GatewaySetup { port, server, .. }| {
            words(&["--stdio", server, "--outputTransport", "streamableHttp", "--stateful", "--port", port])
        },
        path: "/mcp",
        tool: "echo",
    },
    PeerGateway {
        name: "mcp-proxy (PyPI)",
        program: "py/mcp-proxy/bin/mcp-proxy",
        arguments: |GatewaySetup { port, server, .. }| words(&["--port", port, server]),
        path: "/mcp",
        tool: "echo",
    },
    PeerGateway {
        name: "FastMCP",
        program: "py/fastmcp/bin/fastmcp",
        arguments: |GatewaySetup { port, servers, .. }| {
            words(&[
                "run",
                servers,
                "--no-banner",
                "--transport",
                "http",
                "--host",
                "127.0.0.1",
                "--port",
                port,
            ])
        },
        path: "/mcp",
        tool: "echo",
    },
    PeerGateway {
        name: "mcp-gateway",
        program: "cargo/mcp-gateway/bin/mcp-gateway",
        arguments: |setup| {
            let file = setup.home.join("mcp-gateway.yaml");
            fs::write(&file, mcp_gateway_configuration(setup))?;
            words(&["--config", &file.to_string_lossy()])
        },
        path: "/mcp/s00",
        tool: "echo",
    },
    PeerGateway {
        name: "mcp-proxy (crates.io)",
        program: "cargo/mcp-proxy/bin/mcp-proxy",
        arguments: |setup| {
            let file = setup.home.join("mcp-proxy.toml");
            fs::write(&file, mcp_proxy_configuration(setup))?;
            words(&["--config", &file.to_string_lossy()])
        },
        path: "/",
        tool: "s00/echo",
    },
];

/// The configuration of mcp-gateway, as JSON, which is YAML too. Its limit of a hundred requests a second is off.
fn mcp_gateway_configuration(setup: &GatewaySetup<'_>) -> String {
    let port: u16 = setup.port.parse().unwrap_or_default();
    json!({
        "server": { "host": "127.0.0.1", "port": port },
        "failsafe": { "rate_limit": { "enabled": false } },
        "backends": { "s00": { "command": setup.server } },
    })
    .to_string()
}

fn mcp_proxy_configuration(setup: &GatewaySetup<'_>) -> String {
    let GatewaySetup { port, server, .. } = setup;
    format!(
        "[proxy]\nname = \"bench\"\nseparator = \"/\"\n\n[proxy.listen]\nhost = \"127.0.0.1\"\nport = {port}\n\n\
         [[backends]]\nname = \"s00\"\ntransport = \"stdio\"\ncommand = {server:?}\n"
    )
}

fn words(words: &[&str]) -> io::Result<Vec<String>> {
    Ok(words.iter().map(|word| (*word).to_owned()).collect())
}
