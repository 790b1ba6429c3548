//! `ReadResult`: reads on in a stored result, a bounded piece at a time (R5).
//!
//! A pointer narrows the result down to one value of its JSON; then lines or bytes of that are given, or the lines that
//! match a pattern. What is given is never long enough to be stored again.

mod find;
mod page;
mod select;
mod wish;

#[cfg(test)]
mod tests;

use std::io::{self, BufReader, Cursor, Read};
use std::ops::Range;
use std::sync::Arc;

use mcparley_model::limits::READ_BYTES;
use mcparley_model::text::display;
use serde_json::Value;

use super::store::{Handle, ResultStore, StoreError};
use super::{Content, Kept, Results};
use crate::task;
use wish::{Unit, Wish};

/// Why nothing can be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("there is no stored result `{}`: the note in its place says what its handle is", display(.0))]
    Unknown(String),
    #[error("the stored result cannot be read: {0}")]
    Store(#[from] StoreError),
    #[error("what is stored there is no text: use its file")]
    Binary,
    #[error("the result is no JSON, so a pointer leads nowhere in it")]
    NoJson,
    #[error("`{}` leads nowhere: {because}", display(.pointer))]
    Nowhere { pointer: String, because: String },
    #[error("the pattern cannot be used: {0}")]
    Pattern(String),
    #[error("reading the stored result was interrupted")]
    Interrupted,
}

impl Results {
    /// What the arguments of a call of `ReadResult` ask for, as text. `most` is how many bytes it may have.
    pub(crate) async fn read(self: &Arc<Self>, arguments: &Value, most: usize) -> Result<String, ReadError> {
        let wish = Wish::of(arguments, most.min(READ_BYTES));
        let kept = self
            .kept()
            .get_key_value(wish.handle.as_str())
            .map(|(handle, kept)| (handle.clone(), kept.clone()));
        let Some((handle, kept)) = kept else { return Err(ReadError::Unknown(wish.handle)) };
        let store = Arc::clone(&self.store);
        let read =
            task::aside(move || Reading { store: &*store, handle: &handle, kept: &kept }.answer(&wish)).await;
        read.unwrap_or(Err(ReadError::Interrupted))
    }
}

/// One stored result that is being read.
struct Reading<'r> {
    store: &'r dyn ResultStore,
    handle: &'r Handle,
    kept: &'r Kept,
}

impl Reading<'_> {
    fn answer(&self, wish: &Wish) -> Result<String, ReadError> {
        let json = match &self.kept.content {
            Content::Text { json } => json,
            Content::Binary => return Err(ReadError::Binary),
        };
        let Some(pointer) = &wish.pointer else {
            return view(wish, self.kept.bytes, &mut |from| Ok(self.from(from)));
        };
        let json = self.json(json.clone().ok_or(ReadError::NoJson)?)?;
        let selected = select::at(&json, pointer)?;
        if !wish.is_about_parts() && selected.text().len() > wish.most {
            return Ok(selected.outlined());
        }
        let text = selected.into_text();
        drop(json);
        let bytes = text.as_bytes();
        let from = |at: u64| {
            let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
            Ok(Cursor::new(rest))
        };
        view(wish, bytes.len() as u64, &mut |at| from(at))
    }

    /// The JSON of the result.
    fn json(&self, range: Range<u64>) -> Result<String, ReadError> {
        let length = range.end.saturating_sub(range.start);
        let mut json = String::with_capacity(usize::try_from(length).unwrap_or_default());
        let read = self.from(range.start).take(length).read_to_string(&mut json);
        read.map(|_| json).map_err(failed)
    }

    /// The bytes of the result from here on.
    fn from(&self, at: u64) -> BufReader<Bytes<'_>> {
        BufReader::with_capacity(64 * 1024, Bytes { store: self.store, handle: self.handle, at })
    }
}

/// The part of a text that is wished for. `open` gives its bytes from some place on.
fn view<R: io::BufRead>(
    wish: &Wish,
    length: u64,
    open: &mut dyn FnMut(u64) -> Result<R, ReadError>,
) -> Result<String, ReadError> {
    match (&wish.grep, wish.unit) {
        (Some(pattern), _) => find::lines(wish, pattern, open(0)?),
        (None, Unit::Lines) => page::lines(wish, open(0)?),
        (None, Unit::Bytes) => {
            // A character may begin up to three bytes before.
            let before = wish.offset.min(length).min(3);
            let start = wish.offset.min(length) - before;
            page::bytes(wish, start, before as usize, length, open(start)?)
        }
    }
}

/// Reads a stored result as it stands in its store.
struct Bytes<'r> {
    store: &'r dyn ResultStore,
    handle: &'r Handle,
    at: u64,
}

impl Read for Bytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.store.read(self.handle, self.at, buffer).map_err(io::Error::other)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Gives back the store's own error.
fn failed(error: io::Error) -> ReadError {
    let text = error.to_string();
    let inner = error.into_inner().and_then(|inner| inner.downcast::<StoreError>().ok());
    ReadError::Store(inner.map_or_else(|| StoreError::Other(text.into()), |inner| *inner))
}
