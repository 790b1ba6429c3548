//! Oracle of the line decoder and of the salvage of ids.
//!
//! Any chunking gives the lines of a plain split. A line over the limit is reported by its ends, and the rest
//! of the stream is unharmed. In a line that is JSON, the salvaged id is the id; cut anywhere, it is that id or
//! none.

use bytes::Bytes;
use mcparley_wire::Id;
use mcparley_wire::frame::{Frame, LineDecoder};
use mcparley_wire::salvage::{find_id, find_last_id};

use crate::chunks::cut_variants;
use crate::members::ObjectMembers;

/// The limits of a line that are tried: below and above the length of the ends that are kept.
const LIMITS: [usize; 3] = [7, 100, 6000];

/// Bytes kept of each end of an oversized line.
const ENDS: usize = 4096;

/// The number of places at which a line is cut to salvage its id.
const CUTS: usize = 40;

/// Checks the stream of a server.
pub fn check_lines(data: &[u8]) {
    for limit in LIMITS {
        for chunks in cut_variants(data) {
            check_stream(data, &chunks, limit);
        }
    }
    for line in data.split(|byte| *byte == b'\n') {
        check_salvage(line);
    }
    check_salvage(data);
}

fn check_stream(data: &[u8], chunks: &[&[u8]], limit: usize) {
    let mut decoder = LineDecoder::with_limit(limit);
    let mut frames = Vec::new();
    for chunk in chunks {
        decoder.buffer().extend_from_slice(chunk);
        while let Some(frame) = decoder.next_frame() {
            frames.push(frame);
        }
        assert!(decoder.buffer().len() <= limit.max(2 * ENDS), "the buffer is bounded");
    }
    let mut found = frames.into_iter();
    let lines: Vec<&[u8]> = data.split(|byte| *byte == b'\n').collect();
    let (rest, complete) = lines.split_last().unwrap_or((&data, &[]));
    for line in complete {
        if line.len() > limit {
            check_oversized(line, limit, [found.next(), found.next()].each_ref().map(Option::as_ref));
        } else if !trim(line).is_empty() {
            assert_eq!(found.next(), Some(Frame::Line(Bytes::copy_from_slice(trim(line)))));
        }
    }
    let unfinished = decoder.take_rest();
    if rest.len() > limit {
        check_head(rest, limit, found.next().as_ref());
        assert_eq!(unfinished, None);
    } else {
        assert_eq!(unfinished.as_deref(), Some(trim(rest)).filter(|rest| !rest.is_empty()));
    }
    assert_eq!(found.next(), None, "no frame is made up");
}

fn trim(line: &[u8]) -> &[u8] {
    line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii()
}

fn check_oversized(line: &[u8], limit: usize, [beginning, end]: [Option<&Frame>; 2]) {
    check_head(line, limit, beginning);
    let Some(Frame::TooLongEnd { head, tail }) = end else { unreachable!("{end:?} is no end") };
    assert_eq!(beginning, Some(&Frame::TooLong { head: head.clone() }));
    assert_eq!(Some(tail.as_ref()), line.get(line.len().saturating_sub(ENDS)..), "the last bytes are kept");
}

fn check_head(line: &[u8], limit: usize, frame: Option<&Frame>) {
    let Some(Frame::TooLong { head }) = frame else { unreachable!("{frame:?} is no beginning") };
    assert!(line.starts_with(head), "the head is the beginning of the line");
    assert!(head.len() > limit.min(ENDS - 1) && head.len() <= ENDS, "the head has {} bytes", head.len());
}

fn check_salvage(line: &[u8]) {
    for id in [find_id(line), find_last_id(line)].into_iter().flatten() {
        assert!(is_written_in(&id, line), "{id:?} is made up");
    }
    // An escaped `id` is the same name, but a scan of damaged bytes does not decode names.
    let is_plain = !line.contains(&b'\\') && line.first() == Some(&b'{');
    let Some(members) = ObjectMembers::parse(line).filter(|_| is_plain) else { return };
    let expected = members.first("id").and_then(read_id);
    assert_eq!(find_id(line), expected, "the id of a whole object");
    let step = (line.len() / CUTS).max(1);
    for end in (0..line.len()).step_by(step) {
        let cut = find_id(line.get(..end).unwrap_or_default());
        assert!(cut.is_none() || cut == expected, "{cut:?} instead of {expected:?}");
    }
}

/// The id in one of the forms in which servers return ours.
fn read_id(raw: &str) -> Option<Id> {
    if let Some(text) = raw.strip_prefix('"') {
        let text = text.strip_suffix('"')?;
        return Some(text.parse().map_or_else(|_| Id::Text(text.to_owned()), Id::Number));
    }
    raw.strip_suffix(".0").unwrap_or(raw).parse().ok().map(Id::Number)
}

fn is_written_in(id: &Id, line: &[u8]) -> bool {
    let text = match id {
        Id::Number(number) => number.to_string(),
        Id::Text(text) => text.clone(),
    };
    line.contains(&b'\\') || String::from_utf8_lossy(line).contains(&text)
}
