//! Watches what comes in, below the WebSocket library.
//!
//! The library joins fragments and bounds their payload, but not how many there are; and it tells nothing of a large
//! message that comes slowly.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::fragments::Fragments;

/// What has come in. Cheap to clone; all clones are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Meter(Arc<Seen>);

#[derive(Debug, Default)]
struct Seen {
    total: AtomicU64,
    over: AtomicBool,
}

/// A stream whose input is watched.
#[derive(Debug)]
pub(super) struct Metered<S> {
    stream: S,
    fragments: Fragments,
    meter: Meter,
}

impl Meter {
    pub(super) fn on<S>(&self, stream: S) -> Metered<S> {
        Metered { stream, fragments: Fragments::default(), meter: self.clone() }
    }

    /// How many bytes have come in so far.
    pub(super) fn total(&self) -> u64 {
        self.0.total.load(Ordering::Relaxed)
    }

    /// Whether a message had too many fragments, which is why the stream broke.
    pub(super) fn is_over(&self) -> bool {
        self.0.over.load(Ordering::Relaxed)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        let read = buffer.filled().get(before..).unwrap_or_default();
        self.meter.0.total.fetch_add(read.len() as u64, Ordering::Relaxed);
        if self.fragments.pass(read) {
            self.meter.0.over.store(true, Ordering::Relaxed);
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
