//! Keep-alive and silence, with a paused clock.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::time::{Instant, sleep};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::*;
use crate::peer::{Peer, PingHandler};
use crate::transport::queue::SendQueue;

/// Reads until the end; returns the time it took.
async fn read(stream: DuplexStream, ping: &Notify) -> (Failure, Duration) {
    let meter = ByteMeter::default();
    let mut incoming = WebSocketStream::from_raw_socket(meter.wrap_stream(stream), Role::Client, None).await;
    let (queue, _outgoing) = SendQueue::new();
    let (_peer, inbox) = Peer::new(Box::new(queue), Arc::new(PingHandler));
    let start = Instant::now();
    let reader = SocketReader { incoming: &mut incoming, meter: &meter, inbox: &inbox, ping };
    (reader.read_until_end().await.failure, start.elapsed())
}

// F57
#[tokio::test(start_paused = true)]
async fn silent_server_is_pinged_once_and_then_given_up() {
    let (ours, _theirs) = tokio::io::duplex(64);
    let ping = Notify::new();
    let asked = async {
        let start = Instant::now();
        ping.notified().await;
        start.elapsed()
    };
    let ((failure, after), asked) = tokio::join!(read(ours, &ping), asked);
    assert!(matches!(failure, Failure::Closed { sent: true, .. }), "{failure:?}");
    assert_eq!((asked, after), (PING_AFTER, PING_AFTER + PONG_WITHIN));
}

// F57
#[tokio::test(start_paused = true)]
async fn pong_restarts_the_keep_alive_timer() {
    let (ours, mut theirs) = tokio::io::duplex(64);
    let ping = Notify::new();
    let answering = async {
        for _ in 0..100 {
            ping.notified().await;
            sleep(Duration::from_secs(29)).await;
            theirs.write_all(&[0x8a, 0]).await.unwrap();
        }
        theirs
    };
    let ((_, after), _theirs) = tokio::join!(read(ours, &ping), answering);
    assert_eq!(after, 100 * (PING_AFTER + Duration::from_secs(29)) + PING_AFTER + PONG_WITHIN);
}

// F57
#[tokio::test(start_paused = true)]
async fn slow_large_message_does_not_count_as_silence() {
    let (ours, mut theirs) = tokio::io::duplex(64);
    let ping = Notify::new();
    let trickling = async {
        // A text frame of 200 bytes, sent one byte at a time and never completed.
        theirs.write_all(&[0x81, 126, 0, 200]).await.unwrap();
        for _ in 0..100 {
            sleep(Duration::from_secs(29)).await;
            theirs.write_all(b" ").await.unwrap();
        }
        theirs
    };
    let ((_, after), _theirs) = tokio::join!(read(ours, &ping), trickling);
    let last = Duration::from_secs(100 * 29);
    assert!(after >= last + PONG_WITHIN && after <= last + PING_AFTER + 2 * PONG_WITHIN, "{after:?}");
}
