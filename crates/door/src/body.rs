//! Bodies of HTTP responses: a message in parts, or an event stream.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use mcparley_model::limits::DOOR_KEEP_ALIVE;
use mcparley_wire::served_message::ResponseParts;
use tokio::time::{Instant, Sleep};

use crate::event_stream::{DoorStream, EventsLost, NextEvent};
use crate::page::{PageBody, PageEvents};

/// Messages up to this size are copied into one frame, which is cheaper than several.
const COPIED_BYTES: usize = 4096;

/// The body of a response.
#[derive(Debug)]
pub(crate) enum DoorBody {
    /// A body of known length, in parts.
    Full(FrameQueue),
    /// An event stream.
    Events(EventBody),
    /// The event stream of the web page.
    Page(PageEvents),
}

/// Frames that wait to be sent.
#[derive(Debug, Default)]
pub(crate) struct FrameQueue {
    frames: [Bytes; 4],
    next: usize,
}

/// The events of a stream for one connection. Detached from the stream when the connection is gone.
#[derive(Debug)]
pub(crate) struct EventBody {
    stream: Arc<DoorStream>,
    reader: u64,
    queue: FrameQueue,
    keep_alive: Pin<Box<Sleep>>,
}

impl DoorBody {
    /// A body of these bytes.
    pub(crate) fn from_bytes(bytes: impl Into<Bytes>) -> Self {
        Self::Full(FrameQueue::new([bytes.into(), Bytes::new(), Bytes::new(), Bytes::new()]))
    }

    /// A response as one JSON message.
    pub(crate) fn from_parts(parts: ResponseParts) -> Self {
        let ResponseParts { head, result, tail } = parts;
        if head.len() + result.len() <= COPIED_BYTES {
            return Self::from_bytes([head, result, tail].concat());
        }
        Self::Full(FrameQueue::new([head, result, tail, Bytes::new()]))
    }

    /// The events of a stream; `opening` is sent before them.
    pub(crate) fn from_stream(stream: Arc<DoorStream>, opening: Bytes) -> Self {
        let reader = stream.attach_reader();
        Self::for_reader(stream, reader, opening)
    }

    /// The events of a stream after this one.
    ///
    /// # Errors
    /// If they are no longer kept.
    pub(crate) fn resume_stream(stream: Arc<DoorStream>, after: u64) -> Result<Self, EventsLost> {
        let reader = stream.attach_reader_after(after)?;
        Ok(Self::for_reader(stream, reader, Bytes::new()))
    }

    fn for_reader(stream: Arc<DoorStream>, reader: u64, opening: Bytes) -> Self {
        let queue = FrameQueue::new([opening, Bytes::new(), Bytes::new(), Bytes::new()]);
        let keep_alive = Box::pin(tokio::time::sleep(DOOR_KEEP_ALIVE));
        Self::Events(EventBody { stream, reader, queue, keep_alive })
    }
}

impl FrameQueue {
    fn new(frames: [Bytes; 4]) -> Self {
        Self { frames, next: 0 }
    }

    fn next_frame(&mut self) -> Option<Bytes> {
        loop {
            let frame = std::mem::take(self.frames.get_mut(self.next)?);
            self.next += 1;
            if !frame.is_empty() {
                return Some(frame);
            }
        }
    }

    fn remaining(&self) -> usize {
        self.frames.iter().map(Bytes::len).sum()
    }
}

impl EventBody {
    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(frame) = self.queue.next_frame() {
            return Poll::Ready(Some(frame));
        }
        match self.stream.poll_next(self.reader, context) {
            Poll::Ready(NextEvent::Event(number, event)) => {
                let frames = event.into_frames(&self.stream.id_line(number));
                let size: usize = frames.iter().map(Bytes::len).sum();
                self.restart_keep_alive();
                if size <= COPIED_BYTES {
                    return Poll::Ready(Some(Bytes::from(frames.concat())));
                }
                self.queue = FrameQueue::new(frames);
                Poll::Ready(self.queue.next_frame())
            }
            Poll::Ready(NextEvent::End) => Poll::Ready(None),
            Poll::Pending => match self.keep_alive.as_mut().poll(context) {
                Poll::Ready(()) => {
                    self.restart_keep_alive();
                    // Polled again, so that the timer has a waker.
                    context.waker().wake_by_ref();
                    Poll::Ready(Some(Bytes::from_static(b": keep-alive\n\n")))
                }
                Poll::Pending => Poll::Pending,
            },
        }
    }

    fn restart_keep_alive(&mut self) {
        self.keep_alive.as_mut().reset(Instant::now() + DOOR_KEEP_ALIVE);
    }
}

impl Drop for EventBody {
    fn drop(&mut self) {
        self.stream.detach_reader(self.reader);
    }
}

impl Body for DoorBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match self.get_mut() {
            Self::Full(queue) => Poll::Ready(queue.next_frame()),
            Self::Events(events) => events.poll_event(context),
            Self::Page(events) => events.poll_event(context),
        };
        next.map(|frame| frame.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Full(queue) => queue.remaining() == 0,
            Self::Events(_) | Self::Page(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Full(queue) => SizeHint::with_exact(queue.remaining() as u64),
            Self::Events(_) | Self::Page(_) => SizeHint::default(),
        }
    }
}

impl From<PageBody> for DoorBody {
    fn from(body: PageBody) -> Self {
        match body {
            PageBody::Full(bytes) => Self::from_bytes(bytes),
            PageBody::Events(events) => Self::Page(PageEvents::new(events)),
        }
    }
}
