//! Writes HTTP/1.1 responses byte by byte.

use super::ConnectionNext;
use crate::lock::lock;
use crate::raw::RawBytes;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;
use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Mutex;
use std::time::Duration;

/// A response header.
pub(crate) type ResponseHeader<'a> = (&'a str, &'a str);

const JSON: ResponseHeader<'static> = ("Content-Type", "application/json");
const STREAM: [ResponseHeader<'static>; 3] =
    [("Content-Type", "text/event-stream"), ("Cache-Control", "no-cache"), ("Transfer-Encoding", "chunked")];

/// The connection to a client. Streams are written by several threads.
#[derive(Debug)]
pub(crate) struct HttpWire {
    stream: TcpStream,
    writing: Mutex<()>,
}

impl HttpWire {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self { stream, writing: Mutex::new(()) }
    }

    /// Writes a JSON response.
    pub(crate) fn write_json(
        &self,
        status: u16,
        headers: &[ResponseHeader<'_>],
        body: &Value,
    ) -> io::Result<ConnectionNext> {
        self.write_raw_json(status, headers, &RawBytes::from(body))
    }

    /// Writes a body with the JSON content type, valid JSON or not.
    pub(crate) fn write_raw_json(
        &self,
        status: u16,
        headers: &[ResponseHeader<'_>],
        body: &RawBytes,
    ) -> io::Result<ConnectionNext> {
        let headers = [&[JSON], headers].concat();
        self.write_response(status, &headers, body)
    }

    /// Writes a complete response.
    pub(crate) fn write_response(
        &self,
        status: u16,
        headers: &[ResponseHeader<'_>],
        body: &RawBytes,
    ) -> io::Result<ConnectionNext> {
        let length = body.len().to_string();
        let headers = [headers, &[("Content-Length", length.as_str())]].concat();
        self.write_bytes(&RawBytes::new(format!("{}{}", status_line(status), header_lines(&headers))))?;
        self.write_bytes(body)?;
        Ok(ConnectionNext::Keep)
    }

    /// Writes a plain-text response.
    pub(crate) fn write_text(&self, status: u16, text: &str) -> io::Result<ConnectionNext> {
        self.write_response(status, &[("Content-Type", "text/plain")], &RawBytes::new(text))
    }

    /// Writes a response without a body.
    pub(crate) fn write_empty(&self, status: u16) -> io::Result<ConnectionNext> {
        self.write_response(status, &[], &RawBytes::default())
    }

    /// Writes the head of an event stream with chunked encoding.
    pub(crate) fn begin_stream(&self, headers: &[ResponseHeader<'_>]) -> io::Result<()> {
        let headers = [&STREAM[..], headers].concat();
        self.write_bytes(&RawBytes::new(format!("{}{}", status_line(200), header_lines(&headers))))
    }

    /// Writes a chunk of an event stream.
    pub(crate) fn write_chunk(&self, bytes: &RawBytes) -> io::Result<()> {
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

    /// Ends an event stream properly.
    pub(crate) fn end_stream(&self) -> io::Result<ConnectionNext> {
        self.write_bytes(&RawBytes::new("0\r\n\r\n"))?;
        Ok(ConnectionNext::Keep)
    }

    pub(crate) fn write_bytes(&self, bytes: &RawBytes) -> io::Result<()> {
        let _held = lock(&self.writing);
        bytes.write_to(&mut &self.stream)
    }

    /// Waits until the client closes its side, up to `time`; returns whether it did.
    pub(crate) fn is_closed_within(&self, time: Duration) -> bool {
        let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
        let time = Timespec { tv_sec: seconds, tv_nsec: i64::from(time.subsec_nanos()) };
        let mut watched = [PollFd::new(&self.stream, PollFlags::RDHUP)];
        // A socket that cannot be polled counts as closed.
        poll(&mut watched, Some(&time)).is_ok_and(|changed| changed > 0)
    }

    pub(crate) fn close(&self) -> io::Result<()> {
        self.stream.shutdown(Shutdown::Both)
    }
}

/// One event for each line.
pub(crate) fn events(lines: &[u8]) -> RawBytes {
    let lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    RawBytes::new(
        lines.flat_map(|line| [b"event: message\ndata: ", line, b"\n\n"].concat()).collect::<Vec<u8>>(),
    )
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

/// The header lines and the empty line after them.
pub(crate) fn header_lines(headers: &[ResponseHeader<'_>]) -> String {
    let lines: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("{lines}\r\n")
}
