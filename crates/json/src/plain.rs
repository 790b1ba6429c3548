//! A fast JSON validator for the compact JSON that programs write.
//!
//! A large result is validated once before it is decoded, and the validation must not cost as much as
//! decoding. Strings are scanned eight bytes at a time. The validator never accepts invalid JSON; it may
//! reject valid JSON (line ends between values, nesting deeper than 64), which is then parsed the usual
//! way.

use mcparley_model::text::can_be_hidden;

/// Whether `bytes` are certainly exactly one JSON value.
#[must_use]
pub fn is_plain_json(bytes: &[u8]) -> bool {
    ByteRange::of(bytes).is_text(bytes) && JsonScan::new(bytes).scan_document().is_some()
}

/// The lowest and the highest byte of a text.
#[derive(Clone, Copy)]
pub(crate) struct ByteRange {
    lowest: u8,
    highest: u8,
}

impl ByteRange {
    /// Scans blocks without a branch per byte, which compilers turn into vector instructions.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let join = |range: Self, byte: &u8| Self {
            lowest: range.lowest.min(*byte),
            highest: range.highest.max(*byte),
        };
        bytes.iter().fold(Self { lowest: u8::MAX, highest: 0 }, join)
    }

    /// Whether the bytes are UTF-8 without control characters.
    pub(crate) fn is_text(self, bytes: &[u8]) -> bool {
        self.lowest >= b' ' && (self.highest < 0x80 || std::str::from_utf8(bytes).is_ok())
    }

    /// Whether all bytes are printable ASCII, which is never hidden.
    pub(crate) fn is_printable_ascii(self) -> bool {
        self.lowest >= b' ' && self.highest < 0x7f
    }
}

/// A scan of JSON, with notes on the strings behind its place.
pub(crate) struct JsonScan<'b> {
    pub(crate) bytes: &'b [u8],
    pub(crate) at: usize,
    pub(crate) notes: StringNotes,
}

/// Notes on the strings that were scanned.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StringNotes {
    /// The number of escapes, each of which is at least one byte longer than its character.
    pub(crate) escapes: usize,
    /// Whether an escape has the form `\uXXXX`.
    pub(crate) has_unicode_escape: bool,
    /// Whether an escape may stand for a hidden character, or for a part of one.
    pub(crate) may_hide: bool,
    /// Whether a key may name an address, such as `uri` and `resourceUri`.
    pub(crate) may_have_address: bool,
}

/// The stack of objects and arrays around a value, the innermost in the lowest bit; 1 is an object.
#[derive(Default)]
struct Nesting {
    kinds: u64,
    depth: u32,
}

impl Nesting {
    fn enter_container(&mut self, is_object: bool) -> Option<()> {
        self.kinds = self.kinds << 1 | u64::from(is_object);
        self.depth += 1;
        (self.depth <= u64::BITS).then_some(())
    }

    fn leave_container(&mut self) {
        self.kinds >>= 1;
        self.depth -= 1;
    }

    fn is_in_object(&self) -> bool {
        self.kinds & 1 == 1
    }
}

