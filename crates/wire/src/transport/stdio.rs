//! Stdio transport: a server as a child process that speaks on its standard streams.
//!
//! The process runs under a guardian, so it and all its descendants end with us. Its standard error is always
//! drained and the end of it kept; lines on its standard output that are no messages are counted and skipped.

mod tail;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mcparley_platform::process::{self, GuardedProcess, ProgramLaunch, SpawnError};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::sync::{oneshot, watch};

use super::line;
use super::queue::{OutgoingMessages, SendQueue};
use crate::child::{self, pipe_receiver, pipe_sender, status_stream};
use crate::failure::{ConnectionLoss, Failure, Obstacle, ServerExit};
use crate::handshake::TransportConnection;
use crate::peer::{Handler, Inbox, Peer, StrayCounts, StrayRecord};
use crate::task::OwnedTasks;
use mcparley_platform::thread::run_blocking;
use tail::StderrBuffer;
pub use tail::StderrLines;

/// Time for a process to exit after the end of its output, before it is shut down.
const GRACE: Duration = Duration::from_millis(500);

/// Timeout for the rest of standard error after the end of the process.
const STDERR_TAIL_TIME: Duration = Duration::from_millis(100);

/// Time for remaining responses, or the end of the output, after the process closed its input.
const LAST_ANSWERS: Duration = Duration::from_millis(50);

/// Timeout for sending the queued messages before a shutdown.
const SHUTDOWN_FLUSH_TIME: Duration = Duration::from_millis(100);

/// A running local server.
#[derive(Debug)]
pub struct StdioTransport {
    peer: Peer,
    pid: u32,
    inbox: Inbox,
    stderr: Arc<StderrBuffer>,
    /// Taken to request the shutdown.
    stop: Option<oneshot::Sender<()>>,
    tasks: OwnedTasks,
}

impl std::fmt::Debug for Inbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inbox").field("strays", &self.stray_counts()).finish_non_exhaustive()
    }
}

impl StdioTransport {
    /// Starts the program, without blocking other tasks of this thread while it is loaded.
    ///
    /// # Errors
    /// [`Failure::Refused`] when the program cannot be started.
    pub async fn open(launch: &ProgramLaunch, handler: Arc<dyn Handler>) -> Result<Self, Failure> {
        let not_started = |error: SpawnError| start_failure(&error, spawn_obstacle(&error), error.hint());
        Self::start_session(child::spawn_guarded(launch).await.map_err(not_started)?, handler)
    }

    fn start_session(mut child: GuardedProcess, handler: Arc<dyn Handler>) -> Result<Self, Failure> {
        let system = |error: std::io::Error| start_failure(&error, Obstacle::Resources, None);
        let stdin = pipe_sender(child.take_stdin()).map_err(system)?;
        let stdout = pipe_receiver(child.take_stdout()).map_err(system)?;
        let stderr = pipe_receiver(child.take_stderr()).map_err(system)?;
        let pid = child.pid();

        let (queue, outgoing) = SendQueue::new();
        let (peer, inbox) = Peer::new(Box::new(queue), handler);
        let tail = Arc::new(StderrBuffer::default());
        let (stop, stopped) = oneshot::channel();
        let tasks = OwnedTasks::default();
        let (drained, last_words) = oneshot::channel();
        tasks.spawn(drain_stderr(stderr, Arc::clone(&tail), drained));
        let child = ServerChild {
            child: Some(child),
            inbox: inbox.clone(),
            loss: None,
            last_words: Some(last_words),
        };
        tasks.spawn(supervise_child(child, ChildStreams { stdin, stdout }, outgoing, inbox.clone(), stopped));
        Ok(Self { peer, pid, inbox, stderr: tail, stop: Some(stop), tasks })
    }

    /// Our end of the connection.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// The process id, for display.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The standard error of the server; readable also when the server is gone.
    #[must_use]
    pub fn stderr(&self) -> Stderr {
        Stderr(Arc::clone(&self.stderr))
    }

    /// Counts of output that belonged to no request.
    #[must_use]
    pub fn stray_counts(&self) -> StrayCounts {
        self.inbox.stray_counts()
    }

    /// The stray record, readable also when the server is gone.
    #[must_use]
    pub fn stray_record(&self) -> StrayRecord {
        self.inbox.stray_record()
    }

