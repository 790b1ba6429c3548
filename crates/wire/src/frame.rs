//! Cuts a stream of bytes into lines, bounded.
//!
//! A line over the limit is told at once, with its beginning, so that the call it answers can fail at once;
//! the rest of it is skipped and the next line is read as if nothing had been.

use bytes::{Buf, Bytes, BytesMut};

/// How much of the two ends of an oversized line is kept to find out whose it was.
const ENDS: usize = 4096;

/// A line over this length is rare, and what it was read into larger than what comes next will need.
const LONG: usize = 64 * 1024;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// What comes out of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// A line, without its end and not blank.
    Line(Bytes),
    /// The beginning of a line that is too long.
    TooLong {
        /// Its first bytes.
        head: Bytes,
    },
    /// Its end, once it is over.
    TooLongEnd {
        /// Its first bytes, again.
        head: Bytes,
        /// Its last bytes.
        tail: Bytes,
    },
}

/// Cuts lines.
#[derive(Debug)]
pub(crate) struct Lines {
    buffer: BytesMut,
    /// How much of the buffer holds no line end, so that no byte is looked at twice.
    searched: usize,
    /// Whether the buffer has grown for a long line.
    grown: bool,
    /// The beginning of the line that is being skipped.
    skipping: Option<Bytes>,
    /// The end of a line that was too long and came with its end.
    ended: Option<Frame>,
    limit: usize,
}

#[cfg(test)]
impl Default for Lines {
    fn default() -> Self {
        Self::with_limit(mcparley_model::limits::MESSAGE_BYTES)
    }
}

impl Lines {
    pub(crate) fn with_limit(limit: usize) -> Self {
        Self { buffer: BytesMut::new(), searched: 0, grown: false, skipping: None, ended: None, limit }
    }

    /// Where to read the next bytes to.
    pub(crate) fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// Whether the buffer has nothing in it but the room that a long line needed.
    pub(crate) fn is_spacious(&self) -> bool {
        self.grown && self.buffer.is_empty()
    }

    /// Gives that room back. Lines that came out of it keep it as long as they need it.
    pub(crate) fn give_back(&mut self) {
        self.buffer = BytesMut::new();
        (self.searched, self.grown) = (0, false);
    }

    /// The next frame, if one is complete.
    pub(crate) fn next(&mut self) -> Option<Frame> {
        if let Some(ended) = self.ended.take() {
            return Some(ended);
        }
        loop {
            let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
            let Some(found) = memchr::memchr(b'\n', unsearched) else {
                self.searched = self.buffer.len();
                return self.overflow();
            };
            let end = self.searched + found;
            self.searched = 0;
            self.grown |= end > LONG;
            if let Some(head) = self.skipping.take() {
                let tail = self.keep_tail(end);
                self.buffer.advance(1);
                return Some(Frame::TooLongEnd { head, tail });
            }
            let line = self.buffer.split_to(end).freeze();
            self.buffer.advance(1);
            if line.len() > self.limit {
                // Copied: a slice would keep all the memory of the line alive.
                let part = |range: std::ops::Range<usize>| {
                    Bytes::copy_from_slice(line.get(range).unwrap_or_default())
                };
                let head = part(0..ENDS.min(line.len()));
                let tail = part(line.len().saturating_sub(ENDS)..line.len());
                self.ended = Some(Frame::TooLongEnd { head: head.clone(), tail });
                return Some(Frame::TooLong { head });
            }
            let line = trim(&line);
            if !line.is_empty() {
                return Some(Frame::Line(line));
            }
        }
    }

    /// What is left when the stream ends: a line without its end.
    pub(crate) fn rest(&mut self) -> Option<Bytes> {
        let rest = trim(&self.buffer.split().freeze());
        (self.skipping.is_none() && !rest.is_empty()).then_some(rest)
    }

    fn overflow(&mut self) -> Option<Frame> {
        if self.skipping.is_some() {
            let length = self.buffer.len();
            if length > 2 * ENDS {
                self.buffer.advance(length - ENDS);
                self.searched = ENDS;
            }
            return None;
        }
        if self.buffer.len() <= self.limit {
            return None;
        }
        let head = Bytes::copy_from_slice(self.buffer.get(..ENDS.min(self.buffer.len())).unwrap_or_default());
        // Copied, not split off: a part would keep all the memory of the line alive. What is the end so far may be
        // the end for good.
        let tail = self.buffer.get(self.buffer.len().saturating_sub(ENDS)..).unwrap_or_default();
        self.buffer = BytesMut::from(tail);
        self.searched = self.buffer.len();
        self.skipping = Some(head.clone());
        Some(Frame::TooLong { head })
    }

    fn keep_tail(&mut self, end: usize) -> Bytes {
        let from = end.saturating_sub(ENDS);
        let tail = Bytes::copy_from_slice(self.buffer.get(from..end).unwrap_or_default());
        self.buffer.advance(end);
        tail
    }
}

/// Without white space around it and a byte order mark before it.
fn trim(line: &Bytes) -> Bytes {
    let bare = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_ascii();
    line.slice_ref(bare)
}

#[cfg(test)]
mod tests;
