//! Cuts a stream of bytes into server-sent events, bounded.
//!
//! Pure, after the grammar in the HTML standard (9.2.6): how the bytes are chunked changes nothing. Which
//! events are messages, and what an event id is good for, is decided by who reads.

use std::time::Duration;

use bytes::{Bytes, BytesMut};

/// The longest pause a server can make us keep: it may as well have closed for good.
pub(in crate::transport) const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The shortest: a server that says "at once" and closes at once would keep us busy for ever.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);

/// More than the name of a field takes, which is no part of its value.
const FIELD: usize = 8;

/// More than any name or id of an event has. They are kept beside the data, so they have a limit of their own.
const WORD_BYTES: usize = 8 * 1024;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::transport) struct Event {
    /// Its type; `message` unless told otherwise.
    pub(in crate::transport) name: Bytes,
    /// Its lines, joined.
    pub(in crate::transport) data: Bytes,
}

/// An event is larger than we take. Nothing sensible can follow on the same stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transport) struct TooLarge;

/// Cuts events.
#[derive(Debug)]
pub(in crate::transport) struct Events {
    line: BytesMut,
    /// Absent until the event has a `data` line, which may be empty.
    data: Option<BytesMut>,
    name: Bytes,
    /// The id the next dispatch makes the last one.
    id: Bytes,
    last_id: Bytes,
    retry: Option<Duration>,
    /// The last chunk ended in CR, so that an LF now belongs to it.
    after_cr: bool,
    begun: bool,
    limit: usize,
}

impl Events {
    pub(in crate::transport) fn with_limit(limit: usize) -> Self {
        Self {
            line: BytesMut::new(),
            data: None,
            name: Bytes::new(),
            id: Bytes::new(),
            last_id: Bytes::new(),
            retry: None,
            after_cr: false,
            begun: false,
            limit,
        }
    }

    /// For the stream that follows this one: what the server said about coming back still holds.
    pub(in crate::transport) fn taken_up(&self) -> Self {
        let id = self.last_id.clone();
        Self { id: id.clone(), last_id: id, retry: self.retry, ..Self::with_limit(self.limit) }
    }

    /// Takes the next bytes and adds the events they complete, those before an overflow too.
    pub(in crate::transport) fn feed(
        &mut self,
        mut chunk: &[u8],
        events: &mut impl Extend<Event>,
    ) -> Result<(), TooLarge> {
        if let [first, rest @ ..] = chunk
            && std::mem::take(&mut self.after_cr)
            && *first == b'\n'
        {
            chunk = rest;
        }
        while let Some(end) = memchr::memchr2(b'\r', b'\n', chunk) {
            let (line, rest) = chunk.split_at(end);
            self.extend(line)?;
            events.extend(self.end_line()?);
            chunk = match rest {
                [b'\r', b'\n', rest @ ..] => rest,
                [b'\r'] => {
                    self.after_cr = true;
                    &[]
                }
                [_, rest @ ..] => rest,
                [] => &[],
            };
        }
        self.extend(chunk)
    }

    /// The id of the last event that had one.
    pub(in crate::transport) fn last_id(&self) -> Option<&Bytes> {
        Some(&self.last_id).filter(|id| !id.is_empty())
    }

    /// How long the server wants us to pause before we come back, capped.
    pub(in crate::transport) fn retry(&self) -> Option<Duration> {
        self.retry
    }

    fn extend(&mut self, part: &[u8]) -> Result<(), TooLarge> {
        let held = self.line.len() + self.data.as_ref().map_or(0, BytesMut::len);
        if held + part.len() > self.limit + FIELD {
            return Err(TooLarge);
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    fn end_line(&mut self) -> Result<Option<Event>, TooLarge> {
        let mut line = self.line.split();
        if !std::mem::replace(&mut self.begun, true) && line.starts_with(BYTE_ORDER_MARK) {
            line = line.split_off(BYTE_ORDER_MARK.len());
        }
        if line.is_empty() {
            return Ok(self.dispatch());
        }
        let (field, value) = match memchr::memchr(b':', &line) {
            Some(colon) => {
                let space = usize::from(line.get(colon + 1) == Some(&b' '));
                let value = line.split_off(colon + 1 + space);
                line.truncate(colon);
                (line, value)
            }
            None => (line, BytesMut::new()),
        };
        match field.as_ref() {
            b"data" => self.add(value)?,
            // Copied: a slice would keep all the memory around it alive.
            b"event" => {
                self.name = Bytes::copy_from_slice(value.get(..WORD_BYTES).unwrap_or(&value));
            }
            b"id" if !value.contains(&0) && value.len() <= WORD_BYTES => {
                self.id = Bytes::copy_from_slice(&value);
            }
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                self.retry = Some(pause(&value));
            }
            // A comment has an empty field name; what is unknown is ignored.
            _ => {}
        }
        Ok(None)
    }

    fn add(&mut self, value: BytesMut) -> Result<(), TooLarge> {
        let held = self.data.as_ref().map_or(0, |data| data.len() + 1);
        if held + value.len() > self.limit {
            return Err(TooLarge);
        }
        match &mut self.data {
            // Most events have one line, which is then not copied.
            None => self.data = Some(value),
            Some(data) => {
                data.extend_from_slice(b"\n");
                data.extend_from_slice(&value);
            }
        }
        Ok(())
    }

    fn dispatch(&mut self) -> Option<Event> {
        self.last_id = self.id.clone();
        let name = std::mem::take(&mut self.name);
        let name = if name.is_empty() { Bytes::from_static(b"message") } else { name };
        self.data.take().map(|data| Event { name, data: data.freeze() })
    }
}

/// What is no number any more is longer than the cap.
fn pause(digits: &[u8]) -> Duration {
    let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
    number.map_or(LONGEST_PAUSE, Duration::from_millis).clamp(SHORTEST_PAUSE, LONGEST_PAUSE)
}

#[cfg(test)]
mod tests;
