//! Pages of a stored text, by lines or by bytes, with the offset of the next page. Characters are never
//! split.

use std::io::{BufRead, Read};

use super::arguments::ReadResultArgs;
use super::{ReadResultError, to_read_error};

/// Reads lines from `offset` on, as many as are requested and fit.
pub(super) fn read_lines(wish: &ReadResultArgs, mut text: impl BufRead) -> Result<String, ReadResultError> {
    let (mut number, mut at) = (1, 0);
    while number < wish.offset {
        match skip_line(&mut text)? {
            0 => return Ok(format!("[there is no line {}: the text has {} lines]", wish.offset, number - 1)),
            length => at += length,
        }
        number += 1;
    }
    let (first, mut given, mut is_cut) = (number, Vec::new(), false);
    while wish.limit.is_none_or(|limit| number < first.saturating_add(limit.max(1))) {
        // Reading one byte more than fits reveals a line that is too long.
        let room = wish.most.saturating_sub(given.len()) as u64;
        let before = given.len();
        let read = (&mut text).take(room + 1).read_until(b'\n', &mut given).map_err(to_read_error)?;
        match read as u64 {
            0 if number == first => {
                return Ok(format!("[there is no line {first}: the text has {} lines]", first - 1));
            }
            0 => return Ok(format_page(&given, &format!("lines {first} to {}, the last", number - 1))),
            read if read > room => {
                given.truncate(before);
                is_cut = true;
                break;
            }
            _ => number += 1,
        }
    }
    if number == first {
        return Ok(line_too_long(first, at));
    }
    let is_over = !is_cut && text.fill_buf().map_err(to_read_error)?.is_empty();
    let next = if is_over { "the last".to_owned() } else { format!("next offset {number}") };
    Ok(format_page(&given, &format!("lines {first} to {}, {next}", number - 1)))
}

fn line_too_long(line: u64, at: u64) -> String {
    format!(
        "[line {line} is too long to be given at once: read it with \"unit\": \"bytes\", \"offset\": {at}]"
    )
}

/// Skips a line and returns its length.
fn skip_line(text: &mut impl BufRead) -> Result<u64, ReadResultError> {
    let mut length = 0;
    loop {
        let buffer = text.fill_buf().map_err(to_read_error)?;
        let (used, is_over) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(end) => (end + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        text.consume(used);
        length += used as u64;
        if is_over {
            return Ok(length);
        }
    }
}

/// Reads bytes from `offset` on. `text` begins at `start`, which is `before` bytes ahead of the offset.
pub(super) fn read_bytes(
    wish: &ReadResultArgs,
    start: u64,
    before: usize,
    length: u64,
    text: impl Read,
) -> Result<String, ReadResultError> {
    let wanted =
        wish.limit.map_or(wish.most, |limit| usize::try_from(limit).unwrap_or(usize::MAX)).min(wish.most);
    let mut read = Vec::new();
    // Four more bytes complete a character that crosses the end.
    text.take((before + wanted + 4) as u64).read_to_end(&mut read).map_err(to_read_error)?;
    let from = char_start(&read, before);
    let mut to = char_start(&read, (from + wanted.max(1)).min(read.len()));
    if to <= from {
        // Less than one character was requested: return one, or paging would never advance.
        to = (from + 1..=read.len()).find(|at| is_char_start(&read, *at)).unwrap_or(read.len());
    }
    let given = read.get(from..to).unwrap_or_default();
    let (first, next) = (start + from as u64, start + to as u64);
    if given.is_empty() {
        return Ok(format!("[there is no byte {}: the text has {length} bytes]", wish.offset));
    }
    let more = if next >= length { "the last".to_owned() } else { format!("next offset {next}") };
    Ok(format_page(given, &format!("bytes {first} to {} of {length}, {more}", next - 1)))
}

/// The start of the character that contains the byte `at`.
fn char_start(bytes: &[u8], at: usize) -> usize {
    (0..=at).rev().find(|at| is_char_start(bytes, *at)).unwrap_or(0)
}

fn is_char_start(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(|byte| byte & 0xc0 != 0x80)
}

/// Formats a page: the text, then its position in brackets.
fn format_page(text: &[u8], place: &str) -> String {
    let text = String::from_utf8_lossy(text);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{end}[{place}]")
}
