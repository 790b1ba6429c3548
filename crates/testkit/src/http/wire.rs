//! Writes HTTP/1.1 answers, byte by byte.

use super::Next;
use crate::lock::lock;
use crate::raw::Raw;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;
use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Mutex;
use std::time::Duration;

/// A header of an answer.
pub(crate) type Header<'a> = (&'a str, &'a str);

const JSON: Header<'static> = ("Content-Type", "application/json");
const STREAM: [Header<'static>; 3] =
    [("Content-Type", "text/event-stream"), ("Cache-Control", "no-cache"), ("Transfer-Encoding", "chunked")];

/// The way back to a client. Streams are written to by several threads.
#[derive(Debug)]
pub(crate) struct Wire {
    stream: TcpStream,
    writing: Mutex<()>,
}

impl Wire {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self { stream, writing: Mutex::new(()) }
    }

    /// A JSON answer.
    pub(crate) fn json(&self, status: u16, headers: &[Header<'_>], body: &Value) -> io::Result<Next> {
        self.raw_json(status, headers, &Raw::from(body))
    }

    /// An answer that says it is JSON.
    pub(crate) fn raw_json(&self, status: u16, headers: &[Header<'_>], body: &Raw) -> io::Result<Next> {
        let headers = [&[JSON], headers].concat();
        self.whole(status, &headers, body)
    }

    /// A whole answer.
    pub(crate) fn whole(&self, status: u16, headers: &[Header<'_>], body: &Raw) -> io::Result<Next> {
        let length = body.len().to_string();
        let headers = [headers, &[("Content-Length", length.as_str())]].concat();
        self.write(&Raw::new(format!("{}{}", status_line(status), header_lines(&headers))))?;
        self.write(body)?;
        Ok(Next::Keep)
    }

    /// An answer in plain words.
    pub(crate) fn refuse(&self, status: u16, text: &str) -> io::Result<Next> {
        self.whole(status, &[("Content-Type", "text/plain")], &Raw::new(text))
    }

    /// An answer without a body.
    pub(crate) fn empty(&self, status: u16) -> io::Result<Next> {
        self.whole(status, &[], &Raw::default())
    }

    /// The head of an event stream, sent in chunks.
    pub(crate) fn begin_stream(&self, headers: &[Header<'_>]) -> io::Result<()> {
        let headers = [&STREAM[..], headers].concat();
        self.write(&Raw::new(format!("{}{}", status_line(200), header_lines(&headers))))
    }

    /// A piece of an event stream.
    pub(crate) fn chunk(&self, bytes: &Raw) -> io::Result<()> {
        // An empty chunk would end the stream.
        if bytes.len() == 0 {
            return Ok(());
        }
        let _held = lock(&self.writing);
        let mut out = &self.stream;
        out.write_all(format!("{:x}\r\n", bytes.len()).as_bytes())?;
        bytes.write_to(&mut out)?;
        out.write_all(b"\r\n")
    }

    /// The proper end of an event stream.
    pub(crate) fn end_stream(&self) -> io::Result<Next> {
        self.write(&Raw::new("0\r\n\r\n"))?;
        Ok(Next::Keep)
    }

    pub(crate) fn write(&self, bytes: &Raw) -> io::Result<()> {
        let _held = lock(&self.writing);
        bytes.write_to(&mut &self.stream)
    }

    /// Waits until the client closes its side, at most that long; says whether it did.
    pub(crate) fn is_gone_within(&self, time: Duration) -> bool {
        let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
        let time = Timespec { tv_sec: seconds, tv_nsec: i64::from(time.subsec_nanos()) };
        let mut watched = [PollFd::new(&self.stream, PollFlags::RDHUP)];
        // A socket that cannot be asked is gone.
        poll(&mut watched, Some(&time)).is_ok_and(|changed| changed > 0)
    }

    pub(crate) fn close(&self) -> io::Result<()> {
        self.stream.shutdown(Shutdown::Both)
    }
}

/// One event for each line.
pub(crate) fn events(lines: &[u8]) -> Raw {
    let lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    Raw::new(lines.flat_map(|line| [b"event: message\ndata: ", line, b"\n\n"].concat()).collect::<Vec<u8>>())
}

pub(crate) fn status_line(status: u16) -> String {
    let reason = match status {
        101 => "Switching Protocols",
        200 => "OK",
        202 => "Accepted",
        307 => "Temporary Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        405 => "Method Not Allowed",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Scripted",
    };
    format!("HTTP/1.1 {status} {reason}\r\n")
}

/// The headers and the empty line behind them.
pub(crate) fn header_lines(headers: &[Header<'_>]) -> String {
    let lines: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("{lines}\r\n")
}
