//! Measures how the gateway grows: lists of many tools, many servers, idle sessions.

use std::io;
use std::time::Instant;

use mcparley_bench::raw::RawClient;

use super::http_client::HttpConnection;
use super::running::{EndOnDrop, free_address, retry_until_listening, serve_command};
use crate::figure::{BenchFigure, FigureBound, FigureUnit};
use crate::processes;
use crate::rounds;
use crate::stage::BenchStage;
use crate::startup::time_raw_clients;

/// The numbers of tools of [`LIST_SERVERS`] servers, with the promise for a list of all of them.
const TOOLS: [(usize, FigureBound); 3] =
    [(1_000, FigureBound::None), (5_000, FigureBound::Within(5e-3)), (20_000, FigureBound::Within(20e-3))];

const LIST_SERVERS: usize = 10;

/// The numbers of servers with [`SERVER_TOOLS`] tools each, with the promise for the memory of their gateway.
const SERVERS: [(usize, FigureBound); 3] =
    [(10, FigureBound::Absolute(40e6)), (50, FigureBound::Absolute(40e6)), (200, FigureBound::None)];
const SERVER_TOOLS: usize = 100;

/// The number of idle sessions.
const SESSIONS: usize = 500;
/// The most memory of an idle session, and of one with an open stream.
const SESSION_BYTES: [(&str, bool, f64); 2] = [
    ("gateway over HTTP, an idle session", false, 8.0 * 1024.0),
    ("gateway over HTTP, an idle session with a stream", true, 32.0 * 1024.0),
];

pub(crate) fn measure_growth(
    stage: &BenchStage,
    rounds: usize,
    wanted: &dyn Fn(&str) -> bool,
) -> io::Result<Vec<BenchFigure>> {
    let mut figures = Vec::new();
    for (tools, bound) in TOOLS {
        let name = format!("gateway on stdio, list of {tools} tools");
        if wanted(&name) {
            figures.push(measure_list(stage, rounds, (name, tools, bound))?);
        }
    }
    for (servers, memory) in SERVERS {
        let name = format!("gateway on stdio, {servers} servers of {SERVER_TOOLS} tools until listed");
        if wanted(&name) {
            figures.extend(measure_ready(stage, rounds, (name, servers, memory))?);
        }
    }
    for (name, has_stream, most) in SESSION_BYTES.into_iter().filter(|(name, ..)| wanted(name)) {
        let samples = rounds::run_rounds(rounds.min(3), 1, |_| session_bytes(stage, has_stream))?;
        let ours = samples.into_iter().next().unwrap_or_default();
        let (name, bound) = (name.to_owned(), FigureBound::Absolute(most));
        figures.push(BenchFigure::Alone { name, unit: FigureUnit::Memory, ours, bound });
    }
    Ok(figures)
}

/// Measures a walk over all pages of a list that was requested before.
fn measure_list(
    stage: &BenchStage,
    rounds: usize,
    (name, tools, bound): (String, usize, FigureBound),
) -> io::Result<BenchFigure> {
    let arguments = ["--tools".to_owned(), (tools / LIST_SERVERS).to_string()];
    let configuration = stage.write_configuration_with(LIST_SERVERS, &arguments)?;
    let mut client = RawClient::from_command(serve_command(stage, &configuration))?;
    while count_listed_tools(&mut client)? < tools {}
    let samples = rounds::run_rounds(rounds, 1, |_| {
        let begun = Instant::now();
        walk_pages(&mut client, |_page| ())?;
        Ok(begun.elapsed().as_secs_f64())
    })?;
    let ours = samples.into_iter().next().unwrap_or_default();
    Ok(BenchFigure::Alone { name, unit: FigureUnit::Time, ours, bound })
}

