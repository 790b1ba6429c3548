//! The `ReadResult` tool: pages through a stored result, a bounded part at a time.
//!
//! A JSON pointer selects one value of the result; then lines or bytes of that value are returned, or the
//! lines that match a pattern. The returned text is always short enough not to be stored again.

mod arguments;
mod find;
mod page;
mod select;

#[cfg(test)]
mod tests;

use std::io::{self, BufReader, Cursor, Read};
use std::ops::Range;
use std::sync::Arc;

use mcparley_model::limits::READ_BYTES;
use mcparley_model::text::display_line;
use serde_json::Value;

use mcparley_platform::thread::run_blocking;

use crate::store::{ResultHandle, ResultStore, StoreError};
use crate::stored::{StoredContent, StoredEntry, StoredResults};
use arguments::{ReadResultArgs, ReadUnit};

/// Error of a call of `ReadResult`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadResultError {
    /// No stored result has this handle.
    #[error("no stored result `{}`: use the handle from the note that replaced the result", display_line(.0))]
    UnknownHandle(String),
    /// The store cannot read the result.
    #[error("the stored result cannot be read: {0}")]
    Store(#[from] StoreError),
    /// The stored result is binary.
    #[error("the stored result is binary: use its file")]
    Binary,
    /// The stored result is not JSON, so a pointer does not apply.
    #[error("the result is not JSON, so `pointer` does not apply")]
    NotJson,
    /// The pointer does not lead to a value.
    #[error("`{}` not found: {because}", display_line(.pointer))]
    PointerNotFound {
        /// The pointer.
        pointer: String,
        /// The step of the pointer that fails.
        because: String,
    },
    /// The pattern is not a valid regular expression, or too large a one.
    #[error("the pattern cannot be used: {0}")]
    Pattern(String),
    /// The read was interrupted: the reading thread panicked.
    #[error("reading the stored result was interrupted")]
    Interrupted,
}

/// Reads a part of a stored result for a call of `ReadResult`; the text has at most `most` bytes.
pub(crate) async fn read_stored_result(
    stored: &StoredResults,
    arguments: &Value,
    most: usize,
) -> Result<String, ReadResultError> {
    let args = ReadResultArgs::from_arguments(arguments, most.min(READ_BYTES));
    let Some((handle, entry)) = stored.find_entry(&args.handle) else {
        return Err(ReadResultError::UnknownHandle(args.handle));
    };
    let store = Arc::clone(&stored.store);
    let read = run_blocking(move || {
        StoredReader { store: &*store, handle: &handle, entry: &entry }.read_part(&args)
    });
    read.await.unwrap_or(Err(ReadResultError::Interrupted))
}

/// Reader of one stored result.
struct StoredReader<'r> {
    store: &'r dyn ResultStore,
    handle: &'r ResultHandle,
    entry: &'r StoredEntry,
}

impl StoredReader<'_> {
    /// Reads the requested part. A selected value that is too long is answered with its outline.
    fn read_part(&self, args: &ReadResultArgs) -> Result<String, ReadResultError> {
        let json = match &self.entry.content {
            StoredContent::Text { json } => json,
            StoredContent::Binary => return Err(ReadResultError::Binary),
        };
        let Some(pointer) = &args.pointer else {
            return read_selection(args, self.entry.bytes, &mut |from| Ok(self.reader_from(from)));
        };
        let json = self.read_json(json.clone().ok_or(ReadResultError::NotJson)?)?;
        let selected = select::select_value(&json, pointer)?;
        if !args.wants_part() && selected.text().len() > args.most {
            return Ok(selected.oversize_note());
        }
        let text = selected.into_text();
        drop(json);
        let bytes = text.as_bytes();
        let from = |at: u64| {
            let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
            Ok(Cursor::new(rest))
        };
        read_selection(args, bytes.len() as u64, &mut |at| from(at))
    }

    /// Reads the JSON of the result, which is the given byte range.
    fn read_json(&self, range: Range<u64>) -> Result<String, ReadResultError> {
        let length = range.end.saturating_sub(range.start);
        let mut json = String::with_capacity(usize::try_from(length).unwrap_or_default());
        let read = self.reader_from(range.start).take(length).read_to_string(&mut json);
        read.map(|_| json).map_err(to_read_error)
    }

    /// A buffered reader of the result from this byte on.
    fn reader_from(&self, at: u64) -> BufReader<StoredBytes<'_>> {
        BufReader::with_capacity(64 * 1024, StoredBytes { store: self.store, handle: self.handle, at })
    }
}

/// Reads the requested part of a text. `open` opens the text at a byte offset.
fn read_selection<R: io::BufRead>(
    args: &ReadResultArgs,
    length: u64,
    open: &mut dyn FnMut(u64) -> Result<R, ReadResultError>,
) -> Result<String, ReadResultError> {
    match (&args.grep, args.unit) {
        (Some(pattern), _) => find::find_lines(args, pattern, open(0)?),
        (None, ReadUnit::Lines) => page::read_lines(args, open(0)?),
        (None, ReadUnit::Bytes) => {
            // A UTF-8 character may begin up to three bytes earlier.
            let before = args.offset.min(length).min(3);
            let start = args.offset.min(length) - before;
            page::read_bytes(args, start, before as usize, length, open(start)?)
        }
    }
}

/// [`Read`] over the bytes of a stored result.
struct StoredBytes<'r> {
    store: &'r dyn ResultStore,
    handle: &'r ResultHandle,
    at: u64,
}

impl Read for StoredBytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.store.read_bytes(self.handle, self.at, buffer).map_err(io::Error::other)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Converts an I/O error back to the store's own error inside it.
fn to_read_error(error: io::Error) -> ReadResultError {
    let text = error.to_string();
    let inner = error.into_inner().and_then(|inner| inner.downcast::<StoreError>().ok());
    ReadResultError::Store(inner.map_or_else(|| StoreError::Other(text.into()), |inner| *inner))
}
