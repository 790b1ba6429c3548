//! Oracle of the decoder of server-sent events.
//!
//! Any chunking gives the events of a plain reading of the standard (HTML, 9.2.6), with the same last id and
//! reconnect pause. With a limit, the events are the first of those, and none is longer than the limit.

use std::time::Duration;

use mcparley_wire::transport::http::event::{Event, EventDecoder};

use crate::chunks::cut_variants;

/// A limit that no input of the fuzzer reaches.
const NO_LIMIT: usize = 1 << 24;

/// Limits that most inputs reach.
const LIMITS: [usize; 2] = [3, 40];

/// The length from which names and ids are shortened or ignored; longer inputs are not compared with the
/// reference.
const WORD_BYTES: usize = 8 * 1024;

/// Checks an event stream.
pub fn check_events(data: &[u8]) {
    let whole = decode(&[data], NO_LIMIT);
    assert!(whole.is_complete, "nothing exceeds the limit");
    if data.len() <= WORD_BYTES {
        assert_eq!(whole, read_plainly(data), "the reference reads the same");
    }
    for limit in LIMITS.into_iter().chain([NO_LIMIT]) {
        let limited = decode(&[data], limit);
        for chunks in cut_variants(data) {
            assert_eq!(decode(&chunks, limit), limited, "chunking changes nothing");
        }
        let first = whole.events.get(..limited.events.len());
        assert_eq!(first, Some(limited.events.as_slice()), "a limit only ends the stream");
        assert!(limited.events.iter().all(|event| event.data.len() <= limit));
        if limited.is_complete {
            assert_eq!(limited, whole);
        }
    }
}

/// Everything that is learned from a stream.
#[derive(Debug, PartialEq)]
struct DecodedStream {
    events: Vec<Event>,
    last_id: Vec<u8>,
    pause: Option<Duration>,
    is_complete: bool,
}

fn decode(chunks: &[&[u8]], limit: usize) -> DecodedStream {
    let mut decoder = EventDecoder::with_limit(limit);
    let mut events: Vec<Event> = Vec::new();
    let is_complete = chunks.iter().all(|chunk| decoder.feed(chunk, &mut events).is_ok());
    let last_id = decoder.last_id().map(|id| id.to_vec()).unwrap_or_default();
    DecodedStream { events, last_id, pause: decoder.retry_pause(), is_complete }
}

/// Reads a whole stream line by line, as the standard words it.
fn read_plainly(data: &[u8]) -> DecodedStream {
    let mut stream =
        DecodedStream { events: Vec::new(), last_id: Vec::new(), pause: None, is_complete: true };
    let (mut name, mut text, mut id) = (Vec::new(), None::<Vec<u8>>, Vec::new());
    for line in complete_lines(data) {
        if line.is_empty() {
            stream.last_id.clone_from(&id);
            let name = std::mem::take(&mut name);
            let name = if name.is_empty() { b"message".to_vec() } else { name };
            stream.events.extend(text.take().map(|data| Event { name: name.into(), data: data.into() }));
            continue;
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                text = Some(match text {
                    None => value.to_vec(),
                    Some(before) => [&before, b"\n".as_slice(), value].concat(),
                });
            }
            b"event" => name = value.to_vec(),
            b"id" if !value.contains(&0) => id = value.to_vec(),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                stream.pause = Some(pause_of(value));
            }
            _ => {}
        }
    }
    stream
}

/// The lines that have an end: CR, LF, or both. The rest of the stream is not a line yet.
fn complete_lines(data: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    let mut rest = data.strip_prefix("\u{feff}".as_bytes()).unwrap_or(data);
    while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')) {
        let (line, after) = rest.split_at(end);
        lines.push(line);
        rest = after.strip_prefix(b"\r\n").or_else(|| after.get(1..)).unwrap_or_default();
    }
    lines
}

fn pause_of(digits: &[u8]) -> Duration {
    let number = digits
        .iter()
        .fold(0_u64, |number, digit| number.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
    Duration::from_millis(number.clamp(100, 30_000))
}