/// Requests all pages; returns the number of tools.
fn count_listed_tools(client: &mut RawClient) -> io::Result<usize> {
    let mut listed = 0;
    walk_pages(client, |page| {
        listed += page.windows(14).filter(|part| part == br#""inputSchema":"#).count();
    })?;
    Ok(listed)
}

/// Requests all pages of the list of tools.
fn walk_pages(client: &mut RawClient, mut read: impl FnMut(&[u8])) -> io::Result<()> {
    const CURSOR: &[u8] = br#""nextCursor":""#;
    // The end of a page has its cursor.
    const END: usize = 1024;
    let mut cursor = String::new();
    loop {
        let page = client.send_request_raw("tools/list", &cursor)?;
        read(page);
        let end = page.get(page.len().saturating_sub(END)..).unwrap_or_default();
        let Some(at) = end.windows(CURSOR.len()).position(|part| part == CURSOR) else { return Ok(()) };
        let rest = end.get(at + CURSOR.len()..).unwrap_or_default();
        let next = rest.split(|byte| *byte == b'"').next().unwrap_or_default();
        cursor = format!(r#""cursor":"{}","#, String::from_utf8_lossy(next));
    }
}

/// Measures the time from the start of the gateway until all tools of all servers are listed, and its memory
/// then.
fn measure_ready(
    stage: &BenchStage,
    rounds: usize,
    (name, servers, memory_bound): (String, usize, FigureBound),
) -> io::Result<Vec<BenchFigure>> {
    let arguments = ["--tools".to_owned(), SERVER_TOOLS.to_string()];
    let configuration = stage.write_configuration_with(servers, &arguments)?;
    let mut memory = Vec::new();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let samples = rounds::run_rounds(rounds, 2, |contender| {
        if contender == 0 {
            return time_raw_clients(stage, servers, &arguments, cores + 1);
        }
        // A home of its own: nothing is known from an earlier start.
        let home = tempfile::tempdir()?;
        let mut command = serve_command(stage, &configuration);
        command.env("HOME", home.path());
        let begun = Instant::now();
        let mut client = RawClient::from_command(command)?;
        while count_listed_tools(&mut client)? < servers * SERVER_TOOLS {}
        let took = begun.elapsed().as_secs_f64();
        let size = processes::memory_size(&client.pid().to_string(), "VmRSS").unwrap_or(0);
        // A number of bytes is far below the precision limit of a float.
        memory.push(size as f64);
        client.wait_for_exit()?;
        Ok(took)
    })?;
    let [limit, ours] = <[_; 2]>::try_from(samples).unwrap_or_default();
    let bound = FigureBound::AtMost(2.2);
    let memory_name = format!("{name}, memory");
    Ok(vec![
        BenchFigure::Compared { name, unit: FigureUnit::Time, limit, ours, bound },
        BenchFigure::Alone {
            name: memory_name,
            unit: FigureUnit::Memory,
            ours: rounds::RoundSamples::after_warming_up(&memory),
            bound: memory_bound,
        },
    ])
}

/// The memory of an idle session, with or without an open stream.
fn session_bytes(stage: &BenchStage, has_stream: bool) -> io::Result<f64> {
    let configuration = stage.write_configuration(1)?;
    let address = free_address()?;
    let mut command = serve_command(stage, &configuration);
    let gateway = EndOnDrop(command.args(["--http", &address, "--no-token"]).spawn()?);
    // The first session also starts everything that all sessions share.
    let first = retry_until_listening(|| HttpConnection::open(&address))?;
    let memory = || processes::memory_size(&gateway.0.id().to_string(), "VmRSS").unwrap_or(0) as f64;
    let before = memory();
    let mut streams = Vec::new();
    for _ in 0..SESSIONS {
        // The connection of the handshake is closed, as an idle client does.
        let session = HttpConnection::open(&address)?;
        if has_stream {
            streams.push(session.open_stream()?);
        }
    }
    let used = memory() - before;
    drop((first, streams));
    Ok(used.max(0.0) / SESSIONS as f64)
}
