//! Runs async work on one thread until it finishes or a signal cancels it.
//!
//! A signal cancels the work by dropping it, and with it every server it started. A second thread guarantees
//! that the program exits within a second, because the first may be blocked in a write to a full pipe. A
//! second signal exits at once. The guardian processes of local servers clean up in every case.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use mcparley::pool::connect::ConnectContext;
use mcparley::{Host, HostBuilder};
use mcparley_platform::process::raise_descriptor_limit;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use crate::error::{CommandError, UnavailableError};
use crate::signal::Signal;

/// The deadline for an orderly exit after a signal.
const GRACE: Duration = Duration::from_millis(900);

/// The time after which signals are watched. Shorter work ends before a user could press a key.
const UNWATCHED: Duration = Duration::from_millis(2);
/// The signals that end a command.
const ALL: [Signal; 3] = [Signal::Hangup, Signal::Interrupt, Signal::Terminate];

/// The time for cancellation messages to reach servers before their connections close.
pub(crate) const CANCEL_FLUSH_TIME: Duration = Duration::from_millis(50);

/// Runs work that waits for the user or for files; a signal cancels it.
///
/// # Errors
/// [`CommandError::Signalled`] after a signal.
pub(crate) fn run_cancelable<T>(work: impl Future<Output = T>) -> Result<T, CommandError> {
    let signalled = watch_signals(&ALL)?;
    build_runtime()?.block_on(finish_or_cancel(signalled, work))
}

/// Runs work that uses the user's credentials, and lets token refreshes finish before it returns.
///
/// A refresh token that rotated at the server but was not stored would sign the user out.
///
/// # Errors
/// [`CommandError::Signalled`] after a signal.
pub(crate) fn run_with_accounts<T>(
    connect_context: &ConnectContext,
    work: impl Future<Output = T>,
) -> Result<T, CommandError> {
    let runtime = build_runtime()?;
    let done = run_until_signal(&runtime, &ALL, work);
    runtime.block_on(connect_context.accounts().finish_pending_writes());
    done
}

/// Runs work without signal handling, before any server is started. A signal ends the program by its default
/// action.
///
/// # Errors
/// [`CommandError::Unavailable`] if the system provides no event queue.
pub(crate) fn run_unguarded<T>(work: impl Future<Output = T>) -> Result<T, CommandError> {
    Ok(build_runtime()?.block_on(work))
}

/// Starts the host, runs the work with it, and shuts down every server, even if the work failed.
///
/// # Errors
/// The error of the work, or [`CommandError::Signalled`] after a signal.
pub(crate) fn run_with_host<T>(
    host: HostBuilder,
    work: impl AsyncFnOnce(&Host) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    run_host_until(&ALL, host, work)
}

/// Like [`run_with_host`], for work that handles Ctrl-C itself.
///
/// # Errors
/// The error of the work, or [`CommandError::Signalled`] after another signal.
pub(crate) fn run_interactive<T>(
    host: HostBuilder,
    work: impl AsyncFnOnce(&Host) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    run_host_until(&[Signal::Hangup, Signal::Terminate], host, work)
}

/// The first signal, as a server that drains sees it.
pub(crate) type StopSignal = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

/// Starts the host on a runtime with several threads, and runs a server with it. The first signal resolves
/// the future that the server gets, so that it can finish its requests; the second exits at once.
///
/// # Errors
/// The error of the work.
pub(crate) fn run_server<T>(
    host: HostBuilder,
    work: impl AsyncFnOnce(&Host, StopSignal) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    raise_descriptors();
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(UnavailableError::EventQueue)?;
    let (host, stop) = {
        let _inside = runtime.enter();
        (host.start(), watch_for_stop(&runtime)?)
    };
    let done = runtime.block_on(work(&host, stop));
    runtime.block_on(host.shut_down());
    done
}

/// Runs the daemon on a runtime with several threads. The first signal resolves the future that it gets, so
/// that it can end its servers; the second exits at once.
///
/// # Errors
/// The error of the work.
pub(crate) fn run_daemon<T>(
    work: impl AsyncFnOnce(StopSignal) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    raise_descriptors();
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(UnavailableError::EventQueue)?;
    let stop = {
        let _inside = runtime.enter();
        watch_for_stop(&runtime)?
    };
    runtime.block_on(work(stop))
}

/// Raises the limit of open descriptors for a program that serves many clients or servers.
pub(crate) fn raise_descriptors() {
    // With the inherited limit, clients above it are refused.
    raise_descriptor_limit().unwrap_or_default();
}

/// Watches for signals: the first resolves the returned future, the second exits at once.
fn watch_for_stop(runtime: &Runtime) -> Result<StopSignal, CommandError> {
    let mut listeners = SignalListeners::new(&ALL).map_err(UnavailableError::Signals)?;
    let (sender, receiver) = oneshot::channel::<()>();
    runtime.spawn(async move {
        listeners.next_signal().await;
        drop(sender);
        exit_by_signal(listeners.next_signal().await);
    });
    Ok(Box::pin(async move { drop(receiver.await) }))
}

