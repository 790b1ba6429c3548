//! `mcparley-bench-limit SERVERS PROGRAM`: lists the tools of some servers at the least possible cost.
//!
//! Starts all of them at the same time, does the handshake and lists the tools of each, closes the input of
//! each and waits for their exits. It reads no configuration, validates nothing and starts no guardian.

use std::io;
use std::path::Path;

use mcparley_bench::raw::RawClient;
use serde::Deserialize;
use serde::de::IgnoredAny;

#[derive(Deserialize)]
struct ToolsList {
    tools: Vec<IgnoredAny>,
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, servers, program] = arguments.as_slice() else {
        return Err(io::Error::other("usage: mcparley-bench-limit SERVERS PROGRAM"));
    };
    let count: usize = servers.parse().map_err(io::Error::other)?;
    let mut servers =
        (0..count).map(|_| RawClient::start(Path::new(program), &[])).collect::<io::Result<Vec<_>>>()?;
    for server in &mut servers {
        server.queue_request("server/discover", "");
        server.send_queued()?;
    }
    for server in &mut servers {
        server.read_answer::<IgnoredAny>()?;
        server.queue_request("tools/list", "");
        server.send_queued()?;
    }
    for server in &mut servers {
        let (_, listed) = server.read_answer::<ToolsList>()?;
        if listed.tools.is_empty() {
            return Err(io::Error::other("a server lists no tools"));
        }
        server.close_input();
    }
    servers.into_iter().try_for_each(RawClient::wait_for_exit)
}
