//! Calls without a library.

use std::hint::black_box;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use mcparley_bench::raw::{CallText, RawClient};
use serde::de::IgnoredAny;

use super::{BenchCaller, check_length};
use crate::stage::BenchStage;

/// A server and a pipe to it.
pub(crate) struct RawCaller {
    raw: RawClient,
    /// The folder to which every text is written, if it is.
    folder: Option<PathBuf>,
    written: usize,
}

impl RawCaller {
    pub(super) fn new(stage: &BenchStage) -> io::Result<Self> {
        Self::with_client(RawClient::start(&stage.server, &[])?)
    }

    /// A caller of the server, or the gateway, of a client.
    pub(crate) fn with_client(mut raw: RawClient) -> io::Result<Self> {
        raw.send_request::<IgnoredAny>("server/discover", "")?;
        Ok(Self { raw, folder: None, written: 0 })
    }

    /// A caller that copies every text once and writes it to its own file.
    pub(super) fn with_files(stage: &BenchStage) -> io::Result<Self> {
        let folder = stage.home().join("written");
        std::fs::create_dir_all(&folder)?;
        Ok(Self { folder: Some(folder), ..Self::new(stage)? })
    }

    fn store_text(&mut self, called: &CallText) -> io::Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        self.written += 1;
        let copy = black_box(called.text().to_owned());
        std::fs::write(folder.join(format!("{}.txt", self.written)), copy)
    }
}

fn call_members(size: usize) -> String {
    format!(r#""name":"echo","arguments":{{"size":{size}}},"#)
}

impl BenchCaller for RawCaller {
    fn call_sequentially(&mut self, size: usize, count: usize) -> io::Result<Vec<Duration>> {
        let mut call = || {
            let start = Instant::now();
            let called: CallText = self.raw.send_request("tools/call", &call_members(size))?;
            check_length(called.text_length(), size)?;
            self.store_text(&called)?;
            Ok(start.elapsed())
        };
        (0..count).map(|_| call()).collect()
    }

    fn call_concurrently(&mut self, size: usize, count: usize, width: usize) -> io::Result<Duration> {
        let start = Instant::now();
        let (mut sent, mut done) = (0, 0);
        while done < count {
            while sent < count && self.raw.pending_count() < width {
                self.raw.queue_request("tools/call", &call_members(size));
                sent += 1;
            }
            self.raw.send_queued()?;
            // Answers that arrived together are read together, and make room for as many new calls.
            loop {
                let (_, called) = self.raw.read_answer::<CallText>()?;
                check_length(called.text_length(), size)?;
                done += 1;
                if done == sent || !self.raw.has_answer() {
                    break;
                }
            }
        }
        Ok(start.elapsed())
    }
}