fn run_host_until<T>(
    signals: &[Signal],
    host: HostBuilder,
    work: impl AsyncFnOnce(&Host) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let runtime = build_runtime()?;
    let host = {
        let _inside = runtime.enter();
        host.start()
    };
    let done = run_until_signal(&runtime, signals, work(&host));
    runtime.block_on(async {
        if matches!(done, Err(CommandError::Signalled(_))) {
            tokio::time::sleep(CANCEL_FLUSH_TIME).await;
        }
        host.shut_down().await;
    });
    done?
}

/// Starts the host, reads its cached state, and drops it together with all tasks it started.
///
/// # Errors
/// [`CommandError::Unavailable`] if the system provides no event queue.
pub(crate) fn run_with_idle_host<T>(
    host: HostBuilder,
    read: impl FnOnce(&Host) -> T,
) -> Result<T, CommandError> {
    let runtime = build_runtime()?;
    let _inside = runtime.enter();
    Ok(read(&host.start()))
}

/// Runs the work until it finishes or a signal comes. Work that is done at once, such as a list from the
/// cache, starts no thread for signals; until that thread runs, a signal ends the program by its default
/// action.
fn run_until_signal<T>(
    runtime: &Runtime,
    signals: &[Signal],
    work: impl Future<Output = T>,
) -> Result<T, CommandError> {
    let mut work = pin!(work);
    if let Ok(done) = runtime.block_on(async { tokio::time::timeout(UNWATCHED, work.as_mut()).await }) {
        return Ok(done);
    }
    let signalled = watch_signals(signals)?;
    runtime.block_on(finish_or_cancel(signalled, work))
}

async fn finish_or_cancel<T>(
    signalled: oneshot::Receiver<Signal>,
    work: impl Future<Output = T>,
) -> Result<T, CommandError> {
    tokio::select! {
        biased;
        Ok(signal) = signalled => Err(CommandError::Signalled(signal)),
        done = work => Ok(done),
    }
}

/// Builds a single-threaded runtime: one thread is enough for waiting, and the fastest for small messages.
fn build_runtime() -> Result<Runtime, UnavailableError> {
    Builder::new_current_thread().enable_all().build().map_err(UnavailableError::EventQueue)
}

/// Starts the thread that watches for these signals, and returns a receiver of the first one. The program exits on
/// the second signal, or if the first has no effect before the deadline.
fn watch_signals(wanted: &[Signal]) -> Result<oneshot::Receiver<Signal>, UnavailableError> {
    let runtime = build_runtime()?;
    // Registered before the thread starts, so that no signal is lost in between.
    let listeners = {
        let _inside = runtime.enter();
        SignalListeners::new(wanted).map_err(UnavailableError::Signals)?
    };
    let (sender, receiver) = oneshot::channel();
    let watching = move || runtime.block_on(enforce_exit(listeners, sender));
    thread::Builder::new().name("signals".to_owned()).spawn(watching).map_err(UnavailableError::Signals)?;
    Ok(receiver)
}

async fn enforce_exit(mut listeners: SignalListeners, work: oneshot::Sender<Signal>) {
    let first = listeners.next_signal().await;
    // The receiver is gone once the work has finished, so there is no work left to wait for.
    if work.send(first).is_err() {
        exit_by_signal(first);
    }
    let second = tokio::time::timeout(GRACE, listeners.next_signal()).await;
    exit_by_signal(second.unwrap_or(first));
}

#[expect(clippy::exit, reason = "the main thread did not obey, so its exit code has to be given here")]
fn exit_by_signal(signal: Signal) {
    std::process::exit(i32::from(signal.exit_code().number));
}

struct SignalListeners(Vec<(Signal, tokio::signal::unix::Signal)>);

impl SignalListeners {
    fn new(wanted: &[Signal]) -> std::io::Result<Self> {
        let ignored = ignored_signals();
        let kinds = [
            (Signal::Hangup, SignalKind::hangup()),
            (Signal::Interrupt, SignalKind::interrupt()),
            (Signal::Terminate, SignalKind::terminate()),
        ];
        // Signals that `nohup` or a shell set to be ignored stay ignored.
        let is_ignored = |kind: SignalKind| ignored & (1 << (kind.as_raw_value() - 1)) != 0;
        let watched = kinds.into_iter().filter(|(name, kind)| wanted.contains(name) && !is_ignored(*kind));
        watched.map(|(name, kind)| Ok((name, signal(kind)?))).collect::<std::io::Result<_>>().map(Self)
    }

    async fn next_signal(&mut self) -> Signal {
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

/// The bit mask of signals that were ignored when the program started.
fn ignored_signals() -> u64 {
    let status = mcparley_platform::file::read_text(std::path::Path::new("/proc/self/status"), 64 * 1024);
    let Ok(Some(status)) = status else { return 0 };
    let mask = status.text.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
