//! The client's side of attaching: starts and asks the daemon.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use mcparley_model::limits::{ATTACH_ANSWER_TIME, ATTACH_LINE_BYTES, DAEMON_START_TIME};
use mcparley_wire::transport::stdio::Stderr;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{Instant, timeout};

use super::health::DaemonHealth;
use super::protocol::{AttachRequest, AttachedCopy, ClientHello, DaemonLine};
use super::socket::DaemonSocket;
use crate::started_process::StartedProcess;

/// The pause between two looks for the socket of a daemon that is starting.
const START_PAUSE: Duration = Duration::from_millis(2);

/// Starts the daemon in the background; returns an error text if it cannot be started.
pub type DaemonStarter = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;

/// The link of a client to the daemon. Cheap to clone; clones share it.
#[derive(Clone)]
pub struct DaemonLink {
    inner: Arc<LinkInner>,
}

struct LinkInner {
    socket: DaemonSocket,
    session: String,
    starter: Option<DaemonStarter>,
    health: Mutex<DaemonHealth>,
    /// The reason why this process starts servers itself, once there is one.
    fallback: OnceLock<String>,
    /// Called with that reason, once.
    on_fallback: Arc<dyn Fn(&str) + Send + Sync>,
}

/// A server of the daemon, ready to speak MCP.
#[derive(Debug)]
pub struct AttachedServer {
    /// The stream from the server.
    pub input: BufReader<OwnedReadHalf>,
    /// The stream to the server.
    pub output: OwnedWriteHalf,
    /// The copy of the server.
    pub copy: AttachedCopy,
    /// The standard error of the server.
    pub stderr: Stderr,
}

/// The reason why there is no server of the daemon.
enum AttachFailure {
    /// There is no daemon, or it does not answer.
    NoDaemon(String),
    /// The daemon has ended since it was connected.
    Ended(io::Error),
    /// The daemon cannot start the server.
    NoServer,
}

impl DaemonLink {
    /// A link to the daemon at this socket, for this session of the client. `on_fallback` gets the reason why
    /// servers are started here instead, once.
    pub fn new(
        socket: DaemonSocket,
        session: &str,
        on_fallback: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        let inner = LinkInner {
            socket,
            session: session.to_owned(),
            starter: None,
            health: Mutex::default(),
            fallback: OnceLock::new(),
            on_fallback: Arc::new(on_fallback),
        };
        Self { inner: Arc::new(inner) }
    }

