//! One turn as a stream of events.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::Stream;
use tokio::sync::mpsc;

use super::Conversation;
use crate::event::{ConversationEvent, EventSink};
use crate::input::UserInput;

/// The number of events that wait for the reader. The turn waits while there are more, so a slow terminal
/// slows the stream of the model down.
const EVENTS: usize = 64;

/// A turn of a conversation: a stream of events that ends with [`ConversationEvent::Finished`] or
/// [`ConversationEvent::Failed`]. The turn makes progress only while it is polled; dropping it cancels it.
pub struct ConversationTurn<'c> {
    /// The work of the turn; `None` once it is done.
    work: Option<Pin<Box<dyn Future<Output = ()> + Send + 'c>>>,
    events: mpsc::Receiver<ConversationEvent>,
}

impl<'c> ConversationTurn<'c> {
    pub(super) fn new(conversation: &'c mut Conversation, input: UserInput) -> Self {
        let (sender, events) = mpsc::channel(EVENTS);
        let work = async move {
            let sink = EventSink::new(sender);
            let last = match conversation.run_rounds(input, &sink).await {
                Ok(summary) => ConversationEvent::Finished(summary),
                Err(error) => ConversationEvent::Failed(error),
            };
            sink.send(last).await;
        };
        Self { work: Some(Box::pin(work)), events }
    }

    /// The next event; `None` after the last one.
    pub async fn next(&mut self) -> Option<ConversationEvent> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl Stream for ConversationTurn<'_> {
    type Item = ConversationEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Poll::Ready(Some(event)) = self.events.poll_recv(context) {
            return Poll::Ready(Some(event));
        }
        if let Some(work) = &mut self.work
            && work.as_mut().poll(context).is_ready()
        {
            self.work = None;
        }
        // The sender is gone once the work is done, which ends the stream.
        self.events.poll_recv(context)
    }
}

impl fmt::Debug for ConversationTurn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConversationTurn").field("is_done", &self.work.is_none()).finish_non_exhaustive()
    }
}
