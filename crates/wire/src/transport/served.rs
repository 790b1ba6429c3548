//! Serves a client over two byte streams: we are the server.
//!
//! One message per line, as on stdio. The end of the input means that the client is done; open
//! requests then get only a short time to finish.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::line;
use super::queue::SendQueue;
use crate::failure::Failure;
use crate::peer::{Handler, Peer};

/// Timeout for open requests after the end of the input. A response that is almost ready is sent; a request
/// that waits for the user is dropped, so that its cancellation is reported in time.
const LAST_ANSWERS: Duration = Duration::from_millis(50);

/// Timeout for the client to read the last responses.
const LAST_RESPONSE_TIME: Duration = Duration::from_millis(200);

/// Serves a client until its input ends or it stops reading. Requests that are still open then are dropped,
/// which cancels their work; dropping this future drops them too.
pub async fn serve_client(
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
    handler: Arc<dyn Handler>,
) {
    let (queue, outgoing) = SendQueue::new();
    let (stop, stopped) = oneshot::channel();
    let (_peer, inbox) = Peer::new(Box::new(queue), handler);
    let ends = CloseServedOnDrop(inbox.for_server());
    let mut writing = pin!(line::write_lines(outgoing.stop_with(stopped), output));
    let reading = async {
        line::read_lines(input, &ends.0).await;
        // On timeout the open requests are dropped.
        let _late = timeout(LAST_ANSWERS, ends.0.wait_until_idle()).await;
    };
    tokio::select! {
        _ = &mut writing => return,
        () = reading => {}
    }
    ends.0.abort_answers();
    // The aborted tasks end when the runtime polls them; until then their work is not canceled.
    let _late = timeout(LAST_ANSWERS, ends.0.wait_until_idle()).await;
    drop(stop);
    // A client that does not read cannot be helped.
    let _unread = timeout(LAST_RESPONSE_TIME, writing).await;
}

/// Closes the connection when the future ends or is dropped.
struct CloseServedOnDrop(crate::peer::Inbox);

impl Drop for CloseServedOnDrop {
    fn drop(&mut self) {
        self.0.close_connection(&Failure::Closed { exit: None, sent: true });
    }
}
