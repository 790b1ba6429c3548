//! `mcparley-bench-heap SERVERS TOOLS`: measures the heap of a host with this many servers of this many
//! tools.
//!
//! Prints the bytes that were allocated since before the host was created and not freed. It is a separate
//! program because every byte of its heap is counted.
#![expect(clippy::print_stdout, reason = "what is measured is told to the program that started this one")]

use std::alloc::System;
use std::io;
use std::path::Path;
use std::time::Duration;

use mcparley::{Host, Paths, RunOptions};
use mcparley_bench::inside::ManyToolsServer;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use tokio::runtime::Builder;

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The timeout for listing all tools on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, servers, tools] = arguments.as_slice() else {
        return Err(io::Error::other("usage: mcparley-bench-heap SERVERS TOOLS"));
    };
    let (servers, tools): (usize, usize) =
        (servers.parse().map_err(io::Error::other)?, tools.parse().map_err(io::Error::other)?);
    let servers =
        (0..servers).map(|number| ManyToolsServer::new(number, tools)).collect::<io::Result<Vec<_>>>()?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let held = runtime.block_on(measure_heap(&servers, tools))?;
    println!("{held}");
    Ok(())
}

/// Measures before the first search, call or list for a model, whose data are built on first use.
async fn measure_heap(servers: &[ManyToolsServer], tools: usize) -> io::Result<usize> {
    let before = live_bytes();
    let paths = Paths::new(Path::new("/nowhere"), Path::new("/nowhere"));
    let builder = Host::builder(&paths, &RunOptions { strict: true, ..RunOptions::default() })
        .without_built_in_server();
    let host = servers.iter().fold(builder, |builder, server| server.add_to_host(builder)).start();
    host.wait_until_ready(LIMIT).await;
    let catalog = host.publish_catalog();
    if catalog.iter().len() < servers.len() * tools {
        return Err(io::Error::other(format!("only {} tools are there", catalog.iter().len())));
    }
    let held = live_bytes() - before;
    host.shut_down().await;
    Ok(held)
}

fn live_bytes() -> usize {
    let stats = HEAP.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}
