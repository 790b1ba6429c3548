//! Lines come out the same, however the bytes came in.

use super::*;
use proptest::prelude::*;

fn feed(lines: &mut LineDecoder, chunks: &[&[u8]]) -> Vec<Frame> {
    let mut frames = Vec::new();
    for chunk in chunks {
        lines.buffer().extend_from_slice(chunk);
        while let Some(frame) = lines.next_frame() {
            frames.push(frame);
        }
    }
    frames
}

fn line(text: &'static str) -> Frame {
    Frame::Line(Bytes::from_static(text.as_bytes()))
}

// B10 B09
#[test]
fn blank_lines_crlf_and_a_byte_order_mark_do_not_matter() {
    let mut lines = LineDecoder::default();
    let frames = feed(&mut lines, &["\u{feff}{\"a\":1}\r\n\n  \n{}\n{".as_bytes()]);
    assert_eq!(frames, [line("{\"a\":1}"), line("{}")]);
    assert_eq!(lines.take_rest(), Some(Bytes::from_static(b"{")));
}

// B01
#[test]
fn capacity_of_a_long_line_is_released_once_the_buffer_is_empty() {
    let long = "x".repeat(LONG + 1) + "\n{";
    let mut lines = LineDecoder::default();
    assert_eq!(feed(&mut lines, &[b"{}\n"]).len(), 1);
    assert!(!lines.has_spare_capacity());
    assert_eq!(feed(&mut lines, &[long.as_bytes()]).len(), 1);
    assert!(!lines.has_spare_capacity());
    assert_eq!(feed(&mut lines, &[b"}\n"]), [line("{}")]);
    assert!(lines.has_spare_capacity());
    lines.release_capacity();
    assert!(!lines.has_spare_capacity() && lines.buffer().capacity() == 0);
    assert_eq!(feed(&mut lines, &[b"[", b"]\n"]), [line("[]")]);
}

// B01
#[test]
fn exactly_the_limit_is_a_line_and_one_byte_more_is_not() {
    let exact = "x".repeat(100) + "\n";
    assert_eq!(feed(&mut LineDecoder::with_limit(100), &[exact.as_bytes()]).len(), 1);
    let over = "x".repeat(101) + "\nnext\n";
    for split in [1, 50, 101, 102] {
        let (first, second) = over.as_bytes().split_at(split);
        let frames = feed(&mut LineDecoder::with_limit(100), &[first, second]);
        assert!(
            matches!(frames.first(), Some(Frame::TooLong { head }) if head.starts_with(b"xxx")),
            "{split}"
        );
        assert_eq!(frames.last(), Some(&line("next")), "{split}: the next line survives");
    }
}

// B01 K7
#[test]
fn oversized_line_is_reported_with_both_ends_for_any_chunking() {
    let over = format!("{}end\nnext\n", "x".repeat(100));
    for split in [1, 100, 102, 103, 104] {
        let (first, second) = over.as_bytes().split_at(split);
        let frames = feed(&mut LineDecoder::with_limit(100), &[first, second]);
        let end = frames.get(1);
        assert!(
            matches!(end, Some(Frame::TooLongEnd { tail, .. }) if tail.ends_with(b"end")),
            "{split}: {frames:?}"
        );
        assert_eq!(frames.len(), 3, "{split}");
    }
}

// B02 F12
#[test]
fn endless_line_is_reported_once_in_bounded_memory() {
    let mut lines = LineDecoder::with_limit(1 << 20);
    let chunk = vec![b'x'; 64 * 1024];
    let mut told = 0;
    for _ in 0..1024 {
        lines.buffer().extend_from_slice(&chunk);
        while let Some(frame) = lines.next_frame() {
            assert!(matches!(frame, Frame::TooLong { .. }));
            told += 1;
        }
        assert!(lines.buffer.len() <= (1 << 20) + chunk.len());
    }
    assert_eq!(told, 1);
    let frames = feed(&mut lines, &[b"tail,\"id\":7}\n{}\n"]);
    assert!(matches!(frames.first(), Some(Frame::TooLongEnd { tail, .. }) if tail.ends_with(b"\"id\":7}")));
    assert_eq!(frames.last(), Some(&line("{}")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    // F13 F16: any chunking gives the same lines.
    #[test]
    fn any_chunking_gives_the_same_lines(
        text in "[ab\\r\\n{}]{0,60}",
        cuts in prop::collection::vec(0..61usize, 0..6),
    ) {
        let whole = feed(&mut LineDecoder::default(), &[text.as_bytes()]);
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut <= text.len()).collect();
        cuts.sort_unstable();
        let mut chunks = Vec::new();
        let mut from = 0;
        for cut in cuts {
            chunks.push(&text.as_bytes()[from..cut]);
            from = cut;
        }
        chunks.push(&text.as_bytes()[from..]);
        prop_assert_eq!(feed(&mut LineDecoder::default(), &chunks), whole);
    }
}
