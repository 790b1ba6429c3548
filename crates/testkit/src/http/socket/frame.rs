//! WebSocket frames by hand (RFC 6455, 5): strict when reading, able to write invalid ones.

use crate::raw::RawBytes;
use std::io::{self, Read};

pub(crate) const CONTINUED: u8 = 0x0;
pub(crate) const TEXT: u8 = 0x1;
pub(crate) const BINARY: u8 = 0x2;
pub(crate) const CLOSE: u8 = 0x8;
pub(crate) const PING: u8 = 0x9;
pub(crate) const PONG: u8 = 0xa;

/// The FIN bit: the last frame of a message.
pub(crate) const LAST: u8 = 0x80;
/// A reserved bit, which only an extension may set.
pub(crate) const RESERVED: u8 = 0x40;
/// The mask bit, which only a client may set.
const MASKED: u8 = 0x80;

/// The frame size limit: more than a host may send.
const MOST: u64 = 256 * 1024 * 1024;

/// A frame of a client.
#[derive(Debug)]
pub(crate) struct WebSocketFrame {
    pub(crate) kind: u8,
    pub(crate) payload: Vec<u8>,
}

impl WebSocketFrame {
    /// Reads the next frame; none at the end of the connection. A frame that a client may not send is an
    /// error.
    pub(crate) fn read_next(reader: &mut impl Read) -> io::Result<Option<Self>> {
        let mut head = [0; 2];
        if reader.read(&mut head[..1])? == 0 {
            return Ok(None);
        }
        reader.read_exact(&mut head[1..])?;
        let [first, second] = head;
        if first & LAST == 0 || first & 0x70 != 0 || second & MASKED == 0 {
            return Err(io::Error::other("not an unfragmented, masked client frame without extensions"));
        }
        let length = match second & 0x7f {
            126 => u64::from(u16::from_be_bytes(read_bytes(reader)?)),
            127 => u64::from_be_bytes(read_bytes(reader)?),
            short => u64::from(short),
        };
        if length > MOST {
            return Err(io::Error::other("the frame is too large"));
        }
        let mask: [u8; 4] = read_bytes(reader)?;
        let mut payload = Vec::new();
        reader.take(length).read_to_end(&mut payload)?;
        payload.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
        Ok(Some(Self { kind: first & 0x0f, payload }))
    }
}

/// A frame with this first byte.
pub(crate) fn encode_frame(first: u8, payload: &RawBytes) -> RawBytes {
    RawBytes::new(frame_header(first, payload.len(), 0)).append_raw(payload)
}

/// A masked frame with a mask of zeros, which a server must not send.
pub(crate) fn encode_masked_frame(first: u8, payload: &RawBytes) -> RawBytes {
    RawBytes::new(frame_header(first, payload.len(), MASKED)).append_bytes([0; 4]).append_raw(payload)
}

/// A close frame with a status code.
pub(crate) fn close_frame(code: u16) -> RawBytes {
    encode_frame(LAST | CLOSE, &RawBytes::new(code.to_be_bytes()))
}

fn frame_header(first: u8, length: u64, mask: u8) -> Vec<u8> {
    match (u8::try_from(length), u16::try_from(length)) {
        (Ok(short @ ..126), _) => vec![first, mask | short],
        (_, Ok(middle)) => [&[first, mask | 126], &middle.to_be_bytes()[..]].concat(),
        (_, Err(_)) => [&[first, mask | 127], &length.to_be_bytes()[..]].concat(),
    }
}

fn read_bytes<const N: usize>(reader: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}