    /// Shuts the server down gracefully and waits until its whole process tree is gone.
    pub async fn stop(mut self) {
        self.peer.flush(SHUTDOWN_FLUSH_TIME).await;
        if let Some(stop) = self.stop.take() {
            // A closed channel means that the process has ended already.
            let _ended = stop.send(());
        }
        self.peer.wait_until_ended().await;
    }
}

/// The end of a server's standard error. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Stderr(Arc<StderrBuffer>);

impl Stderr {
    /// Adds bytes that another process has read, such as the daemon that runs the server.
    pub fn push_bytes(&self, bytes: &[u8]) {
        self.0.push_bytes(bytes);
    }

    /// Follows the bytes as they arrive; any number of callers may.
    #[must_use]
    pub fn follow(&self) -> StderrFollower {
        StderrFollower { stderr: self.clone(), arrivals: self.0.subscribe(), position: 0 }
    }

    /// Leaves the writing of these lines to a log file to another process that reads them too.
    pub fn leave_logging_to_others(&self) {
        self.0.leave_logging_to_others();
    }

    /// Leaves the log file to this process from now on.
    pub fn take_over_logging(&self) {
        self.0.take_over_logging();
    }

    /// Whether another process writes these lines to the log file.
    #[must_use]
    pub fn is_logged_elsewhere(&self) -> bool {
        self.0.is_logged_elsewhere()
    }

    /// The text so far.
    #[must_use]
    pub fn text(&self) -> String {
        self.0.text()
    }

    /// The time at which each line of the text was read.
    #[must_use]
    pub fn line_times(&self) -> Vec<SystemTime> {
        self.0.line_times()
    }

    /// The lines after a position of the stream, for a reader that has read up to there.
    #[must_use]
    pub fn lines_after(&self, position: u64) -> StderrLines {
        self.0.lines_after(position)
    }

    /// Waits until the server has written since the last wait; only one caller may wait.
    pub async fn wait_for_bytes(&self) {
        self.0.wait_for_bytes().await;
    }
}

/// A reader of standard error with a position of its own.
#[derive(Debug)]
pub struct StderrFollower {
    stderr: Stderr,
    arrivals: watch::Receiver<u64>,
    position: u64,
}

impl StderrFollower {
    /// Skips all bytes that have been read so far.
    pub fn skip_to_end(&mut self) {
        self.position = *self.arrivals.borrow_and_update();
    }

    /// The bytes since the last call, if there are any. Invalid UTF-8 is replaced.
    pub fn take_new(&mut self) -> Option<String> {
        let (text, end) = self.stderr.0.text_after(self.position);
        self.position = end;
        (!text.is_empty()).then_some(text)
    }