    /// This link with a way to start the daemon if none is running.
    #[must_use]
    pub fn with_starter(self, starter: DaemonStarter) -> Self {
        let Self { inner } = self;
        let LinkInner { socket, session, on_fallback, .. } = &*inner;
        let inner = LinkInner {
            socket: socket.clone(),
            session: session.clone(),
            starter: Some(starter),
            health: Mutex::default(),
            fallback: OnceLock::new(),
            on_fallback: Arc::clone(on_fallback),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The session of the client.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.inner.session
    }

    /// Asks the daemon for a server, and records its process in `process`. `None` if the caller has to start
    /// the server itself: there is no daemon, or the daemon cannot start it either, in which case the caller
    /// finds out the reason by itself.
    pub async fn attach(&self, request: AttachRequest, process: &StartedProcess) -> Option<AttachedServer> {
        let hello = ClientHello::Attach(Box::new(request));
        let mut attached = self.try_attach(&hello, process).await;
        if let Err(AttachFailure::Ended(_)) = attached {
            // It ended in this moment, of itself or by force: the next one takes its clients.
            attached = self.try_attach(&hello, process).await;
        }
        match attached {
            Ok(attached) => Some(attached),
            Err(AttachFailure::NoServer) => None,
            Err(AttachFailure::NoDaemon(reason)) => {
                self.report_fallback(&reason);
                None
            }
            Err(AttachFailure::Ended(error)) => {
                self.report_fallback(&format!("its connection broke: {error}"));
                None
            }
        }
    }

    async fn try_attach(
        &self,
        hello: &ClientHello,
        process: &StartedProcess,
    ) -> Result<AttachedServer, AttachFailure> {
        let stream = self.connect().await.map_err(AttachFailure::NoDaemon)?;
        let (input, mut output) = stream.into_split();
        let mut input = BufReader::new(input);
        // A daemon that refuses does not wait for the line, and its answer can still be read.
        let sent = send_line(&mut output, hello).await;
        match timeout(ATTACH_ANSWER_TIME, read_line(&mut input)).await {
            Ok(Ok(DaemonLine::Welcome { .. })) => {}
            Ok(Ok(DaemonLine::Refused { reason })) => {
                return Err(AttachFailure::NoDaemon(reason.as_str().to_owned()));
            }
            Ok(Ok(_)) => return Err(AttachFailure::NoDaemon("it sent an unexpected line".to_owned())),
            Ok(Err(error)) => return Err(broken_connection(sent.err().unwrap_or(error))),
            Err(_) => {
                return Err(AttachFailure::NoDaemon(self.note_silence("it does not answer".to_owned())));
            }
        }
        let stderr = Stderr::default();
        loop {
            match read_line(&mut input).await.map_err(broken_connection)? {
                DaemonLine::Started { process: id } => process.set_process(id, stderr.clone()),
                DaemonLine::Stderr { text } => stderr.push_bytes(text.as_bytes()),
                DaemonLine::Attached(copy) => {
                    if !copy.logs {
                        stderr.leave_logging_to_others();
                    }
                    if let Some(id) = copy.process {
                        process.set_process(id, stderr.clone());
                    }
                    return Ok(AttachedServer { input, output, copy, stderr });
                }
                DaemonLine::Failed { .. } => return Err(AttachFailure::NoServer),
                DaemonLine::Refused { reason } => {
                    return Err(AttachFailure::NoDaemon(reason.as_str().to_owned()));
                }
                DaemonLine::Welcome { .. } => {}
            }
        }
    }

    /// Connects to the daemon, and starts it first if none is running.
    async fn connect(&self) -> Result<UnixStream, String> {
        let LinkInner { socket, starter, .. } = &*self.inner;
        if let Some(reason) = self.lock_health().recent_silence() {
            return Err(reason);
        }
        let error = match socket.open_stream().await {
            Ok(stream) => return Ok(stream),
            Err(error) => error,
        };
        let Some(starter) = starter.as_ref().filter(|_| error.is_absent()) else {
            return Err(format!("it cannot be reached: {error}"));
        };
        // Held until the daemon listens.
        let start = socket.lock_start().filter(|_| self.lock_health().begin_start());
        if start.is_some() {
            starter().map_err(|error| self.note_silence(error))?;
        }
        let deadline = Instant::now() + DAEMON_START_TIME;
        loop {
            match socket.open_stream().await {
                Ok(stream) => return Ok(stream),
                Err(error) if Instant::now() >= deadline => {
                    return Err(self.note_silence(format!("it did not start: {error}")));
                }
                Err(_) => tokio::time::sleep(START_PAUSE).await,
            }
        }
    }

    /// Remembers for some seconds that the daemon cannot be used; returns the reason.
    fn note_silence(&self, reason: String) -> String {
        self.lock_health().note_silence(&reason);
        reason
    }

    fn lock_health(&self) -> MutexGuard<'_, DaemonHealth> {
        // Every change is a single step, so a panic leaves it consistent.
        self.inner.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn report_fallback(&self, reason: &str) {
        if self.inner.fallback.set(reason.to_owned()).is_ok() {
            (self.inner.on_fallback)(reason);
        }
    }
}

impl std::fmt::Debug for DaemonLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DaemonLink").field("socket", &self.inner.socket).finish_non_exhaustive()
    }
}

/// The failure of a connection that broke: the daemon has ended, or its line cannot be read.
fn broken_connection(error: io::Error) -> AttachFailure {
    let ends = [io::ErrorKind::UnexpectedEof, io::ErrorKind::ConnectionReset, io::ErrorKind::BrokenPipe];
    match ends.contains(&error.kind()) {
        true => AttachFailure::Ended(error),
        false => AttachFailure::NoDaemon(format!("its connection broke: {error}")),
    }
}

async fn send_line(output: &mut OwnedWriteHalf, hello: &ClientHello) -> io::Result<()> {
    let mut line = serde_json::to_vec(hello)?;
    line.push(b'\n');
    output.write_all(&line).await
}

/// Reads the next line of the daemon, without the bytes after it.
async fn read_line(input: &mut BufReader<OwnedReadHalf>) -> io::Result<DaemonLine> {
    let mut line = Vec::new();
    input.take(ATTACH_LINE_BYTES).read_until(b'\n', &mut line).await?;
    if line.last() != Some(&b'\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_slice(&line)?)
}
