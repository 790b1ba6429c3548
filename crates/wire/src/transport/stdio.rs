//! A server as a child process that speaks on its standard streams (T1).
//!
//! The process runs under a guardian, so it and all it starts end with us. Its standard error is always
//! drained and its end kept; lines on its standard output that are no messages are counted and skipped.

mod tail;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mcparley_platform::process::{self, Guarded, Launch, SpawnError};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::sync::oneshot;

use super::line;
use super::queue::{Outgoing, Queue};
use crate::child::{self, news, receiver, sender};
use crate::failure::{Exit, Failure, Loss, Obstacle};
use crate::handshake::Carrier;
use crate::peer::{Handler, Inbox, Peer, StrayRecord, Strays};
use crate::task::{Tasks, run_blocking};
use tail::Tail;

/// From the end of its output, how long a process may take to end before it is made to.
const GRACE: Duration = Duration::from_millis(500);

/// How long the end of a process waits for the end of its standard error.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// From the moment it takes no more input, how long its output may still bring answers, or end.
const LAST_ANSWERS: Duration = Duration::from_millis(50);

/// How long what is still to be said may take when its owner wants the end.
const FAREWELL: Duration = Duration::from_millis(100);

/// A running local server.
#[derive(Debug)]
pub struct Stdio {
    peer: Peer,
    pid: u32,
    inbox: Inbox,
    stderr: Arc<Tail>,
    /// Taken to ask for the end.
    stop: Option<oneshot::Sender<()>>,
    tasks: Tasks,
}

impl std::fmt::Debug for Inbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inbox").field("strays", &self.strays()).finish_non_exhaustive()
    }
}

impl Stdio {
    /// Starts the program, without holding up the other servers of this thread while it is loaded.
    ///
    /// # Errors
    /// [`Failure::Refused`] when it cannot be started.
    pub async fn open(launch: &Launch, handler: Arc<dyn Handler>) -> Result<Self, Failure> {
        let not_started = |error: SpawnError| refused(&error, obstacle(&error), error.hint());
        Self::run(child::start(launch).await.map_err(not_started)?, handler)
    }

    fn run(mut child: Guarded, handler: Arc<dyn Handler>) -> Result<Self, Failure> {
        let system = |error: std::io::Error| refused(&error, Obstacle::Resources, None);
        let stdin = sender(child.take_stdin()).map_err(system)?;
        let stdout = receiver(child.take_stdout()).map_err(system)?;
        let stderr = receiver(child.take_stderr()).map_err(system)?;
        let pid = child.pid();

        let (queue, outgoing) = Queue::new();
        let (peer, inbox) = Peer::new(Box::new(queue), handler);
        let tail = Arc::new(Tail::default());
        let (stop, stopped) = oneshot::channel();
        let tasks = Tasks::default();
        let (drained, last_words) = oneshot::channel();
        tasks.spawn(drain(stderr, Arc::clone(&tail), drained));
        let child =
            Child { child: Some(child), inbox: inbox.clone(), loss: None, last_words: Some(last_words) };
        tasks.spawn(live(child, Streams { stdin, stdout }, outgoing, inbox.clone(), stopped));
        Ok(Self { peer, pid, inbox, stderr: tail, stop: Some(stop), tasks })
    }

    /// Our end of the conversation.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// The process, for people.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// What it writes to its standard error; can be looked at also when the server is gone.
    #[must_use]
    pub fn stderr(&self) -> Stderr {
        Stderr(Arc::clone(&self.stderr))
    }

    /// What it wrote that belonged to nobody.
    #[must_use]
    pub fn strays(&self) -> Strays {
        self.inbox.strays()
    }

    /// The same, to be looked at also when the server is gone.
    #[must_use]
    pub fn stray_record(&self) -> StrayRecord {
        self.inbox.stray_record()
    }

    /// Ends it in order (L8) and waits until it and all it started are gone.
    pub async fn stop(mut self) {
        self.peer.flush(FAREWELL).await;
        if let Some(stop) = self.stop.take() {
            // Nobody to tell means that it has ended already.
            let _ended = stop.send(());
        }
        self.peer.ended().await;
    }
}

/// The end of what a server wrote to its standard error.
#[derive(Clone, Debug)]
pub struct Stderr(Arc<Tail>);

impl Stderr {
    /// The text so far.
    #[must_use]
    pub fn text(&self) -> String {
        self.0.text()
    }

    /// When each line of the text was read.
    #[must_use]
    pub fn line_times(&self) -> Vec<SystemTime> {
        self.0.line_times()
    }
}

impl Carrier for Stdio {
    fn peer(&self) -> &Peer {
        &self.peer
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        // Takes the guardian's handle along, which kills the tree.
        self.tasks.abort();
    }
}

