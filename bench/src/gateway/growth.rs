//! Measures how the gateway grows: lists of many tools, many servers, idle sessions.

use std::io;
use std::time::Instant;

use mcparley_bench::raw::RawClient;

use super::http_client::HttpConnection;
use super::running::{EndOnDrop, free_address, retry_until_listening, serve_command};
use crate::figure::{BenchFigure, FigureBound, FigureUnit};
use crate::processes;
use crate::rounds::{self, RoundSamples};
use crate::stage::BenchStage;
use crate::startup::time_raw_clients;

/// The numbers of tools of [`LIST_SERVERS`] servers, with the promise for a list of all of them.
const TOOLS: [(usize, FigureBound); 3] =
    [(1_000, FigureBound::None), (5_000, FigureBound::Within(5e-3)), (20_000, FigureBound::Within(20e-3))];

const LIST_SERVERS: usize = 10;

/// The promise for a longer list: at most this many times the time of a shorter one, per tool. With the square of
/// the number it would be four and five times.
const LIST_GROWTH: FigureBound = FigureBound::AtMost(1.5);

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
    figures.extend(measure_lists(stage, rounds, wanted)?);
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

/// Measures lists of all sizes, and how the time grows from one size to the next.
fn measure_lists(
    stage: &BenchStage,
    rounds: usize,
    wanted: &dyn Fn(&str) -> bool,
) -> io::Result<Vec<BenchFigure>> {
    let (mut figures, unit) = (Vec::new(), FigureUnit::Time);
    let mut smaller: Option<(usize, RoundSamples)> = None;
    for (tools, bound) in TOOLS {
        let name = format!("gateway on stdio, list of {tools} tools");
        let growth = |tools: usize| format!("gateway on stdio, list of {tools} tools, growth per tool");
        let is_next_wanted = TOOLS.iter().any(|(next, _)| *next > tools && wanted(&growth(*next)));
        let is_growth_wanted = smaller.is_some() && wanted(&growth(tools));
        if !(wanted(&name) || is_growth_wanted || is_next_wanted) {
            continue;
        }
        let ours = measure_list(stage, rounds, tools)?;
        if let Some((fewer, samples)) = smaller.filter(|_| is_growth_wanted) {
            // Numbers of tools are far below the precision limit of a float.
            let limit = samples.scale_by(tools as f64 / fewer as f64);
            let (name, bound, ours) = (growth(tools), LIST_GROWTH, ours.clone());
            figures.push(BenchFigure::Compared { name, unit, limit, ours, bound });
        }
        if wanted(&name) {
            figures.push(BenchFigure::Alone { name, unit, ours: ours.clone(), bound });
        }
        smaller = Some((tools, ours));
    }
    Ok(figures)
}

/// Measures a walk over all pages of a list that was requested before.
fn measure_list(stage: &BenchStage, rounds: usize, tools: usize) -> io::Result<RoundSamples> {
    let arguments = ["--tools".to_owned(), (tools / LIST_SERVERS).to_string()];
    let configuration = stage.write_configuration_with(LIST_SERVERS, &arguments)?;
    let mut client = RawClient::from_command(serve_command(stage, &configuration))?;
    while count_listed_tools(&mut client)? < tools {}
    let samples = rounds::run_rounds(rounds, 1, |_| {
        let begun = Instant::now();
        walk_pages(&mut client, |_page| ())?;
        Ok(begun.elapsed().as_secs_f64())
    })?;
    Ok(samples.into_iter().next().unwrap_or_default())
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
        memory.push(resident_bytes(client.pid())?);
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
            ours: RoundSamples::after_warming_up(&memory),
            bound: memory_bound,
        },
    ])
}

/// The resident memory of a process; an error where it cannot be read, because no memory would keep every promise.
fn resident_bytes(pid: u32) -> io::Result<f64> {
    let size = processes::memory_size(&pid.to_string(), "VmRSS");
    // A number of bytes is far below the precision limit of a float.
    let size = size.map(|bytes| bytes as f64).filter(|bytes| *bytes > 0.0);
    size.ok_or_else(|| io::Error::other(format!("the memory of process {pid} cannot be read")))
}

/// The memory of an idle session, with or without an open stream.
fn session_bytes(stage: &BenchStage, has_stream: bool) -> io::Result<f64> {
    let configuration = stage.write_configuration(1)?;
    let address = free_address()?;
    let mut command = serve_command(stage, &configuration);
    let gateway = EndOnDrop(command.args(["--http", &address, "--no-token"]).spawn()?);
    // The first session also starts everything that all sessions share.
    let first = retry_until_listening(|| HttpConnection::open(&address))?;
    let before = resident_bytes(gateway.0.id())?;
    let mut streams = Vec::new();
    for _ in 0..SESSIONS {
        // The connection of the handshake is closed, as an idle client does.
        let session = HttpConnection::open(&address)?;
        if has_stream {
            streams.push(session.open_stream()?);
        }
    }
    let used = resident_bytes(gateway.0.id())? - before;
    drop((first, streams));
    Ok(used.max(0.0) / SESSIONS as f64)
}

#[cfg(test)]
mod tests {
    use super::resident_bytes;

    #[test]
    fn memory_that_cannot_be_read_is_an_error() {
        assert!(resident_bytes(std::process::id()).unwrap() > 0.0);
        // Above every process id of Linux.
        assert!(resident_bytes(u32::MAX).is_err());
    }
}
