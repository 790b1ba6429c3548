//! Counts the fragments of a message (RFC 6455, 5.2).
//!
//! Looks at the heads of frames only, and judges nothing but their number: the library that reads them behind it is
//! the one that knows what is allowed.

use mcparley_model::limits::WEBSOCKET_FRAGMENTS;

/// The bit of a message's last frame.
const LAST: u8 = 0x80;
/// The bit that tells frames between others from those of messages.
const CONTROL: u8 = 0x08;
/// Where the length of a frame stands, or where it is found.
const LENGTH: u8 = 0x7f;

/// Where in the stream of frames we are, and how many the message has so far.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    place: Place,
    count: usize,
}

#[derive(Clone, Copy, Debug, Default)]
enum Place {
    /// Before a frame.
    #[default]
    Start,
    /// Before the second byte of a frame.
    Length,
    /// In the longer forms of the length: so many bytes to come, and what they say so far.
    Long { left: u8, length: u64 },
    /// In the payload: so many bytes to come.
    Payload(u64),
}

impl Fragments {
    /// Takes the next bytes of the stream; says whether a message among them has too many fragments.
    pub(super) fn pass(&mut self, mut bytes: &[u8]) -> bool {
        while let Some((&byte, rest)) = bytes.split_first() {
            bytes = match self.place {
                Place::Payload(left) => {
                    let skipped = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                    self.place = payload(left - skipped as u64);
                    bytes.get(skipped..).unwrap_or_default()
                }
                Place::Start | Place::Length | Place::Long { .. } => {
                    self.place = self.head(byte);
                    rest
                }
            };
            if self.count > WEBSOCKET_FRAGMENTS {
                return true;
            }
        }
        false
    }

    /// What follows a byte of a frame's head.
    fn head(&mut self, byte: u8) -> Place {
        match self.place {
            Place::Start => {
                self.begin(byte);
                Place::Length
            }
            Place::Length => match byte & LENGTH {
                126 => Place::Long { left: 2, length: 0 },
                127 => Place::Long { left: 8, length: 0 },
                length => payload(u64::from(length)),
            },
            Place::Long { left, length } => match (left - 1, length << 8 | u64::from(byte)) {
                (0, length) => payload(length),
                (left, length) => Place::Long { left, length },
            },
            Place::Payload(left) => Place::Payload(left),
        }
    }

    fn begin(&mut self, byte: u8) {
        match (byte & CONTROL != 0, byte & LAST != 0) {
            (true, _) => {}
            (false, true) => self.count = 0,
            (false, false) => self.count += 1,
        }
    }
}

fn payload(left: u64) -> Place {
    if left == 0 { Place::Start } else { Place::Payload(left) }
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
        assert!(!Fragments::default().pass(&[most.as_slice(), PING, END].concat().repeat(3)));
        assert!(Fragments::default().pass(&[most.as_slice(), PING, MORE].concat()));
        assert!(!Fragments::default().pass(&[0x81, 0].repeat(2 * WEBSOCKET_FRAGMENTS)));
    }

    // F57
    #[test]
    fn payloads_of_every_length_are_passed_over_wherever_they_are_cut() {
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
            let mut fragments = Fragments::default();
            assert!(!frames.chunks(piece).any(|bytes| fragments.pass(bytes)), "{piece}");
            assert!(matches!(fragments.place, Place::Start) && fragments.count == 0, "{piece}");
            assert!(fragments.pass(&ending), "{piece}");
        }
    }
}
