//! Salvages malformed lines: guesses whether a line was meant as a message, and for which request.
//!
//! A response that cannot be parsed would otherwise leave its caller waiting for the timeout, and a log line
//! taken for a response would fail a call whose response is on its way. This is a guess on bytes that are not
//! JSON, so it can only make a call fail sooner, never succeed.

use crate::message::Id;

/// The outermost members of a message that appear in a line, as far as the bytes show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageOutline {
    /// Whether there is a `jsonrpc`.
    pub has_version: bool,
    /// Whether there is a `method`.
    pub has_method: bool,
    /// Whether there is a `result` or an `error`.
    pub has_outcome: bool,
    /// The first `id`, if it can be one of ours.
    pub id: Option<Id>,
}

impl MessageOutline {
    /// Scans an object, or the first objects of a batch.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let Some(level) = member_level(bytes) else { return Self::default() };
        let mut outline = Self::default();
        let mut scanner = Scanner { bytes, at: 0, depth: 0 };
        let mut saw_id = false;
        while let Some(string) = scanner.next_string() {
            if scanner.depth != level || !scanner.is_before_colon() {
                continue;
            }
            match string {
                b"jsonrpc" => outline.has_version = true,
                b"method" => outline.has_method = true,
                b"result" | b"error" => outline.has_outcome = true,
                b"id" if !saw_id => {
                    saw_id = true;
                    outline.id = scanner.read_id();
                }
                _ => {}
            }
        }
        outline.find_members_after_outcome(bytes);
        outline
    }

    /// Finds the members after the outcome, where the TypeScript SDK writes them, if an extra quote inside it
    /// hides them.
    fn find_members_after_outcome(&mut self, bytes: &[u8]) {
        let is_outcome_first =
            [&br#"{"result":"#[..], br#"{"error":"#].iter().any(|start| bytes.starts_with(start));
        if !self.has_version && is_outcome_first && memchr::memmem::rfind(bytes, br#""jsonrpc":"#).is_some() {
            self.has_version = true;
            self.id = self.id.take().or_else(|| find_last_id(bytes));
        }
    }
}

/// The nesting depth of a message's members: in an object, or in the objects of a batch. `None` for a line
/// that begins otherwise, as log lines do.
fn member_level(bytes: &[u8]) -> Option<usize> {
    match bytes.strip_prefix(b"[") {
        Some(rest) => rest.trim_ascii_start().starts_with(b"{").then_some(2),
        None => bytes.starts_with(b"{").then_some(1),
    }
}

/// Finds the value of the outermost `"id"`, as far as the bytes show.
#[must_use]
pub fn find_id(bytes: &[u8]) -> Option<Id> {
    let mut scanner = Scanner { bytes, at: 0, depth: 0 };
    while let Some(string) = scanner.next_string() {
        if scanner.depth == 1 && string == b"id" && scanner.is_before_colon() {
            return scanner.read_id();
        }
    }
    None
}

/// Finds the value of the last `"id"` in the end of a message with an unknown beginning.
#[must_use]
pub fn find_last_id(tail: &[u8]) -> Option<Id> {
    let at = memchr::memmem::rfind(tail, br#""id""#)?;
    Scanner { bytes: tail, at: at + br#""id""#.len(), depth: 1 }.read_id()
}

struct Scanner<'b> {
    bytes: &'b [u8],
    at: usize,
    depth: usize,
}

impl<'b> Scanner<'b> {
    /// Moves behind the next string and returns the bytes between its quotes.
    fn next_string(&mut self) -> Option<&'b [u8]> {
        loop {
            match self.next_byte()? {
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                b'"' => return self.read_string(),
                _ => {}
            }
        }
    }

    fn read_string(&mut self) -> Option<&'b [u8]> {
        let start = self.at;
        loop {
            match self.next_byte()? {
                b'\\' => drop(self.next_byte()?),
                b'"' => return self.bytes.get(start..self.at - 1),
                _ => {}
            }
        }
    }

    /// Whether the string just passed is the name of a member.
    fn is_before_colon(&self) -> bool {
        self.bytes.get(self.at..).is_some_and(|rest| rest.trim_ascii_start().starts_with(b":"))
    }

    /// Parses the scalar behind a colon as an id.
    fn read_id(&mut self) -> Option<Id> {
        let rest = self.bytes.get(self.at..)?.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
        let end = match rest.first()? {
            b'"' => 1 + rest.get(1..)?.iter().position(|byte| *byte == b'"')? + 1,
            _ => rest.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.')?,
        };
        // `1e5` is not the id `1`.
        if rest.get(end).is_some_and(|next| !next.is_ascii_whitespace() && !b",}]".contains(next)) {
            return None;
        }
        std::str::from_utf8(rest.get(..end)?).ok().and_then(Id::parse)
    }

    fn next_byte(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied();
        self.at += 1;
        byte
    }
}

#[cfg(test)]
mod tests;
