//! `mcparley-bench-limit SERVERS PROGRAM`: the least that listing the tools of some servers can cost.
//!
//! Starts all of them at the same time, greets each, lists the tools of each, closes the input of each and
//! waits for their ends. No configuration is read, nothing is checked and nobody is guarded.

use std::io;
use std::path::Path;

use mcparley_bench::raw::Raw;
use serde::Deserialize;
use serde::de::IgnoredAny;

#[derive(Deserialize)]
struct Listed {
    tools: Vec<IgnoredAny>,
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, servers, program] = arguments.as_slice() else {
        return Err(io::Error::other("usage: mcparley-bench-limit SERVERS PROGRAM"));
    };
    let count: usize = servers.parse().map_err(io::Error::other)?;
    let mut servers =
        (0..count).map(|_| Raw::start(Path::new(program), &[])).collect::<io::Result<Vec<_>>>()?;
    for server in &mut servers {
        server.queue("server/discover", "");
        server.send()?;
    }
    for server in &mut servers {
        server.answer::<IgnoredAny>()?;
        server.queue("tools/list", "");
        server.send()?;
    }
    for server in &mut servers {
        let (_, listed) = server.answer::<Listed>()?;
        if listed.tools.is_empty() {
            return Err(io::Error::other("a server lists no tools"));
        }
        server.close();
    }
    servers.into_iter().try_for_each(Raw::wait)
}
