//! The reply to a call in its frames, right or not.

use super::frame::{self, BINARY, CONTINUED, LAST, RESERVED, TEXT};
use crate::http::wire::Wire;
use crate::raw::Raw;
use crate::server::{Due, Reply};
use mcparley_testkit::Name;
use std::io;

/// As many empty fragments go out in one write.
const EMPTY: usize = 16 * 1024;

/// Says that a connection broke without a word; never sent.
const BROKEN: u64 = 1006;

/// Sends a reply, and what goes ahead of it in the same write.
pub(crate) fn send(wire: &Wire, reply: &Reply, due: Due<'_>) -> io::Result<()> {
    if let Some(code) = due.number(Name::WsClose) {
        return end(wire, code);
    }
    let body = &reply.body;
    if let Some(count) = due.number(Name::WsFragments) {
        return fragments(wire, &body.to_vec()?, usize::try_from(count).unwrap_or(usize::MAX));
    }
    if due.has(Name::WsEndless) {
        return endless(wire);
    }
    match due.text(Name::WsReply) {
        Some("binary") => wire.write(&frame::framed(LAST | BINARY, body)),
        Some("masked") => wire.write(&frame::masked(LAST | TEXT, body)),
        Some("reserved") => wire.write(&frame::framed(LAST | RESERVED | TEXT, body)),
        Some("continued") => wire.write(&frame::framed(LAST | CONTINUED, body)),
        Some(_) => {
            let whole = frame::framed(LAST | TEXT, body).to_vec()?;
            wire.write(&Raw::new(whole.get(..whole.len() / 2).unwrap_or_default()))?;
            wire.close()
        }
        None => {
            let ahead = reply.ahead.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
            let mut bytes = ahead
                .fold(Raw::default(), |bytes, line| bytes.join(&frame::framed(LAST | TEXT, &Raw::new(line))));
            for _ in 0..reply.copies {
                bytes = bytes.join(&frame::framed(LAST | TEXT, body));
            }
            wire.write(&bytes)
        }
    }
}

fn end(wire: &Wire, code: u64) -> io::Result<()> {
    if code != BROKEN {
        wire.write(&frame::close(u16::try_from(code).unwrap_or_default()))?;
    }
    wire.close()
}

/// One byte in each of the first, and nothing in the others but the last, which has the rest.
fn fragments(wire: &Wire, body: &[u8], count: usize) -> io::Result<()> {
    let (single, rest) = body.split_at(body.len().min(count.saturating_sub(1)));
    let empty = count.saturating_sub(1).saturating_sub(single.len());
    let mut bytes = Vec::new();
    for (number, byte) in single.iter().enumerate() {
        bytes.extend([if number == 0 { TEXT } else { CONTINUED }, 1, *byte]);
    }
    bytes.extend([CONTINUED, 0].repeat(empty));
    wire.write(&Raw::new(bytes))?;
    let kind = if single.is_empty() { TEXT } else { CONTINUED };
    wire.write(&frame::framed(LAST | kind, &Raw::new(rest)))
}

/// Begins a message and never ends it.
fn endless(wire: &Wire) -> io::Result<()> {
    wire.write(&frame::framed(TEXT, &Raw::new("{")))?;
    let empty = Raw::new([CONTINUED, 0].repeat(EMPTY));
    loop {
        wire.write(&empty)?;
    }
}
