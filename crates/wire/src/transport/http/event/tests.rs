//! The SSE grammar by table, and independence of chunking by property.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use proptest::prelude::*;

use super::{Event, EventDecoder, EventTooLarge};

fn all(chunks: &[&[u8]], limit: usize) -> (Vec<Event>, EventDecoder, Result<(), EventTooLarge>) {
    let mut events = EventDecoder::with_limit(limit);
    let mut found = Vec::new();
    let outcome = chunks.iter().try_for_each(|chunk| events.feed(chunk, &mut found));
    (found, events, outcome)
}

fn data(stream: &str) -> Vec<String> {
    let (found, _, outcome) = all(&[stream.as_bytes()], 1000);
    assert_eq!(outcome, Ok(()));
    found.iter().map(|event| String::from_utf8_lossy(&event.data).into_owned()).collect()
}

// B11
#[test]
fn events_are_decoded_after_the_sse_grammar() {
    let cases: &[(&str, &[&str])] = &[
        ("data: a\n\n", &["a"]),
        ("data:a\n\n", &["a"]),
        ("data:  a\n\n", &[" a"]),
        ("data: a\r\rdata: b\r\n\r\ndata: c\n\r\n", &["a", "b", "c"]),
        ("data: a\rdata: b\r\ndata: c\n\n", &["a\nb\nc"]),
        ("\u{feff}data: a\n\n", &["a"]),
        ("\n\u{feff}data: a\n\n", &[]),
        (": data: a\n:\n\ndata: b\n: between\ndata: c\n\n", &["b\nc"]),
        ("data\n\n", &[""]),
        ("data\ndata\n\n", &["\n"]),
        ("event: x\n\n", &[]),
        ("dat: a\nDATA: b\n data: c\n\n", &[]),
        ("data: half", &[]),
        ("data: half\n", &[]),
        ("data: a:b: c\n\n", &["a:b: c"]),
    ];
    for (stream, expected) in cases {
        assert_eq!(data(stream), *expected, "{stream:?}");
    }
}

// B11
#[test]
fn types_ids_and_retry_pauses_follow_the_sse_grammar() {
    let stream = "event: other\nid: 1\ndata: a\n\ndata: b\nid: 2\0\n\nretry: 99999999999999999999999\n";
    let (found, events, _) = all(&[stream.as_bytes()], 1000);
    let names: Vec<&[u8]> = found.iter().map(|event| event.name.as_ref()).collect();
    assert_eq!(names, [b"other".as_slice(), b"message"]);
    assert_eq!(events.last_id().map(AsRef::as_ref), Some(b"1".as_slice()));
    assert_eq!(events.retry_pause(), Some(Duration::from_secs(30)));
    let retry = |stream: &str| all(&[stream.as_bytes()], 1000).1.retry_pause();
    assert_eq!(retry("retry: 1500\n"), Some(Duration::from_millis(1500)));
    assert_eq!(retry("retry: 0\n"), Some(Duration::from_millis(100)), "never a busy loop");
    assert_eq!(retry("retry: -1\nretry: 1s\nretry:\n"), None);
    // An id counts when its event is dispatched, and an empty one resets the last one.
    let last = |stream: &str| all(&[stream.as_bytes()], 1000).1.last_id().cloned();
    assert_eq!(last("id: 1\n"), None);
    assert_eq!(last("id: 1\n\nid\n\n"), None);
}

// B01
#[test]
fn exactly_the_limit_is_an_event_and_one_byte_more_is_not() {
    for (prefix, end) in
        [("data: ", "\n\n"), ("data:", "\r\r"), ("event: message\nid: 7\ndata: ", "\r\n\r\n")]
    {
        let stream = |size: usize| format!("{prefix}{}{end}", "x".repeat(size));
        let (found, _, outcome) = all(&[stream(40).as_bytes()], 40);
        assert_eq!((found.len(), outcome), (1, Ok(())), "{prefix}");
        let (found, _, outcome) = all(&[stream(41).as_bytes()], 40);
        assert_eq!((found.len(), outcome), (0, Err(EventTooLarge)), "{prefix}");
    }
    let (found, _, outcome) = all(&[b"data: abc\ndata: abcd\n\n"], 8);
    assert_eq!((found.len(), outcome), (1, Ok(())), "the line end between counts");
    assert_eq!(all(&[b"data: abcd\ndata: abcd\n\n"], 8).2, Err(EventTooLarge));
}

