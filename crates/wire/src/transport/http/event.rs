//! Decodes server-sent events (SSE) from a byte stream, bounded.
//!
//! Pure, after the grammar in the HTML standard (9.2.6): the result is independent of the chunking. The
//! reader decides which events are messages, and how event ids are used.

use std::time::Duration;

use bytes::{Bytes, BytesMut};

/// The longest reconnect pause a server can request: longer would mean that it is closed for good.
pub(in crate::transport) const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The shortest reconnect pause: a server that requests zero and closes at once would keep us busy forever.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);

/// More than the name of a field takes, which is no part of its value.
const FIELD: usize = 8;

/// Limit of an event's name and id. They are stored beside the data, so they have a limit of their own.
const WORD_BYTES: usize = 8 * 1024;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// One server-sent event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The type of the event; `message` by default.
    pub name: Bytes,
    /// The `data` lines, joined.
    pub data: Bytes,
}

/// Error: an event exceeds the size limit. The rest of the stream is unusable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventTooLarge;

/// Decoder of server-sent events.
#[derive(Debug)]
pub struct EventDecoder {
    line: BytesMut,
    /// `None` until the event has a `data` line, which may be empty.
    data: Option<BytesMut>,
    name: Bytes,
    /// The id that the next dispatched event makes the last one.
    id: Bytes,
    last_id: Bytes,
    retry: Option<Duration>,
    /// Whether the last chunk ended in CR, so that an LF now belongs to it.
    after_cr: bool,
    begun: bool,
    limit: usize,
}

impl EventDecoder {
    /// A decoder that accepts events of up to `limit` bytes.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
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

    /// A decoder for the stream that resumes this one, with the same last id and reconnect pause.
    pub(in crate::transport) fn for_resumption(&self) -> Self {
        let id = self.last_id.clone();
        Self { id: id.clone(), last_id: id, retry: self.retry, ..Self::with_limit(self.limit) }
    }

    /// Consumes the next bytes and adds the completed events, those before an overflow too.
    ///
    /// # Errors
    /// [`EventTooLarge`] when an event exceeds the limit.
    pub fn feed(&mut self, mut chunk: &[u8], events: &mut impl Extend<Event>) -> Result<(), EventTooLarge> {
        if let [first, rest @ ..] = chunk
            && std::mem::take(&mut self.after_cr)
            && *first == b'\n'
        {
            chunk = rest;
        }
        while let Some(end) = memchr::memchr2(b'\r', b'\n', chunk) {
            let (line, rest) = chunk.split_at(end);
            self.extend_line(line)?;
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
        self.extend_line(chunk)
    }

    /// The id of the last event that had one.
    #[must_use]
    pub fn last_id(&self) -> Option<&Bytes> {
        Some(&self.last_id).filter(|id| !id.is_empty())
    }

    /// The reconnect pause that the server requested, capped.
    #[must_use]
    pub fn retry_pause(&self) -> Option<Duration> {
        self.retry
    }

    fn extend_line(&mut self, part: &[u8]) -> Result<(), EventTooLarge> {
        let held = self.line.len() + self.data.as_ref().map_or(0, BytesMut::len);
        if held + part.len() > self.limit + FIELD {
            return Err(EventTooLarge);
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    fn end_line(&mut self) -> Result<Option<Event>, EventTooLarge> {
        let mut line = self.line.split();
        if !std::mem::replace(&mut self.begun, true) && line.starts_with(BYTE_ORDER_MARK) {
            line = line.split_off(BYTE_ORDER_MARK.len());
        }
        if line.is_empty() {
            return Ok(self.dispatch_event());
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
            b"data" => self.add_data(value)?,
            // Copied: a slice would keep all the memory around it alive.
            b"event" => {
                self.name = Bytes::copy_from_slice(value.get(..WORD_BYTES).unwrap_or(&value));
            }
            b"id" if !value.contains(&0) && value.len() <= WORD_BYTES => {
                self.id = Bytes::copy_from_slice(&value);
            }
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                self.retry = Some(parse_retry_pause(&value));
            }
            // A comment has an empty field name; unknown fields are ignored.
            _ => {}
        }
        Ok(None)
    }

    fn add_data(&mut self, value: BytesMut) -> Result<(), EventTooLarge> {
        let held = self.data.as_ref().map_or(0, |data| data.len() + 1);
        if held + value.len() > self.limit {
            return Err(EventTooLarge);
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

    fn dispatch_event(&mut self) -> Option<Event> {
        self.last_id = self.id.clone();
        let name = std::mem::take(&mut self.name);
        let name = if name.is_empty() { Bytes::from_static(b"message") } else { name };
        self.data.take().map(|data| Event { name, data: data.freeze() })
    }
}

/// Parses a reconnect pause. Digits that overflow a number mean the longest pause.
fn parse_retry_pause(digits: &[u8]) -> Duration {
    let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
    number.map_or(LONGEST_PAUSE, Duration::from_millis).clamp(SHORTEST_PAUSE, LONGEST_PAUSE)
}

#[cfg(test)]
mod tests;
