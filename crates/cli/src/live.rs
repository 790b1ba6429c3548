//! Work that talks to servers: on one thread, until it is done or a signal ends it.
//!
//! A signal ends the work by dropping it, and with it every server it started. A second thread keeps the
//! promise that this is over within a second: the first may stand in a write to a pipe that nobody reads. A
//! second signal ends the program at once. However it ends, the guardians of local servers clean up (L9).

use std::future::Future;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use mcparley::{Host, HostBuilder, Surroundings};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use crate::error::CommandError;
use crate::exit::{self, Code};

/// How long the end may take after a signal (F23).
const GRACE: Duration = Duration::from_millis(900);

/// How long what the dropped work still had to say may take: that its call is cancelled.
const FAREWELL: Duration = Duration::from_millis(50);

/// A signal that ends the program in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    Hangup,
    Interrupt,
    Terminate,
}

impl Signal {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Hangup => "SIGHUP",
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
        }
    }

    pub(crate) fn code(self) -> Code {
        match self {
            Self::Hangup => exit::HANGUP,
            Self::Interrupt => exit::INTERRUPTED,
            Self::Terminate => exit::TERMINATED,
        }
    }
}

/// Does the work, unless a signal comes first: then it is dropped.
///
/// # Errors
/// [`CommandError::Signalled`] after a signal.
pub(crate) fn run<T>(work: impl Future<Output = T>) -> Result<T, CommandError> {
    let signalled = watch()?;
    runtime()?.block_on(until(signalled, work))
}

/// The same with the credentials of the user: tokens that are being renewed are not lost when it ends (A3).
///
/// # Errors
/// [`CommandError::Signalled`] after a signal.
pub(crate) fn run_with<T>(
    surroundings: &Surroundings,
    work: impl Future<Output = T>,
) -> Result<T, CommandError> {
    let signalled = watch()?;
    runtime()?.block_on(async {
        let done = until(signalled, work).await;
        surroundings.accounts().settle().await;
        done
    })
}

/// Does work before there is anything that would have to be ended in order; a signal ends the program as usual.
///
/// # Errors
/// When the system gives no event queue.
pub(crate) fn beforehand<T>(work: impl Future<Output = T>) -> Result<T, CommandError> {
    Ok(runtime()?.block_on(work))
}

/// Starts the host, does the work with it, and ends every server in order, whatever came of the work.
///
/// # Errors
/// What the work says, or [`CommandError::Signalled`] after a signal.
pub(crate) fn with_host<T>(
    host: HostBuilder,
    work: impl AsyncFnOnce(&Host) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let signalled = watch()?;
    runtime()?.block_on(async {
        let host = host.start();
        let done = until(signalled, work(&host)).await;
        if matches!(done, Err(CommandError::Signalled(_))) {
            tokio::time::sleep(FAREWELL).await;
        }
        host.shut_down().await;
        done?
    })
}

async fn until<T>(
    signalled: oneshot::Receiver<Signal>,
    work: impl Future<Output = T>,
) -> Result<T, CommandError> {
    tokio::select! {
        biased;
        Ok(signal) = signalled => Err(CommandError::Signalled(signal)),
        done = work => Ok(done),
    }
}

/// One thread is enough for waiting, and the fastest for small messages.
fn runtime() -> Result<Runtime, CommandError> {
    Builder::new_current_thread().enable_all().build().map_err(|error| CommandError::Unavailable {
        message: format!("the system gives no event queue: {error}"),
        hint: Some("look at the limit of open files: `ulimit -n`".to_owned()),
    })
}

/// Starts to watch for signals. The first is handed over; the program ends with the second one, or when the
/// first has no effect in time.
fn watch() -> Result<oneshot::Receiver<Signal>, CommandError> {
    let unavailable = |error: std::io::Error| CommandError::Unavailable {
        message: format!("signals cannot be watched: {error}"),
        hint: None,
    };
    let runtime = runtime()?;
    // From here on signals wait, so that none falls between this and the thread's first look.
    let listeners = {
        let _inside = runtime.enter();
        Listeners::new().map_err(unavailable)?
    };
    let (sender, receiver) = oneshot::channel();
    let watching = move || runtime.block_on(guard(listeners, sender));
    thread::Builder::new().name("signals".to_owned()).spawn(watching).map_err(unavailable)?;
    Ok(receiver)
}

async fn guard(mut listeners: Listeners, work: oneshot::Sender<Signal>) {
    let first = listeners.next().await;
    // When the work is over nobody listens any more, and there is nothing to wait for.
    if work.send(first).is_err() {
        leave(first);
    }
    let second = tokio::time::timeout(GRACE, listeners.next()).await;
    leave(second.unwrap_or(first));
}

#[expect(clippy::exit, reason = "the main thread did not obey, so its exit code has to be given here")]
fn leave(signal: Signal) {
    std::process::exit(i32::from(signal.code().number));
}

struct Listeners(Vec<(Signal, tokio::signal::unix::Signal)>);

impl Listeners {
    fn new() -> std::io::Result<Self> {
        let ignored = ignored();
        let kinds = [
            (Signal::Hangup, SignalKind::hangup()),
            (Signal::Interrupt, SignalKind::interrupt()),
            (Signal::Terminate, SignalKind::terminate()),
        ];
        // What `nohup` or a shell has switched off stays off.
        let wanted = kinds.into_iter().filter(|(_, kind)| ignored & (1 << (kind.as_raw_value() - 1)) == 0);
        wanted.map(|(name, kind)| Ok((name, signal(kind)?))).collect::<std::io::Result<_>>().map(Self)
    }

    async fn next(&mut self) -> Signal {
        std::future::poll_fn(|context| {
            let came = self
                .0
                .iter_mut()
                .find_map(|(name, listener)| listener.poll_recv(context).is_ready().then_some(*name));
            came.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

/// The signals that were ignored when the program was started, one bit each.
fn ignored() -> u64 {
    let status = mcparley_platform::file::read(std::path::Path::new("/proc/self/status"), 64 * 1024);
    let Ok(Some(status)) = status else { return 0 };
    let mask = status.text.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
