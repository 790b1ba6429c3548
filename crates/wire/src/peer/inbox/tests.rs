//! The call that an oversized line fails, and the calls that a server may end.

use tokio::sync::mpsc;

use super::*;
use crate::peer::{BoxedFuture, Outbound, PeerCallOptions, PingHandler, RequestTicket};

/// Reports the sent message and drops it.
struct Sent(mpsc::UnboundedSender<()>);

impl Outbound for Sent {
    fn send(&self, _message: Bytes, _ticket: Option<RequestTicket>) -> BoxedFuture<'_, Result<(), Failure>> {
        // The test may have ended.
        let _gone = self.0.send(());
        Box::pin(std::future::ready(Ok(())))
    }

    fn send_or_drop(&self, _message: Bytes) -> bool {
        true
    }
}

async fn after(frames: Vec<Frame>) -> [bool; 2] {
    let (sender, mut sent) = mpsc::unbounded_channel();
    let (peer, inbox) = Peer::new(Box::new(Sent(sender)), Arc::new(PingHandler));
    let calls = [peer.prepare_request(), peer.prepare_request()]
        .map(|call| tokio::spawn(async move { call.call("x", None, PeerCallOptions::default()).await }));
    for _ in 0..2 {
        sent.recv().await.unwrap();
    }
    for frame in frames {
        inbox.deliver_frame(frame);
    }
    tokio::task::yield_now().await;
    let failed = calls.each_ref().map(tokio::task::JoinHandle::is_finished);
    calls.iter().for_each(tokio::task::JoinHandle::abort);
    failed
}

// B01 B02 K7
#[tokio::test]
async fn an_oversized_line_fails_the_call_it_names_and_no_other() {
    let (one, none) = (Bytes::from_static(br#"{"id":1,"result":""#), Bytes::from_static(br#"{"result":""#));
    let two = Bytes::from_static(br#"x","id":2}}"#);
    let line = |head: &Bytes| {
        vec![
            Frame::TooLong { head: head.clone() },
            Frame::TooLongEnd { head: head.clone(), tail: two.clone() },
        ]
    };
    assert_eq!(after(line(&one)).await, [true, false], "what is nested in it names nobody");
    assert_eq!(after(line(&none)).await, [false, true]);
}

// K3: a server may end only subscriptions.
#[tokio::test]
async fn a_server_cannot_end_a_call_of_ours_by_cancelling_it() {
    let cancelled = |id: &str| {
        let params = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        );
        Frame::Line(Bytes::from(params))
    };
    let frames = ["1", "2", "\"1\"", "1.0"].map(cancelled).into();
    assert_eq!(after(frames).await, [false, false], "they wait for their answers");
    let answer = Frame::Line(Bytes::from_static(br#"{"jsonrpc":"2.0","id":2,"result":{}}"#));
    assert_eq!(after(vec![cancelled("2"), answer]).await, [false, true]);
}
