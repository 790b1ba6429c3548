//! The connections of a client over HTTP, on TCP or a Unix socket.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::net::{TcpStream, UnixStream};

/// The gateway closes a connection that was idle for ten seconds, so an older one is not used again.
const IDLE_TIME: Duration = Duration::from_secs(5);

/// The address of a door.
#[derive(Clone, Debug)]
pub(crate) enum DoorPlace {
    Tcp(SocketAddr),
    Unix(Arc<Path>),
}

trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// A client's connection.
pub(crate) struct HttpLink {
    place: DoorPlace,
    stream: Option<BufReader<Box<dyn ByteStream>>>,
    used: Instant,
}

/// The response to a POST.
pub(crate) enum HttpAnswer {
    /// A response without a message.
    Empty(u16),
    Message(Value),
    /// An event stream, read by [`HttpLink::next_event`].
    Events(EventBuffer),
}

/// The part of an event stream that is not parsed yet.
#[derive(Default)]
pub(crate) struct EventBuffer(String);

impl HttpLink {
    pub(crate) fn new(place: DoorPlace) -> Self {
        Self { place, stream: None, used: Instant::now() }
    }

    /// Sends a POST with these header lines.
    pub(crate) async fn send_post(&mut self, headers: &str, body: &Value) -> io::Result<()> {
        if self.used.elapsed() > IDLE_TIME {
            self.stream = None;
        }
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => BufReader::new(self.place.connect().await?),
        };
        let body = body.to_string();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n{headers}\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).await?;
        self.stream = Some(stream);
        self.used = Instant::now();
        Ok(())
    }

    /// Closes the connection.
    pub(crate) fn close_connection(&mut self) {
        self.stream = None;
    }

    /// Reads the head of the response, and its body unless it is an event stream. Returns the session id too.
    pub(crate) async fn receive_answer(&mut self) -> io::Result<(HttpAnswer, Option<String>)> {
        let stream = self.stream.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let status: u16 = line
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .ok_or(io::ErrorKind::InvalidData)?;
        let (mut length, mut is_events, mut session) = (0_usize, false, None);
        loop {
            line.clear();
            stream.read_line(&mut line).await?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().map_err(io::Error::other)?,
                "content-type" => is_events = value.contains("event-stream"),
                "mcp-session-id" => session = Some(value.trim().to_owned()),
                _ => {}
            }
        }
        self.used = Instant::now();
        if is_events {
            return Ok((HttpAnswer::Events(EventBuffer::default()), session));
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await?;
        match serde_json::from_slice(&body) {
            Ok(message) => Ok((HttpAnswer::Message(message), session)),
            Err(_) => Ok((HttpAnswer::Empty(status), session)),
        }
    }

    /// The next message of an event stream; `None` at its end.
    pub(crate) async fn next_event(&mut self, buffer: &mut EventBuffer) -> io::Result<Option<Value>> {
        let stream = self.stream.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        loop {
            if let Some(event) = buffer.take_event() {
                match event
                    .lines()
                    .find_map(|line| line.strip_prefix("data: "))
                    .filter(|data| !data.is_empty())
                {
                    Some(data) => return Ok(Some(serde_json::from_str(data)?)),
                    None => continue,
                }
            }
            let mut line = String::new();
            if stream.read_line(&mut line).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let size = usize::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
            let mut chunk = vec![0; size + 2];
            stream.read_exact(&mut chunk).await?;
            self.used = Instant::now();
            if size == 0 {
                return Ok(None);
            }
            chunk.truncate(size);
            buffer.0 += &String::from_utf8(chunk).map_err(io::Error::other)?;
        }
    }
}

impl EventBuffer {
    fn take_event(&mut self) -> Option<String> {
        let end = self.0.find("\n\n")?;
        let rest = self.0.split_off(end + 2);
        Some(std::mem::replace(&mut self.0, rest))
    }
}

impl DoorPlace {
    async fn connect(&self) -> io::Result<Box<dyn ByteStream>> {
        Ok(match self {
            Self::Tcp(address) => {
                let stream = TcpStream::connect(address).await?;
                stream.set_nodelay(true)?;
                Box::new(stream)
            }
            Self::Unix(path) => Box::new(UnixStream::connect(path).await?),
        })
    }
}
