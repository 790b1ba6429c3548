//! Tests of the upstream server: each option refuses the other era.

use mcparley_testkit::testkit_path;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// A running upstream; it ends with its standard input.
struct Upstream {
    child: Child,
    address: String,
}

impl Upstream {
    fn start(era: &str) -> Self {
        let mut command = Command::new(testkit_path());
        command.args(["upstream", "--era", era]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening http://").unwrap();
        let address = url.strip_suffix("/mcp").unwrap().to_owned();
        Self { child, address }
    }

    /// Sends one request on a connection of its own and returns the whole response.
    fn post(&self, headers: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let (address, length) = (&self.address, body.len());
        let head = format!("POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}");
        stream.write_all(format!("{head}Content-Length: {length}\r\n\r\n{body}").as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    }

    fn initialize(&self) -> String {
        let params =
            r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}"#;
        self.post("", &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{params}}}"#))
    }

    fn discover(&self) -> String {
        let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: server/discover\r\n";
        self.post(
            headers,
            &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{"_meta":{meta}}}}}"#),
        )
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

fn is_accepted(response: &str) -> bool {
    match response.starts_with("HTTP/1.1 200 ") {
        true => response.contains(r#""result""#),
        false => {
            assert!(response.starts_with("HTTP/1.1 400 ") && response.contains("-32022"), "{response}");
            false
        }
    }
}

#[test]
fn upstream_speaks_only_the_eras_of_its_option() {
    for (era, old, new) in [("both", true, true), ("old", true, false), ("new", false, true)] {
        let upstream = Upstream::start(era);
        assert_eq!(is_accepted(&upstream.initialize()), old, "{era}");
        assert_eq!(is_accepted(&upstream.discover()), new, "{era}");
    }
}
