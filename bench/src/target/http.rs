//! Streamable HTTP by hand: one thread per connection, answers as JSON, sessions in the old era.

use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::answer::{SoakServer, TargetEra};

/// The body size limit: more than any request here has.
const BODY: u64 = 1 << 20;

/// The state shared by the connections.
struct TargetSite {
    target: Arc<SoakServer>,
    /// The sessions of this process; a killed server has forgotten all of its own.
    sessions: Mutex<HashSet<String>>,
}

/// Serves until standard input ends; prints a line when it listens.
pub(crate) fn serve_http(target: Arc<SoakServer>, port: u16) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    let site = Arc::new(TargetSite { target, sessions: Mutex::default() });
    std::thread::spawn(move || {
        for stream in listener.incoming().filter_map(Result::ok) {
            let site = Arc::clone(&site);
            // An I/O error on one connection does not affect the others.
            std::thread::spawn(move || site.serve_connection(&stream).unwrap_or_default());
        }
    });
    let mut output = io::stdout();
    output.write_all(b"listening\n")?;
    output.flush()?;
    io::copy(&mut io::stdin().lock(), &mut io::sink()).map(drop)
}

/// The fields of a request head that are used here.
#[derive(Default)]
struct RequestHead {
    method: String,
    length: u64,
    session: Option<String>,
}

impl TargetSite {
    fn serve_connection(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let (mut reader, mut writer) = (BufReader::new(stream), stream);
        while let Some(head) = RequestHead::read_head(&mut reader)? {
            let mut body = Vec::new();
            (&mut reader).take(head.length.min(BODY)).read_to_end(&mut body)?;
            writer.write_all(&self.response_bytes(&head, &body))?;
        }
        Ok(())
    }

    fn response_bytes(&self, head: &RequestHead, body: &[u8]) -> Vec<u8> {
        let (era, known) = (self.target.era, self.has_session(head));
        let Ok(request) = serde_json::from_slice::<Value>(body) else {
            return match (head.method.as_str(), era) {
                ("DELETE", TargetEra::Old) if known => format_response("200 OK", None, ""),
                _ => format_response("405 Method Not Allowed", None, ""),
            };
        };
        let is_greeting = request.get("method").and_then(Value::as_str) == Some("initialize");
        match (era, &head.session) {
            (TargetEra::Old, None) if !is_greeting => {
                return format_response("400 Bad Request", None, "session missing");
            }
            (TargetEra::Old, Some(_)) if !known => {
                return format_response("404 Not Found", None, "session not found");
            }
            (TargetEra::Old | TargetEra::New, _) => {}
        }
        let session = (era == TargetEra::Old && is_greeting).then(|| self.open_session());
        match self.target.answer_request(&request) {
            Some(answer) => format_response("200 OK", session.as_deref(), &answer.to_string()),
            None => format_response("202 Accepted", None, ""),
        }
    }

    fn has_session(&self, head: &RequestHead) -> bool {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        head.session.as_ref().is_some_and(|session| sessions.contains(session))
    }

    /// Opens a session; its id contains the process id, so that it is unknown after a restart.
    fn open_session(&self) -> String {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let session = format!("{}-{}", std::process::id(), sessions.len());
        sessions.insert(session.clone());
        session
    }
}

impl RequestHead {
    fn read_head(reader: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let method = line.split(' ').next().unwrap_or_default().to_owned();
        let mut head = Self { method, ..Self::default() };
        loop {
            line.clear();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { return Ok(Some(head)) };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => head.length = value.trim().parse().map_err(io::Error::other)?,
                "mcp-session-id" => head.session = Some(value.trim().to_owned()),
                _ => {}
            }
        }
    }
}

fn format_response(status: &str, session: Option<&str>, body: &str) -> Vec<u8> {
    let session = session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
    let kind = if body.starts_with('{') { "application/json" } else { "text/plain" };
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{session}\r\n{body}")
        .into_bytes()
}