struct Streams {
    stdin: pipe::Sender,
    stdout: pipe::Receiver,
}

/// The life of the process: until its output ends, it ends, or its owner wants it to.
async fn live(
    mut child: Child,
    streams: Streams,
    outgoing: Outgoing,
    inbox: Inbox,
    mut stopped: oneshot::Receiver<()>,
) {
    let Streams { stdin, stdout } = streams;
    let mut writing = Box::pin(line::write(outgoing, stdin));
    let mut reading = Box::pin(line::read(stdout, &inbox));
    let mut writes = true;
    loop {
        tokio::select! {
            () = &mut reading => return child.end_after(GRACE).await,
            written = &mut writing, if writes => match written {
                Ok(()) => writes = false,
                Err(_) => break,
            },
            () = child.gone() => {
                // What it said before is still in the pipe. A child that somebody else guards now may hold the pipe open.
                let _held = tokio::time::timeout(GRACE, &mut reading).await;
                return child.shut_down().await;
            }
            // An owner that is gone without a word aborts this task instead.
            _ = &mut stopped => {
                drop(writing);
                return child.shut_down().await;
            }
        }
    }
    // A process that ends closes its input too, and then its end is the reason.
    if tokio::time::timeout(LAST_ANSWERS, &mut reading).await.is_ok() {
        return child.end_after(GRACE).await;
    }
    child.lose(Loss::InputClosed).await;
}

/// The process and the duty to tell its end.
struct Child {
    child: Option<Guarded>,
    inbox: Inbox,
    /// Why it can be talked to no longer, if it has not ended by itself.
    loss: Option<Loss>,
    /// Comes when its standard error has been read to its end.
    last_words: Option<oneshot::Receiver<()>>,
}

impl Child {
    /// Waits for the process to end by itself, then makes it.
    async fn end_after(&mut self, grace: Duration) {
        let Some(child) = self.child.as_ref() else { return };
        if let Ok(news) = news(child.status_fd()) {
            // Either it has ended or its time is over; both lead to the same next step.
            let _late = tokio::time::timeout(grace, news.readable()).await;
        }
        self.shut_down().await;
    }

    /// Waits until the process is gone, or its guardian.
    async fn gone(&mut self) {
        match self.child.as_mut() {
            // Without news of it, its output tells its end.
            Some(child) => match child::ended(child).await {
                Ok(exit) if exit == process::Exit::default() => self.loss = Some(Loss::GuardianKilled),
                Ok(_) => {}
                Err(_) => std::future::pending().await,
            },
            None => std::future::pending().await,
        }
    }

    /// Fails every call at once, then ends the process.
    async fn lose(&mut self, loss: Loss) {
        self.loss = Some(loss);
        let exit = Some(Exit { loss: Some(loss), ..Exit::default() });
        self.inbox.close(&Failure::Closed { exit, sent: true });
        self.shut_down().await;
    }

    async fn shut_down(&mut self) {
        let Some(child) = self.child.take() else { return };
        // Blocks for up to 600 ms, so it must not hold up the other servers of this thread.
        let ended = run_blocking(move || child.shut_down()).await;
        let exit = ended.map(|exit| Exit { code: exit.code, signal: exit.signal, loss: self.loss });
        if let Some(last_words) = self.last_words.take() {
            // Whoever is told the end wants to know the reason, which is often the last line.
            let _late = tokio::time::timeout(LAST_WORDS, last_words).await;
        }
        self.inbox.close(&Failure::Closed { exit, sent: true });
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.child.is_some() {
            self.inbox.close(&Failure::Closed { exit: None, sent: true });
        }
    }
}

async fn drain(mut stderr: pipe::Receiver, tail: Arc<Tail>, drained: oneshot::Sender<()>) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(read) = stderr.read(&mut buffer).await {
        let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
        tail.push(bytes);
    }
    // Nobody listens when the server was simply dropped.
    let _gone = drained.send(());
}

fn refused(error: &impl std::error::Error, obstacle: Obstacle, hint: Option<String>) -> Failure {
    Failure::Refused { obstacle, reason: Arc::from(error.to_string()), hint: hint.map(Arc::from) }
}

fn obstacle(error: &SpawnError) -> Obstacle {
    match error {
        SpawnError::NotFound { .. } => Obstacle::NoProgram,
        SpawnError::NotExecutable { .. } => Obstacle::NotExecutable,
        SpawnError::Directory { .. } => Obstacle::Directory,
        SpawnError::NoInterpreter { .. } => Obstacle::NoInterpreter,
        SpawnError::BadFormat { .. } => Obstacle::BadFormat,
        SpawnError::WorkingDirectory { .. } => Obstacle::WorkingDirectory,
        SpawnError::Resources { .. } if error.is_descriptors() => Obstacle::Descriptors,
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
