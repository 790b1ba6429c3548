//! Calls without a library.

use std::io;
use std::time::{Duration, Instant};

use mcparley_bench::raw::{Called, Raw};
use serde::de::IgnoredAny;

use super::{Caller, check};
use crate::stage::Stage;

/// A server and a pipe to it.
pub(super) struct RawCaller(Raw);

impl RawCaller {
    pub(super) fn new(stage: &Stage) -> io::Result<Self> {
        let mut raw = Raw::start(&stage.server, &[])?;
        raw.request::<IgnoredAny>("server/discover", "")?;
        Ok(Self(raw))
    }
}

fn members(size: usize) -> String {
    format!(r#""name":"echo","arguments":{{"size":{size}}},"#)
}

impl Caller for RawCaller {
    fn one_by_one(&mut self, size: usize, count: usize) -> io::Result<Vec<Duration>> {
        let mut call = || {
            let start = Instant::now();
            let called: Called = self.0.request("tools/call", &members(size))?;
            check(called.length(), size)?;
            Ok(start.elapsed())
        };
        (0..count).map(|_| call()).collect()
    }

    fn at_once(&mut self, size: usize, count: usize, width: usize) -> io::Result<Duration> {
        let start = Instant::now();
        let (mut sent, mut done) = (0, 0);
        while done < count {
            while sent < count && self.0.waiting() < width {
                self.0.queue("tools/call", &members(size));
                sent += 1;
            }
            self.0.send()?;
            // Answers that came together are taken together, and make room for as many new calls.
            loop {
                let (_, called) = self.0.answer::<Called>()?;
                check(called.length(), size)?;
                done += 1;
                if done == sent || !self.0.has_answer() {
                    break;
                }
            }
        }
        Ok(start.elapsed())
    }
}
