//! The end of a stream of text, bounded.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use mcparley_model::limits::STDERR_BYTES;

/// The last bytes of a stream, and how many there were in all.
#[derive(Debug, Default)]
pub(super) struct Tail(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    bytes: VecDeque<u8>,
    total: u64,
}

impl Tail {
    pub(super) fn push(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.total += bytes.len() as u64;
        let fresh = bytes.get(bytes.len().saturating_sub(STDERR_BYTES)..).unwrap_or_default();
        let surplus = (kept.bytes.len() + fresh.len()).saturating_sub(STDERR_BYTES);
        kept.bytes.drain(..surplus);
        kept.bytes.extend(fresh);
    }

    /// The kept text; bytes that are no text are replaced.
    pub(super) fn text(&self) -> String {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let dropped = kept.total - kept.bytes.len() as u64;
        let text = String::from_utf8_lossy(kept.bytes.make_contiguous()).into_owned();
        if dropped == 0 { text } else { format!("[{dropped} bytes before this were dropped]\n{text}") }
    }
}
