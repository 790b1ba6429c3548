//! The memory of streams that can be resumed.

use mcparley_wire::served_message::encode_notification_message;

use super::*;

/// A stream with an event of a MiB, which a client has read.
fn read_stream() -> Arc<DoorStream> {
    let stream = DoorStream::new(StreamKind::Resumable { has_priming: false }, None);
    let reader = stream.attach_reader();
    let params = RawJson::from_text(&format!("\"{}\"", "x".repeat(1_000_000)));
    stream.push_request(encode_notification_message("m", Some(&params)));
    let context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(stream.poll_next(reader, &context).is_ready());
    Arc::new(stream)
}

// F91 G9
#[tokio::test(start_paused = true)]
async fn finished_streams_make_room_oldest_first_and_that_of_a_running_request_stays() {
    let mut streams = ResumableStreams::default();
    let running = read_stream();
    streams.add_stream(&running);
    let finished: Vec<_> = (0..8).map(|_| read_stream()).collect();
    for stream in &finished {
        tokio::time::advance(std::time::Duration::from_secs(1)).await;
        stream.end();
        streams.add_stream(stream);
        assert!(streams.kept_bytes() <= DOOR_SESSION_LOG_BYTES);
    }
    let is_kept = |stream: &Arc<DoorStream>| streams.by_number.contains_key(&stream.number());
    assert!(is_kept(&running), "its client may come back");
    let kept: Vec<bool> = finished.iter().map(is_kept).collect();
    assert_eq!(kept, [false, false, false, false, false, true, true, true]);
}
