//! The other way round: a client at the far end of two byte streams, for which we are the server.
//!
//! One message a line, as on every standard stream. The end of the input is the client's word that it is done; what it is
//! still owed then is not worth much of anybody's time.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::line;
use super::queue::Queue;
use crate::failure::Failure;
use crate::peer::{Handler, Peer};

/// How long answers may still take when the client has said its last word. One that is done but for the writing is
/// given; one that waits for somebody is given up, so that this is told in time (F91).
const LAST_ANSWERS: Duration = Duration::from_millis(50);

/// How long the last answers may take to be read by the client.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Answers a client until its input ends or it reads no more. Requests that are still open then are dropped, which
/// cancels what they wait for; dropping this future drops them too.
pub async fn serve(
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
    handler: Arc<dyn Handler>,
) {
    let (queue, outgoing) = Queue::new();
    let (stop, stopped) = oneshot::channel();
    let (_peer, inbox) = Peer::new(Box::new(queue), handler);
    let ends = Ends(inbox.serving());
    let mut writing = pin!(line::write(outgoing.until(stopped), output));
    let reading = async {
        line::read(input, &ends.0).await;
        // In time or not: what is open then is dropped.
        let _late = timeout(LAST_ANSWERS, ends.0.idle()).await;
    };
    tokio::select! {
        _ = &mut writing => return,
        () = reading => {}
    }
    ends.0.drop_answers();
    // They end when the runtime comes to it; until then what they wait for has not heard of it.
    let _late = timeout(LAST_ANSWERS, ends.0.idle()).await;
    drop(stop);
    // One that does not read has no use for more.
    let _unread = timeout(LAST_WORDS, writing).await;
}

/// Ends the conversation however its future ends.
struct Ends(crate::peer::Inbox);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.close(&Failure::Closed { exit: None, sent: true });
    }
}
