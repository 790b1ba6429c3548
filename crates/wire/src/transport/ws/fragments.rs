//! Counts the fragments of a message (RFC 6455, 5.2).
//!
//! Inspects the headers of frames only, and checks nothing but their number: the library that parses them
//! afterwards validates the rest.

use mcparley_model::limits::WEBSOCKET_FRAGMENTS;

/// FIN: the bit of a message's last frame.
const LAST: u8 = 0x80;
/// The opcode bit of control frames, which may come between fragments.
const CONTROL: u8 = 0x08;
/// The mask of the payload length, or of its extended form.
const LENGTH: u8 = 0x7f;

/// Position in the stream of frames, and the number of fragments of the current message.
#[derive(Debug, Default)]
pub(super) struct FragmentCounter {
    place: FramePosition,
    count: usize,
}

#[derive(Clone, Copy, Debug, Default)]
enum FramePosition {
    /// Before a frame.
    #[default]
    Start,
    /// Before the second byte of a frame.
    Length,
    /// In the extended length: the number of remaining bytes, and the value so far.
    Long { left: u8, length: u64 },
    /// In the payload: the number of remaining bytes.
    Payload(u64),
}

impl FragmentCounter {
    /// Consumes the next bytes of the stream; returns whether a message in them has too many fragments.
    pub(super) fn count_bytes(&mut self, mut bytes: &[u8]) -> bool {
        while let Some((&byte, rest)) = bytes.split_first() {
            bytes = match self.place {
                FramePosition::Payload(left) => {
                    let skipped = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                    self.place = payload_position(left - skipped as u64);
                    bytes.get(skipped..).unwrap_or_default()
                }
                FramePosition::Start | FramePosition::Length | FramePosition::Long { .. } => {
                    self.place = self.next_position(byte);
                    rest
                }
            };
            if self.count > WEBSOCKET_FRAGMENTS {
                return true;
            }
        }
        false
    }

    /// The position after a byte of a frame's header.
    fn next_position(&mut self, byte: u8) -> FramePosition {
        match self.place {
            FramePosition::Start => {
                self.count_frame(byte);
                FramePosition::Length
            }
            FramePosition::Length => match byte & LENGTH {
                126 => FramePosition::Long { left: 2, length: 0 },
                127 => FramePosition::Long { left: 8, length: 0 },
                length => payload_position(u64::from(length)),
            },
            FramePosition::Long { left, length } => match (left - 1, length << 8 | u64::from(byte)) {
                (0, length) => payload_position(length),
                (left, length) => FramePosition::Long { left, length },
            },
            FramePosition::Payload(left) => FramePosition::Payload(left),
        }
    }

    fn count_frame(&mut self, byte: u8) {
        match (byte & CONTROL != 0, byte & LAST != 0) {
            (true, _) => {}
            (false, true) => self.count = 0,
            (false, false) => self.count += 1,
        }
    }
}

fn payload_position(left: u64) -> FramePosition {
    if left == 0 { FramePosition::Start } else { FramePosition::Payload(left) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: &[u8] = &[0x01, 0];
    const MORE: &[u8] = &[0x00, 0];
    const END: &[u8] = &[0x80, 0];
    const PING: &[u8] = &[0x89, 1, 0];

    // F57
    #[test]
    fn only_the_fragments_of_one_message_count() {
        let most = [BEGIN, &MORE.repeat(WEBSOCKET_FRAGMENTS - 1)].concat();
        assert!(!FragmentCounter::default().count_bytes(&[most.as_slice(), PING, END].concat().repeat(3)));
        assert!(FragmentCounter::default().count_bytes(&[most.as_slice(), PING, MORE].concat()));
        assert!(!FragmentCounter::default().count_bytes(&[0x81, 0].repeat(2 * WEBSOCKET_FRAGMENTS)));
    }

    // F57
    #[test]
    fn payloads_of_every_length_are_skipped_for_any_chunking() {
        // What would be a fragment if it were a head.
        let payload = |length: usize| vec![0; length];
        let frames = [
            [&[0x81, 125][..], &payload(125)].concat(),
            [&[0x81, 126, 0x01, 0x00][..], &payload(256)].concat(),
            [&[0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0][..], &payload(65_536)].concat(),
        ]
        .concat();
        let ending = [BEGIN, &MORE.repeat(WEBSOCKET_FRAGMENTS)].concat();
        for piece in [1, 7, frames.len()] {
            let mut fragments = FragmentCounter::default();
            assert!(!frames.chunks(piece).any(|bytes| fragments.count_bytes(bytes)), "{piece}");
            assert!(matches!(fragments.place, FramePosition::Start) && fragments.count == 0, "{piece}");
            assert!(fragments.count_bytes(&ending), "{piece}");
        }
    }
}
