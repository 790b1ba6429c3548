//! Calls without a library.

use std::hint::black_box;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use mcparley_bench::raw::{Called, Raw};
use serde::de::IgnoredAny;

use super::{Caller, check};
use crate::stage::Stage;

/// A server and a pipe to it.
pub(super) struct RawCaller {
    raw: Raw,
    /// Where every text is written to, if it is.
    folder: Option<PathBuf>,
    written: usize,
}

impl RawCaller {
    pub(super) fn new(stage: &Stage) -> io::Result<Self> {
        let mut raw = Raw::start(&stage.server, &[])?;
        raw.request::<IgnoredAny>("server/discover", "")?;
        Ok(Self { raw, folder: None, written: 0 })
    }

    /// The same, and every text is copied once and written to a file of its own.
    pub(super) fn writing(stage: &Stage) -> io::Result<Self> {
        let folder = stage.home().join("written");
        std::fs::create_dir_all(&folder)?;
        Ok(Self { folder: Some(folder), ..Self::new(stage)? })
    }

    fn keep(&mut self, called: &Called) -> io::Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        self.written += 1;
        let copy = black_box(called.text().to_owned());
        std::fs::write(folder.join(format!("{}.txt", self.written)), copy)
    }
}

fn members(size: usize) -> String {
    format!(r#""name":"echo","arguments":{{"size":{size}}},"#)
}

impl Caller for RawCaller {
    fn one_by_one(&mut self, size: usize, count: usize) -> io::Result<Vec<Duration>> {
        let mut call = || {
            let start = Instant::now();
            let called: Called = self.raw.request("tools/call", &members(size))?;
            check(called.length(), size)?;
            self.keep(&called)?;
            Ok(start.elapsed())
        };
        (0..count).map(|_| call()).collect()
    }

    fn at_once(&mut self, size: usize, count: usize, width: usize) -> io::Result<Duration> {
        let start = Instant::now();
        let (mut sent, mut done) = (0, 0);
        while done < count {
            while sent < count && self.raw.waiting() < width {
                self.raw.queue("tools/call", &members(size));
                sent += 1;
            }
            self.raw.send()?;
            // Answers that came together are taken together, and make room for as many new calls.
            loop {
                let (_, called) = self.raw.answer::<Called>()?;
                check(called.length(), size)?;
                done += 1;
                if done == sent || !self.raw.has_answer() {
                    break;
                }
            }
        }
        Ok(start.elapsed())
    }
}
