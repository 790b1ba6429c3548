//! Finds out which request a broken message was meant to answer.
//!
//! A reply that cannot be read would otherwise leave its caller waiting for the limit (K7). It is a guess
//! on bytes that are not JSON, so it only ever makes a call fail sooner, never succeed.

use crate::message::Id;

/// The value of the outermost `"id"`, as far as the bytes let it be seen.
pub(crate) fn id(bytes: &[u8]) -> Option<Id> {
    let mut scanner = Scanner { bytes, at: 0, depth: 0 };
    while let Some(string) = scanner.next_string() {
        if scanner.depth == 1 && string == b"id" {
            return scanner.value();
        }
    }
    None
}

/// The value of the last `"id"` in the end of a message whose beginning is not known.
pub(crate) fn last_id(tail: &[u8]) -> Option<Id> {
    let at = memchr::memmem::rfind(tail, br#""id""#)?;
    Scanner { bytes: tail, at: at + br#""id""#.len(), depth: 1 }.value()
}

struct Scanner<'b> {
    bytes: &'b [u8],
    at: usize,
    depth: usize,
}

impl<'b> Scanner<'b> {
    /// Moves behind the next string and gives what is between its quotes.
    fn next_string(&mut self) -> Option<&'b [u8]> {
        loop {
            match self.take()? {
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                b'"' => return self.string(),
                _ => {}
            }
        }
    }

    fn string(&mut self) -> Option<&'b [u8]> {
        let start = self.at;
        loop {
            match self.take()? {
                b'\\' => drop(self.take()?),
                b'"' => return self.bytes.get(start..self.at - 1),
                _ => {}
            }
        }
    }

    /// The scalar behind a colon.
    fn value(&mut self) -> Option<Id> {
        let rest = self.bytes.get(self.at..)?.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
        let end = match rest.first()? {
            b'"' => 1 + rest.get(1..)?.iter().position(|byte| *byte == b'"')? + 1,
            _ => rest.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.')?,
        };
        std::str::from_utf8(rest.get(..end)?).ok().and_then(Id::read)
    }

    fn take(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied();
        self.at += 1;
        byte
    }
}

#[cfg(test)]
mod tests;
