//! Bounds, resumption and loss of event streams.

use std::sync::Arc;
use std::time::Duration;

use mcparley_wire::served_message::encode_notification_message;

use serde_json::value::RawValue;

use super::*;
use mcparley_gateway::cluster_link::messages::StreamEntry;

fn text_of(stream: &DoorStream, next: Poll<NextEvent>) -> String {
    match next {
        Poll::Ready(NextEvent::Event(number, event)) => {
            String::from_utf8(event.into_frames(&stream.id_line(number)).concat()).unwrap()
        }
        Poll::Ready(NextEvent::End) => "end".to_owned(),
        Poll::Pending => "pending".to_owned(),
    }
}

fn read(stream: &DoorStream, reader: u64) -> String {
    text_of(stream, stream.poll_next(reader, &Context::from_waker(Waker::noop())))
}

fn notice(number: usize) -> Bytes {
    Bytes::from(format!(r#"{{"n":{number}}}"#))
}

#[test]
fn resumed_stream_replays_the_events_after_the_given_one() {
    let id = RawJson::from_text("7");
    let stream = DoorStream::new(StreamKind::Resumable { has_priming: true }, Some(&id));
    for number in 1..=3 {
        assert_eq!(stream.push_notification(notice(number)), Delivery::Sent);
    }
    let first = stream.attach_reader();
    let events: Vec<String> = (0..4).map(|_| read(&stream, first)).collect();
    assert!(events[0].starts_with("retry: 1000\nid: ") && events[0].ends_with("data: \n\n"), "{events:?}");
    let id = events[1].lines().find_map(|line| line.strip_prefix("id: ")).unwrap();
    let id = EventId::parse(id).unwrap();
    assert_eq!((id.stream, id.event, id.request.unwrap().as_str()), (stream.number(), 1, "7"));
    let second = stream.attach_reader_after(1).unwrap();
    assert_eq!(read(&stream, first), "end", "a second reader replaces the first");
    assert_eq!([read(&stream, second), read(&stream, second)], [events[2].clone(), events[3].clone()]);
    assert_eq!(stream.attach_reader_after(9), Err(EventsLost));
}

#[test]
fn unread_notifications_are_bounded_and_the_newest_progress_stays() {
    let stream = DoorStream::new(StreamKind::Bound, None);
    let progress = |number: u32| {
        let params = RawJson::parse(&format!(r#"{{"progress":{number}}}"#)).unwrap();
        encode_notification_message("notifications/progress", Some(&params))
    };
    stream.push_notification(progress(0));
    for number in 1..DOOR_UNREAD_EVENTS {
        assert_eq!(stream.push_notification(notice(number)), Delivery::Sent);
    }
    assert_eq!(stream.push_notification(notice(0)), Delivery::Dropped);
    assert_eq!(stream.push_notification(progress(99)), Delivery::Sent);
    let reader = stream.attach_reader();
    assert!(read(&stream, reader).contains(r#""progress":99"#));
}

#[test]
fn channel_without_reader_keeps_the_newest_events() {
    let stream = DoorStream::new(StreamKind::Channel, None);
    for number in 0..DOOR_UNREAD_EVENTS + 5 {
        assert_eq!(stream.push_notification(notice(number)), Delivery::Sent);
    }
    let reader = stream.attach_reader();
    assert!(read(&stream, reader).contains(r#"{"n":5}"#));
}

#[test]
fn line_ends_in_a_message_do_not_end_its_event() {
    let stream = DoorStream::new(StreamKind::Bound, None);
    stream.push_notification(Bytes::from_static(b"{\r\n\"a\":1}"));
    let reader = stream.attach_reader();
    assert_eq!(read(&stream, reader), "event: message\ndata: {  \"a\":1}\n\n");
}

// F91
#[tokio::test(start_paused = true)]
async fn lost_connection_ends_a_bound_stream_at_once_and_a_resumable_one_after_a_minute() {
    let bound = DoorStream::new(StreamKind::Bound, None);
    let reader = bound.attach_reader();
    bound.detach_reader(reader);
    tokio::time::timeout(Duration::from_millis(1), bound.wait_until_gone()).await.unwrap();

    let id = RawJson::from_text("1");
    let stream = Arc::new(DoorStream::new(StreamKind::Resumable { has_priming: false }, Some(&id)));
    let waiting = tokio::spawn({
        let stream = Arc::clone(&stream);
        async move { stream.wait_until_gone().await }
    });
    let reader = stream.attach_reader();
    stream.push_notification(notice(1));
    assert!(read(&stream, reader).contains("id: "));
    stream.detach_reader(reader);
    tokio::time::sleep(DOOR_RESUME_TIME / 2).await;
    let again = stream.attach_reader();
    tokio::time::sleep(DOOR_RESUME_TIME * 2).await;
    assert!(!waiting.is_finished(), "a resumed stream goes on");
    stream.detach_reader(again);
    let lost = Instant::now();
    waiting.await.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(lost.elapsed().as_secs(), DOOR_RESUME_TIME.as_secs());
}

// F91: without an event id the client cannot resume, so the call ends at once.
#[tokio::test(start_paused = true)]
async fn lost_connection_ends_a_resumable_stream_that_has_sent_no_event_id_at_once() {
    let id = RawJson::from_text("1");
    let stream = DoorStream::new(StreamKind::Resumable { has_priming: false }, Some(&id));
    let reader = stream.attach_reader();
    stream.detach_reader(reader);
    tokio::time::timeout(Duration::from_millis(1), stream.wait_until_gone()).await.unwrap();
}

fn entry(event: u64, text: &str) -> StreamEntry {
    StreamEntry { event, message: Some(RawValue::from_string(text.to_owned()).unwrap()) }
}

// G9
#[test]
fn mirror_goes_on_after_an_event_leaves_out_repeated_ones_and_notices_a_gap() {
    let request = RawJson::from_text("7");
    let mirror = DoorStream::mirror_of(0xab, Some(&request), 4);
    let reader = mirror.attach_reader();
    for event in [3, 4, 5, 5, 6] {
        mirror.push_entry(&entry(event, &event.to_string())).unwrap();
    }
    mirror.push_entry(&entry(8, "8")).unwrap_err();
    mirror.end();
    let read = [read(&mirror, reader), read(&mirror, reader), read(&mirror, reader)];
    assert!(read[0].contains("id: 00000000000000ab.5.") && read[0].ends_with("data: 5\n\n"), "{read:?}");
    assert!(read[1].ends_with("data: 6\n\n") && read[2] == "end", "{read:?}");
    // A client that loses the mirror reads on there.
    assert_eq!(mirror.attach_reader_after(3), Err(EventsLost));
    assert!(mirror.attach_reader_after(5).is_ok());
}