    /// Waits for new bytes and returns them. Cancel safe. Never returns once the process is forgotten.
    pub async fn next(&mut self) -> String {
        loop {
            if let Some(text) = self.take_new() {
                return text;
            }
            if self.arrivals.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

impl TransportConnection for StdioTransport {
    fn peer(&self) -> &Peer {
        &self.peer
    }
}

impl Drop for StdioTransport {
    fn drop(&mut self) {
        // Drops the guardian's handle, which kills the tree.
        self.tasks.abort_all();
    }
}

struct ChildStreams {
    stdin: pipe::Sender,
    stdout: pipe::Receiver,
}

/// Supervises the process until its output ends, it exits, or its owner requests the shutdown.
async fn supervise_child(
    mut child: ServerChild,
    streams: ChildStreams,
    outgoing: OutgoingMessages,
    inbox: Inbox,
    mut stopped: oneshot::Receiver<()>,
) {
    let ChildStreams { stdin, stdout } = streams;
    let mut writing = Box::pin(line::write_lines(outgoing, stdin));
    let mut reading = Box::pin(line::read_lines(stdout, &inbox));
    let mut writes = true;
    loop {
        tokio::select! {
            () = &mut reading => return child.shut_down_after(GRACE).await,
            written = &mut writing, if writes => match written {
                Ok(()) => writes = false,
                Err(_) => break,
            },
            () = child.wait_until_gone() => {
                // Earlier output is still in the pipe. A descendant that has escaped may hold the pipe open.
                let _held = tokio::time::timeout(GRACE, &mut reading).await;
                return child.shut_down().await;
            }
            // An owner that is dropped aborts this task instead.
            _ = &mut stopped => {
                drop(writing);
                return child.shut_down().await;
            }
        }
    }
    // A process that exits closes its input too, and then its exit is the reason.
    if tokio::time::timeout(LAST_ANSWERS, &mut reading).await.is_ok() {
        return child.shut_down_after(GRACE).await;
    }
    child.fail_with_loss(ConnectionLoss::InputClosed).await;
}

/// The process, which closes the connection when it ends.
struct ServerChild {
    child: Option<GuardedProcess>,
    inbox: Inbox,
    /// The loss of the connection, if the process has not ended by itself.
    loss: Option<ConnectionLoss>,
    /// Resolves when standard error has been read to its end.
    last_words: Option<oneshot::Receiver<()>>,
}

impl ServerChild {
    /// Waits for the process to exit by itself, then shuts it down.
    async fn shut_down_after(&mut self, grace: Duration) {
        let Some(child) = self.child.as_ref() else { return };
        if let Ok(news) = status_stream(child.status_fd()) {
            // The process has exited or the time is over; both lead to the same next step.
            let _late = tokio::time::timeout(grace, news.readable()).await;
        }
        self.shut_down().await;
    }

    /// Waits until the process is gone, or its guardian.
    async fn wait_until_gone(&mut self) {
        match self.child.as_mut() {
            // Without its status, the end of its output tells.
            Some(child) => match child::wait_for_exit(child).await {
                Ok(exit) if exit == process::ProcessExit::default() => {
                    self.loss = Some(ConnectionLoss::GuardianKilled)
                }
                Ok(_) => {}
                Err(_) => std::future::pending().await,
            },
            None => std::future::pending().await,
        }
    }

    /// Fails every call at once, then shuts the process down.
    async fn fail_with_loss(&mut self, loss: ConnectionLoss) {
        self.loss = Some(loss);
        let exit = Some(ServerExit { loss: Some(loss), ..ServerExit::default() });
        self.inbox.close_connection(&Failure::Closed { exit, sent: true });
        self.shut_down().await;
    }

    async fn shut_down(&mut self) {
        let Some(child) = self.child.take() else { return };
        // Blocks for up to 600 ms, so it must not block other tasks of this thread.
        let ended = run_blocking(move || child.shut_down()).await;
        let exit = ended.map(|exit| ServerExit { code: exit.code, signal: exit.signal, loss: self.loss });
        if let Some(last_words) = self.last_words.take() {
            // Callers show the end of standard error with the failure: its last line is often the reason.
            let _late = tokio::time::timeout(STDERR_TAIL_TIME, last_words).await;
        }
        self.inbox.close_connection(&Failure::Closed { exit, sent: true });
    }
}

impl Drop for ServerChild {
    fn drop(&mut self) {
        if self.child.is_some() {
            self.inbox.close_connection(&Failure::Closed { exit: None, sent: true });
        }
    }
}

async fn drain_stderr(mut stderr: pipe::Receiver, tail: Arc<StderrBuffer>, drained: oneshot::Sender<()>) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(read) = stderr.read(&mut buffer).await {
        let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
        tail.push_bytes(bytes);
    }
    // The receiver is gone when the server was simply dropped.
    let _gone = drained.send(());
}

fn start_failure(error: &impl std::error::Error, obstacle: Obstacle, hint: Option<String>) -> Failure {
    Failure::Refused { obstacle, reason: Arc::from(error.to_string()), hint: hint.map(Arc::from) }
}

fn spawn_obstacle(error: &SpawnError) -> Obstacle {
    match error {
        SpawnError::NotFound { .. } => Obstacle::NoProgram,
        SpawnError::NotExecutable { .. } => Obstacle::NotExecutable,
        SpawnError::Directory { .. } => Obstacle::Directory,
        SpawnError::NoInterpreter { .. } => Obstacle::NoInterpreter,
        SpawnError::BadFormat { .. } => Obstacle::BadFormat,
        SpawnError::WorkingDirectory { .. } => Obstacle::WorkingDirectory,
        SpawnError::Resources { .. } if error.is_descriptor_limit() => Obstacle::Descriptors,
        SpawnError::Resources { .. } => Obstacle::Resources,
        SpawnError::TimedOut { .. } => Obstacle::SlowStart,
        SpawnError::Nul { .. }
        | SpawnError::Variable { .. }
        | SpawnError::VariableNul { .. }
        | SpawnError::ShellFunction { .. }
        | SpawnError::TooLong { .. }
        | SpawnError::Io { .. } => Obstacle::Other,
    }
}
