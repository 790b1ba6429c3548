//! WebSocket frames by hand (RFC 6455, 5): what a client sends is read strictly, what we send may be wrong.

use crate::raw::Raw;
use std::io::{self, Read};

pub(crate) const CONTINUED: u8 = 0x0;
pub(crate) const TEXT: u8 = 0x1;
pub(crate) const BINARY: u8 = 0x2;
pub(crate) const CLOSE: u8 = 0x8;
pub(crate) const PING: u8 = 0x9;
pub(crate) const PONG: u8 = 0xa;

/// The bit of the last frame of a message.
pub(crate) const LAST: u8 = 0x80;
/// A bit that only an extension may set.
pub(crate) const RESERVED: u8 = 0x40;
/// The bit of a payload that is masked, as only a client may do.
const MASKED: u8 = 0x80;

/// More than a host may send in one frame.
const MOST: u64 = 256 * 1024 * 1024;

/// A frame of a client.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) payload: Vec<u8>,
}

impl Frame {
    /// The next frame, if there is one more. One that a client may not send is an error.
    pub(crate) fn read(reader: &mut impl Read) -> io::Result<Option<Self>> {
        let mut head = [0; 2];
        if reader.read(&mut head[..1])? == 0 {
            return Ok(None);
        }
        reader.read_exact(&mut head[1..])?;
        let [first, second] = head;
        if first & LAST == 0 || first & 0x70 != 0 || second & MASKED == 0 {
            return Err(io::Error::other("no frame of a client that knows no extensions and no fragments"));
        }
        let length = match second & 0x7f {
            126 => u64::from(u16::from_be_bytes(bytes(reader)?)),
            127 => u64::from_be_bytes(bytes(reader)?),
            short => u64::from(short),
        };
        if length > MOST {
            return Err(io::Error::other("a frame beyond all limits"));
        }
        let mask: [u8; 4] = bytes(reader)?;
        let mut payload = Vec::new();
        reader.take(length).read_to_end(&mut payload)?;
        payload.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
        Ok(Some(Self { kind: first & 0x0f, payload }))
    }
}

/// A frame with this first byte.
pub(crate) fn framed(first: u8, payload: &Raw) -> Raw {
    Raw::new(head(first, payload.len(), 0)).join(payload)
}

/// A frame that is masked, with a mask that changes nothing.
pub(crate) fn masked(first: u8, payload: &Raw) -> Raw {
    Raw::new(head(first, payload.len(), MASKED)).then([0; 4]).join(payload)
}

/// What says how a connection ends.
pub(crate) fn close(code: u16) -> Raw {
    framed(LAST | CLOSE, &Raw::new(code.to_be_bytes()))
}

fn head(first: u8, length: u64, mask: u8) -> Vec<u8> {
    match (u8::try_from(length), u16::try_from(length)) {
        (Ok(short @ ..126), _) => vec![first, mask | short],
        (_, Ok(middle)) => [&[first, mask | 126], &middle.to_be_bytes()[..]].concat(),
        (_, Err(_)) => [&[first, mask | 127], &length.to_be_bytes()[..]].concat(),
    }
}

fn bytes<const N: usize>(reader: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}
