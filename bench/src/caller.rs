//! The contenders that make calls: the client without a library, and ours at each of its layers.
//!
//! Every contender has its own server, started before the measurement, and extracts the text of every result.

mod door;
mod host;
mod raw;
mod session;

use std::io;
use std::time::Duration;

use crate::stage::BenchStage;
use door::LayerCaller;

pub(crate) use raw::RawCaller;

/// Makes calls to `echo`.
pub(crate) trait BenchCaller {
    /// Makes `count` calls, one after the other; returns the time of each.
    fn call_sequentially(&mut self, size: usize, count: usize) -> io::Result<Vec<Duration>>;

    /// Makes `count` calls, `width` at a time; returns the total time.
    fn call_concurrently(&mut self, size: usize, count: usize, width: usize) -> io::Result<Duration>;
}

/// A contender and its name.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) caller: Box<dyn BenchCaller>,
    /// Whether the promised limits apply to this contender.
    pub(crate) is_promised: bool,
}

/// All contenders; the first is the baseline.
pub(crate) fn all_contenders(stage: &BenchStage) -> io::Result<Vec<Contender>> {
    let raw = Box::new(raw::RawCaller::new(stage)?);
    let host = Box::new(LayerCaller::open(host::HostLayer::open(stage))?);
    let session = Box::new(LayerCaller::open(session::SessionLayer::open(stage))?);
    Ok(vec![
        Contender { name: "raw", caller: raw, is_promised: false },
        Contender { name: "host", caller: host, is_promised: true },
        Contender { name: "session", caller: session, is_promised: false },
    ])
}

/// The contenders that store every text in a file; the first is the baseline.
pub(crate) fn storing_contenders(stage: &BenchStage) -> io::Result<Vec<Contender>> {
    let raw = Box::new(raw::RawCaller::with_files(stage)?);
    let host = Box::new(LayerCaller::open(host::StoringLayer::open(stage))?);
    Ok(vec![
        Contender { name: "raw", caller: raw, is_promised: false },
        Contender { name: "host", caller: host, is_promised: true },
    ])
}

pub(crate) fn check_length(length: usize, size: usize) -> io::Result<()> {
    if length == size { Ok(()) } else { Err(io::Error::other(format!("{length} bytes came, not {size}"))) }
}
