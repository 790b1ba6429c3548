//! A server behind Streamable HTTP, on loopback. Each request has a connection and a thread of its own.

use std::io::{self, BufReader, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::Value;

use super::Wire;
use super::http_response::{EventStream, read_head};

/// A client of a server's URL.
#[derive(Debug)]
pub(crate) struct HttpWire {
    messages: Receiver<String>,
    site: Arc<HttpSite>,
}

/// The state that the threads of a client share.
#[derive(Debug)]
struct HttpSite {
    /// Host and port.
    authority: String,
    path: String,
    session: Mutex<Option<String>>,
    version: Mutex<Option<String>>,
    sender: Mutex<Sender<String>>,
    /// The open connections, which end with the client.
    open: Mutex<Vec<TcpStream>>,
}

impl HttpWire {
    pub(crate) fn new(url: &str) -> io::Result<Self> {
        let rest = url.strip_prefix("http://").ok_or_else(|| io::Error::other("the URL is not `http://`"))?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (sender, messages) = channel();
        let site = HttpSite {
            authority: authority.to_owned(),
            path: format!("/{path}"),
            session: Mutex::default(),
            version: Mutex::default(),
            sender: Mutex::new(sender),
            open: Mutex::default(),
        };
        Ok(Self { messages, site: Arc::new(site) })
    }
}

impl Wire for HttpWire {
    fn send(&mut self, message: &Value, headers: &[(String, String)]) -> io::Result<()> {
        let (site, body, headers) = (Arc::clone(&self.site), message.to_string(), headers.to_vec());
        let is_request = message.get("method").is_some() && message.get("id").is_some();
        let stream = site.begin("POST", &headers, &body)?;
        let work = move || {
            // The client sees a lost connection as a missing answer.
            site.follow(stream, is_request).unwrap_or_default();
        };
        if is_request {
            thread::spawn(work);
        } else {
            work();
        }
        Ok(())
    }

    fn open_shared_stream(&mut self, version: &str) -> io::Result<()> {
        *lock(&self.site.version) = Some(version.to_owned());
        let site = Arc::clone(&self.site);
        let stream = site.begin("GET", &[], "")?;
        thread::spawn(move || site.follow(stream, false).unwrap_or_default());
        Ok(())
    }

    fn messages(&self) -> &Receiver<String> {
        &self.messages
    }
}

impl Drop for HttpWire {
    fn drop(&mut self) {
        for stream in lock(&self.site.open).drain(..) {
            // A connection that the server has closed cannot be shut down, which is fine.
            stream.shutdown(Shutdown::Both).unwrap_or_default();
        }
    }
}

impl HttpSite {
    /// Writes a request.
    fn begin(&self, method: &str, headers: &[(String, String)], body: &str) -> io::Result<TcpStream> {
        let mut stream = TcpStream::connect(&self.authority)?;
        stream.set_nodelay(true)?;
        lock(&self.open).push(stream.try_clone()?);
        let mut head = format!("{method} {} HTTP/1.1\r\nHost: {}\r\n", self.path, self.authority);
        head.push_str("Accept: application/json, text/event-stream\r\nConnection: close\r\n");
        let own = [("Mcp-Session-Id", &self.session), ("MCP-Protocol-Version", &self.version)];
        for (name, value) in own {
            if let Some(value) = lock(value).as_deref() {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if method == "POST" {
            head.push_str(&format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()));
        }
        stream.write_all(format!("{head}\r\n{body}").as_bytes())?;
        Ok(stream)
    }

    /// Forwards the messages of a response. A stream that ends before the answer is resumed.
    fn follow(&self, stream: TcpStream, is_request: bool) -> io::Result<()> {
        let mut stream = stream;
        loop {
            let mut reader = BufReader::new(stream);
            let head = read_head(&mut reader)?;
            if let Some(session) = head.header("mcp-session-id") {
                *lock(&self.session) = Some(session.to_owned());
            }
            let is_stream = head.header("content-type").is_some_and(|it| it.starts_with("text/event-stream"));
            let mut body = head.into_body(reader);
            if !is_stream {
                let mut text = String::new();
                io::Read::read_to_string(&mut body, &mut text)?;
                if is_request {
                    self.forward(text);
                }
                return Ok(());
            }
            let (mut events, mut is_answered) = (EventStream::new(body), false);
            while let Some(event) = events.next_event()? {
                is_answered |= is_answer(&event);
                self.forward(event);
            }
            match events.last_id() {
                Some(id) if is_request && !is_answered => {
                    stream = self.begin("GET", &[("Last-Event-ID".to_owned(), id.to_owned())], "")?;
                }
                _ => return Ok(()),
            }
        }
    }

    fn forward(&self, message: String) {
        // The receiver is gone when the comparison is over.
        lock(&self.sender).send(message).unwrap_or_default();
    }
}

fn is_answer(message: &str) -> bool {
    let value: Value = serde_json::from_str(message).unwrap_or_default();
    value.get("result").is_some() || value.get("error").is_some()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
