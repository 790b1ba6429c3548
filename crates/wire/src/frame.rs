//! Splits a byte stream into lines, bounded.
//!
//! A line over the limit is reported at once, with its beginning, so that the call it answers can fail at
//! once;
//! the rest of it is skipped, and the next line is read as usual.

use bytes::{Buf, Bytes, BytesMut};

/// Bytes kept of each end of an oversized line, to find the call it was to answer.
const ENDS: usize = 4096;

/// A line over this length is rare, and the buffer that was grown for it larger than the next lines need.
const LONG: usize = 64 * 1024;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// One frame of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A line, without its line end and not blank.
    Line(Bytes),
    /// The beginning of an oversized line.
    TooLong {
        /// The first bytes of the line.
        head: Bytes,
    },
    /// The end of an oversized line.
    TooLongEnd {
        /// The first bytes of the line, again.
        head: Bytes,
        /// The last bytes of the line.
        tail: Bytes,
    },
}

/// Line decoder with a size limit.
#[derive(Debug)]
pub struct LineDecoder {
    buffer: BytesMut,
    /// Length of the part of the buffer without a line end, so that no byte is searched twice.
    searched: usize,
    /// Whether the buffer has grown for a long line.
    grown: bool,
    /// The beginning of the line that is being skipped.
    skipping: Option<Bytes>,
    /// The end of an oversized line that arrived together with its beginning.
    ended: Option<Frame>,
    limit: usize,
}

#[cfg(test)]
impl Default for LineDecoder {
    fn default() -> Self {
        Self::with_limit(mcparley_model::limits::MESSAGE_BYTES)
    }
}

impl LineDecoder {
    /// A decoder that accepts lines of up to `limit` bytes.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self { buffer: BytesMut::new(), searched: 0, grown: false, skipping: None, ended: None, limit }
    }

    /// The buffer to read the next bytes into.
    pub fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// Whether the buffer is empty and still has the capacity of a long line.
    pub(crate) fn has_spare_capacity(&self) -> bool {
        self.grown && self.buffer.is_empty()
    }

    /// Frees that capacity. Lines that were split off keep their memory as long as they need it.
    pub(crate) fn release_capacity(&mut self) {
        self.buffer = BytesMut::new();
        (self.searched, self.grown) = (0, false);
    }

    /// Returns the next frame, if one is complete.
    pub fn next_frame(&mut self) -> Option<Frame> {
        if let Some(ended) = self.ended.take() {
            return Some(ended);
        }
        loop {
            let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
            let Some(found) = memchr::memchr(b'\n', unsearched) else {
                self.searched = self.buffer.len();
                return self.check_overflow();
            };
            let end = self.searched + found;
            self.searched = 0;
            self.grown |= end > LONG;
            if let Some(head) = self.skipping.take() {
                let tail = self.take_tail(end);
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
            let line = trim_line(&line);
            if !line.is_empty() {
                return Some(Frame::Line(line));
            }
        }
    }

    /// Returns the rest when the stream ends: a line without its line end.
    pub fn take_rest(&mut self) -> Option<Bytes> {
        let rest = trim_line(&self.buffer.split().freeze());
        (self.skipping.is_none() && !rest.is_empty()).then_some(rest)
    }

    fn check_overflow(&mut self) -> Option<Frame> {
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
        // Copied, not split off: a part would keep all the memory of the line alive. The current end of the
        // buffer may be the end of the line.
        let tail = self.buffer.get(self.buffer.len().saturating_sub(ENDS)..).unwrap_or_default();
        self.buffer = BytesMut::from(tail);
        self.searched = self.buffer.len();
        self.skipping = Some(head.clone());
        Some(Frame::TooLong { head })
    }

    fn take_tail(&mut self, end: usize) -> Bytes {
        let from = end.saturating_sub(ENDS);
        let tail = Bytes::copy_from_slice(self.buffer.get(from..end).unwrap_or_default());
        self.buffer.advance(end);
        tail
    }
}

/// Strips white space, and a byte order mark before it.
fn trim_line(line: &Bytes) -> Bytes {
    let bare = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_ascii();
    line.slice_ref(bare)
}

#[cfg(test)]
mod tests;
