//! Streamable HTTP by hand: one thread per connection, answers as JSON, sessions in the old era.

use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::answer::{Era, Target};

/// More than any request here has.
const BODY: u64 = 1 << 20;

/// What the connections share.
struct Site {
    target: Arc<Target>,
    /// Those that were greeted in this life; a server that was killed has forgotten all.
    sessions: Mutex<HashSet<String>>,
}

/// Serves until standard input ends; says when it listens.
pub(crate) fn serve(target: Arc<Target>, port: u16) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    let site = Arc::new(Site { target, sessions: Mutex::default() });
    std::thread::spawn(move || {
        for stream in listener.incoming().filter_map(Result::ok) {
            let site = Arc::clone(&site);
            // A connection that breaks concerns nobody else.
            std::thread::spawn(move || site.converse(&stream).unwrap_or_default());
        }
    });
    let mut output = io::stdout();
    output.write_all(b"listening\n")?;
    output.flush()?;
    io::copy(&mut io::stdin().lock(), &mut io::sink()).map(drop)
}

/// The head of a request, as far as anybody looks at it.
#[derive(Default)]
struct Head {
    method: String,
    length: u64,
    session: Option<String>,
}

impl Site {
    fn converse(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let (mut reader, mut writer) = (BufReader::new(stream), stream);
        while let Some(head) = Head::read(&mut reader)? {
            let mut body = Vec::new();
            (&mut reader).take(head.length.min(BODY)).read_to_end(&mut body)?;
            writer.write_all(&self.respond(&head, &body))?;
        }
        Ok(())
    }

    fn respond(&self, head: &Head, body: &[u8]) -> Vec<u8> {
        let (era, known) = (self.target.era, self.knows(head));
        let Ok(request) = serde_json::from_slice::<Value>(body) else {
            return match (head.method.as_str(), era) {
                ("DELETE", Era::Old) if known => response("200 OK", None, ""),
                _ => response("405 Method Not Allowed", None, ""),
            };
        };
        let is_greeting = request.get("method").and_then(Value::as_str) == Some("initialize");
        match (era, &head.session) {
            (Era::Old, None) if !is_greeting => return response("400 Bad Request", None, "session missing"),
            (Era::Old, Some(_)) if !known => return response("404 Not Found", None, "session not found"),
            (Era::Old | Era::New, _) => {}
        }
        let session = (era == Era::Old && is_greeting).then(|| self.open());
        match self.target.answer(&request) {
            Some(answer) => response("200 OK", session.as_deref(), &answer.to_string()),
            None => response("202 Accepted", None, ""),
        }
    }

    fn knows(&self, head: &Head) -> bool {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        head.session.as_ref().is_some_and(|session| sessions.contains(session))
    }

    /// The process is part of its name: no session is known to the server's next life.
    fn open(&self) -> String {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let session = format!("{}-{}", std::process::id(), sessions.len());
        sessions.insert(session.clone());
        session
    }
}

impl Head {
    fn read(reader: &mut impl BufRead) -> io::Result<Option<Self>> {
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

fn response(status: &str, session: Option<&str>, body: &str) -> Vec<u8> {
    let session = session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
    let kind = if body.starts_with('{') { "application/json" } else { "text/plain" };
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{session}\r\n{body}")
        .into_bytes()
}
