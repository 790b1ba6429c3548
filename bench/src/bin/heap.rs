//! `mcparley-bench-heap SERVERS TOOLS`: what a host and its catalogue hold of the heap, with so many servers of so many tools.
//!
//! Prints the bytes that were asked for since before the host was made and not given back. It is a program of its own
//! because every byte of its heap is counted.
#![expect(clippy::print_stdout, reason = "what is measured is told to the program that started this one")]

use std::alloc::System;
use std::io;
use std::path::Path;
use std::time::Duration;

use mcparley::{Host, Paths, RunOptions};
use mcparley_bench::inside::Inside;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use tokio::runtime::Builder;

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// As long as listing all can take on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, servers, tools] = arguments.as_slice() else {
        return Err(io::Error::other("usage: mcparley-bench-heap SERVERS TOOLS"));
    };
    let (servers, tools): (usize, usize) =
        (servers.parse().map_err(io::Error::other)?, tools.parse().map_err(io::Error::other)?);
    let servers = (0..servers).map(|number| Inside::new(number, tools)).collect::<io::Result<Vec<_>>>()?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let held = runtime.block_on(held(&servers, tools))?;
    println!("{held}");
    Ok(())
}

/// Nothing was searched, called or said to a model yet: what that needs is made when it is first needed.
async fn held(servers: &[Inside], tools: usize) -> io::Result<usize> {
    let before = live();
    let paths = Paths::of(Path::new("/nowhere"), Path::new("/nowhere"));
    let builder =
        Host::builder(&paths, &RunOptions { strict: true, ..RunOptions::default() }).without_own_server();
    let host = servers.iter().fold(builder, |builder, server| server.join(builder)).start();
    host.ready(LIMIT).await;
    let catalog = host.catalog();
    if catalog.iter().len() < servers.len() * tools {
        return Err(io::Error::other(format!("only {} tools are there", catalog.iter().len())));
    }
    let held = live() - before;
    host.shut_down().await;
    Ok(held)
}

fn live() -> usize {
    let stats = HEAP.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}
