//! Does the work of a command at the least possible cost.
//!
//! `mcparley-bench-limit start SERVERS PROGRAM` starts all servers at the same time, does the handshake and lists
//! the tools of each, closes the input of each and waits for their exits. It reads no configuration, validates
//! nothing and starts no guardian.
//!
//! `mcparley-bench-limit read FILE FOLDER` parses a configuration, then reads every file of a cache below hidden
//! folders of a home, and writes them.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use mcparley_bench::raw::RawClient;
use serde::Deserialize;
use serde::de::IgnoredAny;

#[derive(Deserialize)]
struct ToolsList {
    tools: Vec<IgnoredAny>,
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["start", servers, program] => {
            start_servers(servers.parse().map_err(io::Error::other)?, Path::new(program))
        }
        ["read", file, folder] => read_cache(Path::new(file), Path::new(folder)),
        _ => Err(io::Error::other("usage: mcparley-bench-limit start SERVERS PROGRAM | read FILE FOLDER")),
    }
}

fn start_servers(count: usize, program: &Path) -> io::Result<()> {
    let mut servers = (0..count).map(|_| RawClient::start(program, &[])).collect::<io::Result<Vec<_>>>()?;
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

#[expect(clippy::disallowed_methods, reason = "a lower bound checks nothing")]
fn read_cache(configuration: &Path, home: &Path) -> io::Result<()> {
    serde_json::from_slice::<IgnoredAny>(&std::fs::read(configuration)?)?;
    let is_hidden = |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes()[0] == b'.');
    let mut folders: Vec<PathBuf> = list_folder(home)?.into_iter().filter(is_hidden).collect();
    let mut output = io::stdout().lock();
    while let Some(folder) = folders.pop() {
        for path in list_folder(&folder)? {
            if path.is_dir() { folders.push(path) } else { output.write_all(&std::fs::read(path)?)? }
        }
    }
    Ok(())
}

fn list_folder(folder: &Path) -> io::Result<Vec<PathBuf>> {
    std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}
