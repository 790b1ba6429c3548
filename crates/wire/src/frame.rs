//! Cuts a stream of bytes into lines, bounded.
//!
//! A line over the limit is told at once, with its beginning, so that the call it answers can fail at once;
//! the rest of it is skipped and the next line is read as if nothing had been.

use bytes::{Buf, Bytes, BytesMut};
use mcparley_model::limits::MESSAGE_BYTES;

/// How much of the two ends of an oversized line is kept to find out whose it was.
const ENDS: usize = 4096;

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
    skipping: bool,
    limit: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Self::with_limit(MESSAGE_BYTES)
    }
}

impl Lines {
    pub(crate) fn with_limit(limit: usize) -> Self {
        Self { buffer: BytesMut::new(), searched: 0, skipping: false, limit }
    }

    /// Where to read the next bytes to.
    pub(crate) fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// The next frame, if one is complete.
    pub(crate) fn next(&mut self) -> Option<Frame> {
        loop {
            let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
            let Some(found) = memchr::memchr(b'\n', unsearched) else {
                self.searched = self.buffer.len();
                return self.overflow();
            };
            let end = self.searched + found;
            self.searched = 0;
            if self.skipping {
                self.skipping = false;
                let tail = self.keep_tail(end);
                self.buffer.advance(1);
                return Some(Frame::TooLongEnd { tail });
            }
            let line = self.buffer.split_to(end).freeze();
            self.buffer.advance(1);
            if line.len() > self.limit {
                // It came whole in one read; no need for its end later.
                return Some(Frame::TooLong { head: line.slice(..ENDS.min(line.len())) });
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
        (!self.skipping && !rest.is_empty()).then_some(rest)
    }

    fn overflow(&mut self) -> Option<Frame> {
        if self.skipping {
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
        // Not split off: a frozen part would keep all the memory of the line alive.
        self.buffer = BytesMut::new();
        self.searched = 0;
        self.skipping = true;
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
