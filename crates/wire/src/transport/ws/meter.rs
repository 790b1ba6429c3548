//! Monitors the inbound bytes below the WebSocket library.
//!
//! The library joins fragments and limits their payload, but not their number; and it does not report a large
//! message that arrives slowly.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::fragments::FragmentCounter;

/// The count of inbound bytes. Cheap to clone; all clones share the count.
#[derive(Clone, Debug, Default)]
pub(super) struct ByteMeter(Arc<MeterCounts>);

#[derive(Debug, Default)]
struct MeterCounts {
    total: AtomicU64,
    over: AtomicBool,
}

/// A stream with monitored input.
#[derive(Debug)]
pub(super) struct MeteredStream<S> {
    stream: S,
    fragments: FragmentCounter,
    meter: ByteMeter,
}

impl ByteMeter {
    pub(super) fn wrap_stream<S>(&self, stream: S) -> MeteredStream<S> {
        MeteredStream { stream, fragments: FragmentCounter::default(), meter: self.clone() }
    }

    /// The number of inbound bytes so far.
    pub(super) fn total_bytes(&self) -> u64 {
        self.0.total.load(Ordering::Relaxed)
    }

    /// Whether a message had too many fragments, which is why the stream was broken off.
    pub(super) fn has_too_many_fragments(&self) -> bool {
        self.0.over.load(Ordering::Relaxed)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for MeteredStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        let read = buffer.filled().get(before..).unwrap_or_default();
        self.meter.0.total.fetch_add(read.len() as u64, Ordering::Relaxed);
        if self.fragments.count_bytes(read) {
            self.meter.0.over.store(true, Ordering::Relaxed);
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for MeteredStream<S> {
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
