//! Task functions for tests: those of `shuttle` while schedules are explored, otherwise those of `tokio`.

use std::future::Future;

/// Whether a schedule is being explored on this thread.
fn is_exploring() -> bool {
    shuttle::current::try_get_current_task().is_some()
}

pub(super) fn spawn<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    if is_exploring() {
        JoinHandle::Explored(shuttle::future::spawn(work))
    } else {
        JoinHandle::Plain(tokio::spawn(work))
    }
}

/// The used part of `tokio::task::JoinHandle`.
#[derive(Debug)]
pub(super) enum JoinHandle<T> {
    Plain(tokio::task::JoinHandle<T>),
    Explored(shuttle::future::JoinHandle<T>),
}

impl<T> JoinHandle<T> {
    pub(super) fn abort(&self) {
        match self {
            Self::Plain(handle) => handle.abort(),
            Self::Explored(handle) => handle.abort(),
        }
    }

    pub(super) fn is_finished(&self) -> bool {
        match self {
            Self::Plain(handle) => handle.is_finished(),
            Self::Explored(handle) => handle.is_finished(),
        }
    }
}
