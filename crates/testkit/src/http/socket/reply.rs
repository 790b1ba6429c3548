//! Writes the reply to a call as WebSocket frames, valid or not.

use super::frame::{self, BINARY, CONTINUED, LAST, RESERVED, TEXT};
use crate::http::wire::HttpWire;
use crate::raw::RawBytes;
use crate::server::{DueFaults, ServerReply};
use mcparley_testkit::Name;
use std::io;

/// The number of empty fragments per write.
const EMPTY: usize = 16 * 1024;

/// The code of an abnormal closure; never sent.
const BROKEN: u64 = 1006;

/// Sends a reply, together with the messages ahead of it.
pub(crate) fn send_reply(wire: &HttpWire, reply: &ServerReply, due: DueFaults<'_>) -> io::Result<()> {
    if let Some(code) = due.number(Name::WsClose) {
        return close_with_code(wire, code);
    }
    let body = &reply.body;
    if let Some(count) = due.number(Name::WsFragments) {
        return send_fragments(wire, &body.to_vec()?, usize::try_from(count).unwrap_or(usize::MAX));
    }
    if due.has(Name::WsEndless) {
        return send_endless_fragments(wire);
    }
    match due.text(Name::WsReply) {
        Some("binary") => wire.write_bytes(&frame::encode_frame(LAST | BINARY, body)),
        Some("masked") => wire.write_bytes(&frame::encode_masked_frame(LAST | TEXT, body)),
        Some("reserved") => wire.write_bytes(&frame::encode_frame(LAST | RESERVED | TEXT, body)),
        Some("continued") => wire.write_bytes(&frame::encode_frame(LAST | CONTINUED, body)),
        Some(_) => {
            let whole = frame::encode_frame(LAST | TEXT, body).to_vec()?;
            wire.write_bytes(&RawBytes::new(whole.get(..whole.len() / 2).unwrap_or_default()))?;
            wire.close()
        }
        None => {
            let ahead = reply.ahead.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
            let mut bytes = ahead.fold(RawBytes::default(), |bytes, line| {
                bytes.append_raw(&frame::encode_frame(LAST | TEXT, &RawBytes::new(line)))
            });
            for _ in 0..reply.copies {
                bytes = bytes.append_raw(&frame::encode_frame(LAST | TEXT, body));
            }
            wire.write_bytes(&bytes)
        }
    }
}

fn close_with_code(wire: &HttpWire, code: u64) -> io::Result<()> {
    if code != BROKEN {
        wire.write_bytes(&frame::close_frame(u16::try_from(code).unwrap_or_default()))?;
    }
    wire.close()
}

/// Splits a reply into fragments: one byte in each of the first, none in the following, the rest in the last.
fn send_fragments(wire: &HttpWire, body: &[u8], count: usize) -> io::Result<()> {
    let (single, rest) = body.split_at(body.len().min(count.saturating_sub(1)));
    let empty = count.saturating_sub(1).saturating_sub(single.len());
    let mut bytes = Vec::new();
    for (number, byte) in single.iter().enumerate() {
        bytes.extend([if number == 0 { TEXT } else { CONTINUED }, 1, *byte]);
    }
    bytes.extend([CONTINUED, 0].repeat(empty));
    wire.write_bytes(&RawBytes::new(bytes))?;
    let kind = if single.is_empty() { TEXT } else { CONTINUED };
    wire.write_bytes(&frame::encode_frame(LAST | kind, &RawBytes::new(rest)))
}

/// Starts a message and sends empty fragments without end.
fn send_endless_fragments(wire: &HttpWire) -> io::Result<()> {
    wire.write_bytes(&frame::encode_frame(TEXT, &RawBytes::new("{")))?;
    let empty = RawBytes::new([CONTINUED, 0].repeat(EMPTY));
    loop {
        wire.write_bytes(&empty)?;
    }
}