// F40
#[test]
fn oversized_event_names_and_ids_are_not_stored() {
    let long = "x".repeat(9000);
    let (found, events, _) =
        all(&[format!("event: {long}\nid: 1\ndata: a\n\nid: {long}\ndata: b\n\n").as_bytes()], 20_000);
    assert_eq!(found.iter().map(|event| event.name.len()).collect::<Vec<_>>(), [8 * 1024, 7]);
    assert_eq!(events.last_id().map(AsRef::as_ref), Some(b"1".as_slice()));
}

// F40
#[test]
fn oversized_event_is_an_error_and_earlier_events_are_kept() {
    let stream = format!("data: a\n\ndata: {}", "x".repeat(50));
    let (found, _, outcome) = all(&[stream.as_bytes()], 40);
    assert_eq!((found.len(), outcome), (1, Err(EventTooLarge)));
    // Many short lines are one event too.
    let (found, _, outcome) = all(&["data: abc\n".repeat(20).as_bytes()], 40);
    assert_eq!((found.len(), outcome), (0, Err(EventTooLarge)));
    let comments = ": nothing\n".repeat(1000);
    assert_eq!(data(&comments), Vec::<String>::new());
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("\n".to_owned()),
        Just("\r".to_owned()),
        Just("\r\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("data: ".to_owned()),
        Just("data:".to_owned()),
        Just("event: ping".to_owned()),
        Just("id: 7".to_owned()),
        Just("id: \0".to_owned()),
        Just("retry: 12".to_owned()),
        Just(": comment".to_owned()),
        Just("\u{feff}".to_owned()),
        "[a-z: é]{0,6}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    // F40: any chunking gives the same events.
    #[test]
    fn chunking_changes_nothing(
        pieces in prop::collection::vec(piece(), 0..40),
        cuts in prop::collection::vec(1usize..6, 1..200),
        limit in 5usize..60,
    ) {
        let stream = pieces.concat().into_bytes();
        let mut chunks = Vec::new();
        let mut rest = stream.as_slice();
        for cut in cuts.iter().cycle() {
            if rest.is_empty() { break }
            let (chunk, behind) = rest.split_at((*cut).min(rest.len()));
            chunks.push(chunk);
            rest = behind;
        }
        let (one, whole, outcome) = all(&[&stream], limit);
        let (many, parts, cut_outcome) = all(&chunks, limit);
        prop_assert_eq!((&one, outcome), (&many, cut_outcome));
        prop_assert_eq!(whole.last_id(), parts.last_id());
        prop_assert_eq!(whole.retry_pause(), parts.retry_pause());
    }

    fn check_no_bytes_break_it(pieces in prop::collection::vec(
        prop_oneof![piece().prop_map(String::into_bytes), prop::collection::vec(any::<u8>(), 0..40)], 0..30,
    )) {
        let stream = pieces.concat();
        let (found, _, _) = all(&[&stream], 100);
        FOUND.fetch_add(u32::try_from(found.len()).unwrap(), Ordering::Relaxed);
        prop_assert!(found.iter().all(|event| event.data.len() <= 100));
    }
}

/// Events found in all cases together.
static FOUND: AtomicU32 = AtomicU32::new(0);

// For any input, an event is within its limit.
#[test]
fn no_bytes_break_it() {
    check_no_bytes_break_it();
    assert!(FOUND.load(Ordering::Relaxed) > 0, "no event was found");
}
