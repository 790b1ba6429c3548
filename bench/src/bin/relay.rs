//! `mcparley-bench-relay stdio PROGRAM …` and `mcparley-bench-relay http ADDRESS PROGRAM …`: the least that a
//! gateway before one server can cost. It contains no code of mcparley.
//!
//! On standard streams it copies bytes and reads none of them. Over HTTP it has one blocking thread for each
//! connection, replaces the id of each request by a number of its own, and finds the connection of each
//! response by that number; it looks only at the first bytes of a message.

#![expect(
    clippy::disallowed_methods,
    reason = "the comparison must not profit or suffer from our own spawning"
)]

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IoSlice, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::os::fd::AsFd;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

const BUFFER: usize = 256 * 1024;
/// The length of the beginning of a message that has its id.
const HEAD: usize = 64;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["stdio", program, rest @ ..] => relay_streams(program, rest),
        ["http", address, program, rest @ ..] => relay_http(address, program, rest),
        _ => Err(io::Error::other("usage: mcparley-bench-relay stdio|http ADDRESS PROGRAM …")),
    }
}

fn start_server(program: &str, arguments: &[&str]) -> io::Result<(ChildStdin, ChildStdout)> {
    let mut child =
        Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let streams = child.stdin.take().zip(child.stdout.take());
    streams.ok_or_else(|| io::ErrorKind::BrokenPipe.into())
}

fn relay_streams(program: &str, arguments: &[&str]) -> io::Result<()> {
    let (to_server, from_server) = start_server(program, arguments)?;
    let stdin = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let stdout = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    std::thread::spawn(move || copy_bytes(stdin, to_server));
    copy_bytes(from_server, stdout)
}

fn copy_bytes(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            count => to.write_all(buffer.get(..count).unwrap_or_default())?,
        }
    }
}

/// The server behind the HTTP front.
struct Upstream {
    stdin: Mutex<ChildStdin>,
    /// The connections that wait for a response, by the number of the request.
    waiting: Mutex<HashMap<u64, SyncSender<Vec<u8>>>>,
    next: AtomicU64,
}

fn relay_http(address: &str, program: &str, arguments: &[&str]) -> io::Result<()> {
    let listener = TcpListener::bind(address)?;
    let (stdin, stdout) = start_server(program, arguments)?;
    let upstream =
        Arc::new(Upstream { stdin: Mutex::new(stdin), waiting: Mutex::default(), next: AtomicU64::new(1) });
    let shared = Arc::clone(&upstream);
    std::thread::spawn(move || shared.read_responses(stdout));
    for connection in listener.incoming() {
        let (connection, upstream) = (connection?, Arc::clone(&upstream));
        // A connection that is lost ends its thread.
        std::thread::spawn(move || upstream.serve_connection(connection));
    }
    Ok(())
}

impl Upstream {
    fn read_responses(&self, stdout: ChildStdout) -> io::Result<()> {
        let mut lines = BufReader::with_capacity(BUFFER, stdout);
        loop {
            let mut line = Vec::new();
            if lines.read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            line.pop();
            let id = find_id(&line).and_then(|id| std::str::from_utf8(line.get(id)?).ok()?.parse().ok());
            let waiting = id
                .and_then(|id: u64| self.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&id));
            if let Some(waiting) = waiting {
                // The connection may be lost.
                let _lost = waiting.send(line);
            }
        }
    }

    fn serve_connection(&self, mut connection: TcpStream) -> io::Result<()> {
        connection.set_nodelay(true)?;
        let mut requests = BufReader::with_capacity(BUFFER, connection.try_clone()?);
        while let Some(body) = read_request(&mut requests)? {
            match find_id(&body) {
                Some(id) => self.answer_request(&mut connection, &body, id)?,
                None => {
                    self.send(&[body.as_slice(), b"\n"].concat())?;
                    connection.write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n")?;
                }
            }
        }
        Ok(())
    }

    fn answer_request(&self, connection: &mut TcpStream, body: &[u8], id: Range<usize>) -> io::Result<()> {
        let part = |range: Range<usize>| body.get(range).unwrap_or_default();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = sync_channel(1);
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(number, sender);
        let request =
            [part(0..id.start), number.to_string().as_bytes(), part(id.end..body.len()), b"\n"].concat();
        self.send(&request)?;
        let response = receiver.recv().map_err(io::Error::other)?;
        let theirs = find_id(&response).ok_or(io::ErrorKind::InvalidData)?;
        let (before, after) = (response.get(..theirs.start), response.get(theirs.end..));
        let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
        let length = before.len() + id.len() + after.len();
        let mut head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nmcp-session-id: 1\r\ncontent-length: {length}\r\n\r\n"
        )
        .into_bytes();
        head.extend_from_slice(before);
        head.extend_from_slice(part(id));
        write_parts(connection, [&head, after])
    }

    fn send(&self, line: &[u8]) -> io::Result<()> {
        self.stdin.lock().unwrap_or_else(PoisonError::into_inner).write_all(line)
    }
}

fn write_parts(to: &mut impl Write, parts: [&[u8]; 2]) -> io::Result<()> {
    let mut slices = parts.map(IoSlice::new);
    let mut left = &mut slices[..];
    while !left.is_empty() {
        match to.write_vectored(left)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            count => IoSlice::advance_slices(&mut left, count),
        }
    }
    Ok(())
}

/// The place of the number in `"id":NUMBER` at the beginning of a message.
fn find_id(message: &[u8]) -> Option<Range<usize>> {
    const NAME: &[u8] = br#""id":"#;
    let head = message.get(..HEAD.min(message.len()))?;
    let start = head.windows(NAME.len()).position(|part| part == NAME)? + NAME.len();
    let digits = message.get(start..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
    Some(start..start + digits)
}

/// Reads the body of the next request; `None` at the end of the connection.
fn read_request(requests: &mut BufReader<TcpStream>) -> io::Result<Option<Vec<u8>>> {
    let (mut line, mut length) = (String::new(), 0);
    loop {
        line.clear();
        if requests.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
    }
    let mut body = vec![0; length];
    requests.read_exact(&mut body)?;
    Ok(Some(body))
}