impl<'b> JsonScan<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0, notes: StringNotes::default() }
    }

    fn scan_document(&mut self) -> Option<()> {
        self.scan_value()?;
        (self.at == self.bytes.len()).then_some(())
    }

    /// Scans one value of any kind.
    pub(crate) fn scan_value(&mut self) -> Option<()> {
        let mut around = Nesting::default();
        loop {
            if self.scan_value_start(&mut around)? && self.scan_value_end(&mut around)? {
                return Some(());
            }
        }
    }

    /// Scans a value, or enters an object or array up to its first value. Returns whether the value is
    /// complete.
    fn scan_value_start(&mut self, around: &mut Nesting) -> Option<bool> {
        match self.next_nonblank_byte()? {
            b'"' => self.scan_string()?,
            b'{' if !self.consume_byte(b'}') => {
                around.enter_container(true)?;
                self.scan_key()?;
                return Some(false);
            }
            b'[' if !self.consume_byte(b']') => {
                around.enter_container(false)?;
                return Some(false);
            }
            b'{' | b'[' => {}
            b't' => self.scan_literal(b"rue")?,
            b'f' => self.scan_literal(b"alse")?,
            b'n' => self.scan_literal(b"ull")?,
            first => self.scan_number(first)?,
        }
        Some(true)
    }

    /// Scans the separators and brackets after a value. Returns whether it was the outermost value.
    fn scan_value_end(&mut self, around: &mut Nesting) -> Option<bool> {
        while around.depth > 0 {
            match (self.next_nonblank_byte()?, around.is_in_object()) {
                (b',', true) => return self.scan_key().map(|_key| false),
                (b',', false) => return Some(false),
                (b'}', true) | (b']', false) => around.leave_container(),
                _ => return None,
            }
        }
        Some(true)
    }

    /// Scans a key and its colon. Returns the key between its quotes.
    pub(crate) fn scan_key(&mut self) -> Option<&'b [u8]> {
        (self.next_nonblank_byte()? == b'"').then_some(())?;
        let start = self.at;
        self.scan_string()?;
        let key = self.bytes.get(start..self.at - 1)?;
        // An escaped key may name anything.
        self.notes.may_have_address |= key.windows(3).any(|part| matches!(part, b"uri" | b"Uri"))
            || (self.notes.escapes > 0 && key.contains(&b'\\'));
        (self.next_nonblank_byte()? == b':').then_some(key)
    }

    /// Scans from after the opening quote to after the closing quote.
    pub(crate) fn scan_string(&mut self) -> Option<()> {
        loop {
            self.at = self.find_special_byte()?;
            if self.next_byte()? == b'"' {
                return Some(());
            }
            self.notes.escapes += 1;
            match self.next_byte()? {
                b'n' | b'"' | b'\\' | b'/' | b't' => {}
                b'b' | b'f' | b'r' => self.notes.may_hide = true,
                b'u' => self.scan_unicode_escape()?,
                _ => return None,
            }
        }
    }

    fn scan_unicode_escape(&mut self) -> Option<()> {
        let digits = self.bytes.get(self.at..)?.first_chunk::<4>()?;
        let mut unit = 0;
        for digit in digits {
            unit = unit << 4 | char::from(*digit).to_digit(16)?;
        }
        self.at += 4;
        self.notes.has_unicode_escape = true;
        // Half of a surrogate pair is no character.
        self.notes.may_hide |= char::from_u32(unit).is_none_or(can_be_hidden);
        Some(())
    }

    /// The offset of the next quote or backslash.
    fn find_special_byte(&self) -> Option<usize> {
        const QUOTES: u64 = repeat_byte(b'"');
        const BACKSLASHES: u64 = repeat_byte(b'\\');
        let mut at = self.at;
        while let Some(bytes) = self.bytes.get(at..)?.first_chunk() {
            let word = u64::from_le_bytes(*bytes);
            let found = mark_zero_bytes(word ^ QUOTES) | mark_zero_bytes(word ^ BACKSLASHES);
            if found != 0 {
                return Some(at + found.trailing_zeros() as usize / 8);
            }
            at += 8;
        }
        let rest = self.bytes.get(at..)?;
        rest.iter().position(|byte| matches!(byte, b'"' | b'\\')).map(|found| at + found)
    }

    fn scan_number(&mut self, first: u8) -> Option<()> {
        let first = if first == b'-' { self.next_byte()? } else { first };
        match first {
            b'0' => {}
            b'1'..=b'9' => drop(self.scan_digits()),
            _ => return None,
        }
        if self.consume_byte(b'.') {
            self.scan_digits()?;
        }
        if self.consume_byte(b'e') || self.consume_byte(b'E') {
            let _signed = self.consume_byte(b'+') || self.consume_byte(b'-');
            self.scan_digits()?;
        }
        Some(())
    }

    /// Scans at least one digit.
    fn scan_digits(&mut self) -> Option<()> {
        let count = self.bytes.get(self.at..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        (count > 0).then_some(())
    }

    fn scan_literal(&mut self, rest: &[u8]) -> Option<()> {
        self.bytes.get(self.at..)?.starts_with(rest).then(|| self.at += rest.len())
    }

    /// The next byte that is not a space.
    pub(crate) fn next_nonblank_byte(&mut self) -> Option<u8> {
        loop {
            match self.next_byte()? {
                b' ' => {}
                byte => return Some(byte),
            }
        }
    }

    pub(crate) fn next_byte(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied();
        self.at += 1;
        byte
    }

    pub(crate) fn consume_byte(&mut self, byte: u8) -> bool {
        let is_next = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(is_next);
        is_next
    }
}

const fn repeat_byte(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// The highest bit of every zero byte; bytes above the first zero byte may be marked, too.
fn mark_zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(repeat_byte(1)) & !word & repeat_byte(0x80)
}

#[cfg(test)]
mod tests;
