//! The executor behind [`crate::task`] and [`crate::jitter`] in tests: `shuttle` while schedules are
//! explored, else `tokio` as in production.

use std::future::{Future, poll_fn};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use shuttle::rand::RngCore;

/// Whether a schedule is being explored on this thread.
pub(crate) fn is_exploring() -> bool {
    shuttle::current::try_get_current_task().is_some()
}

/// A random number; during exploration it is part of the schedule.
pub(crate) fn number() -> u64 {
    if is_exploring() {
        shuttle::rand::thread_rng().next_u64()
    } else {
        RandomState::new().build_hasher().finish()
    }
}

pub(crate) fn spawn<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    if is_exploring() {
        JoinHandle::Explored(shuttle::future::spawn(work))
    } else {
        JoinHandle::Plain(tokio::spawn(work))
    }
}

/// Substitute for `tokio::task::JoinHandle`.
#[derive(Debug)]
pub(crate) enum JoinHandle<T> {
    Plain(tokio::task::JoinHandle<T>),
    Explored(shuttle::future::JoinHandle<T>),
}

/// The task was aborted or panicked.
#[derive(Debug)]
pub(crate) struct Lost;

impl<T> JoinHandle<T> {
    pub(crate) fn abort(&self) {
        match self {
            Self::Plain(handle) => handle.abort(),
            Self::Explored(handle) => handle.abort(),
        }
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, Lost>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.get_mut() {
            Self::Plain(handle) => pin!(handle).poll(context).map_err(|_| Lost),
            Self::Explored(handle) => pin!(handle).poll(context).map_err(|_| Lost),
        }
    }
}

/// Substitute for the used part of `tokio::task::JoinSet`.
#[derive(Debug)]
pub(crate) struct JoinSet<T>(Vec<JoinHandle<T>>);

impl<T: Send + 'static> JoinSet<T> {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn spawn(&mut self, work: impl Future<Output = T> + Send + 'static) {
        self.0.push(spawn(work));
    }

    pub(crate) fn try_join_next(&mut self) -> Option<Result<T, Lost>> {
        match self.poll_next(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => done,
            Poll::Pending => None,
        }
    }

    pub(crate) async fn join_next(&mut self) -> Option<Result<T, Lost>> {
        poll_fn(|context| self.poll_next(context)).await
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<T, Lost>>> {
        for place in 0..self.0.len() {
            if let Poll::Ready(done) = pin!(&mut self.0[place]).poll(context) {
                drop(self.0.swap_remove(place));
                return Poll::Ready(Some(done));
            }
        }
        if self.0.is_empty() { Poll::Ready(None) } else { Poll::Pending }
    }
}

impl<T> Default for JoinSet<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

/// Substitute for the used part of `tokio::select!`; the branch that is polled first is part of the schedule.
macro_rules! select {
    ($a:pat = $one:expr => $first:expr, $b:pat = $two:expr => $second:expr $(,)?) => {
        match $crate::explore::executor::order(2) {
            None => tokio::select! { $a = $one => { $first }, $b = $two => { $second } },
            Some(0) => tokio::select! { biased; $a = $one => { $first }, $b = $two => { $second } },
            Some(_) => tokio::select! { biased; $b = $two => { $second }, $a = $one => { $first } },
        }
    };
    (
        $a:pat = $one:expr => $first:expr,
        $b:pat = $two:expr => $second:expr,
        $c:pat = $three:expr => $third:expr $(,)?
    ) => {
        match $crate::explore::executor::order(3) {
            None => tokio::select! { $a = $one => { $first }, $b = $two => { $second }, $c = $three => { $third } },
            Some(0) => {
                tokio::select! { biased; $a = $one => { $first }, $b = $two => { $second }, $c = $three => { $third } }
            }
            Some(1) => {
                tokio::select! { biased; $b = $two => { $second }, $c = $three => { $third }, $a = $one => { $first } }
            }
            Some(_) => {
                tokio::select! { biased; $c = $three => { $third }, $a = $one => { $first }, $b = $two => { $second } }
            }
        }
    };
    (
        $a:pat = $one:expr => $first:expr,
        $b:pat = $two:expr => $second:expr,
        $c:pat = $three:expr => $third:expr,
        $d:pat = $four:expr => $fourth:expr $(,)?
    ) => {
        match $crate::explore::executor::order(4) {
            None => tokio::select! {
                $a = $one => { $first }, $b = $two => { $second }, $c = $three => { $third }, $d = $four => { $fourth }
            },
            Some(0) => tokio::select! { biased;
                $a = $one => { $first }, $b = $two => { $second }, $c = $three => { $third }, $d = $four => { $fourth }
            },
            Some(1) => tokio::select! { biased;
                $b = $two => { $second }, $c = $three => { $third }, $d = $four => { $fourth }, $a = $one => { $first }
            },
            Some(2) => tokio::select! { biased;
                $c = $three => { $third }, $d = $four => { $fourth }, $a = $one => { $first }, $b = $two => { $second }
            },
            Some(_) => tokio::select! { biased;
                $d = $four => { $fourth }, $a = $one => { $first }, $b = $two => { $second }, $c = $three => { $third }
            },
        }
    };
}
pub(crate) use select;

/// The branch to poll first; `None` outside of exploration.
pub(crate) fn order(branches: u64) -> Option<u64> {
    is_exploring().then(|| number() % branches)
}
