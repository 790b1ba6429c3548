//! Says quickly, of the JSON that programs write, that it is JSON.
//!
//! A large answer is looked through once before anybody decodes it, and that look must not cost as much as the
//! decoding. Strings are passed eight bytes at a time. It never says yes to what is not JSON; it may say no to
//! what is (line ends between values, nesting deeper than 64), which is then read the usual way.

/// Whether `bytes` are certainly one JSON value and nothing else.
pub(crate) fn is_plain(bytes: &[u8]) -> bool {
    let has_control =
        bytes.chunks(64).any(|chunk| chunk.iter().fold(false, |found, byte| found | (*byte < b' ')));
    !has_control && std::str::from_utf8(bytes).is_ok() && Scan { bytes, at: 0 }.document().is_some()
}

struct Scan<'b> {
    bytes: &'b [u8],
    at: usize,
}

/// The objects and arrays around a value, the innermost in the lowest bit; 1 is an object.
#[derive(Default)]
struct Nesting {
    kinds: u64,
    depth: u32,
}

impl Nesting {
    fn enter(&mut self, is_object: bool) -> Option<()> {
        self.kinds = self.kinds << 1 | u64::from(is_object);
        self.depth += 1;
        (self.depth <= u64::BITS).then_some(())
    }

    fn leave(&mut self) {
        self.kinds >>= 1;
        self.depth -= 1;
    }

    fn is_in_object(&self) -> bool {
        self.kinds & 1 == 1
    }
}

impl Scan<'_> {
    fn document(&mut self) -> Option<()> {
        let mut around = Nesting::default();
        loop {
            if self.begin_value(&mut around)? && self.end_value(&mut around)? {
                return (self.at == self.bytes.len()).then_some(());
            }
        }
    }

    /// Takes a value, or enters an object or array up to its first value. Says whether the value is whole.
    fn begin_value(&mut self, around: &mut Nesting) -> Option<bool> {
        match self.take()? {
            b'"' => self.string()?,
            b'{' if !self.passes(b'}') => {
                around.enter(true)?;
                self.key()?;
                return Some(false);
            }
            b'[' if !self.passes(b']') => {
                around.enter(false)?;
                return Some(false);
            }
            b'{' | b'[' => {}
            b't' => self.word(b"rue")?,
            b'f' => self.word(b"alse")?,
            b'n' => self.word(b"ull")?,
            first => self.number(first)?,
        }
        Some(true)
    }

    /// Takes what may follow a value. Says whether it was the outermost one.
    fn end_value(&mut self, around: &mut Nesting) -> Option<bool> {
        while around.depth > 0 {
            match (self.take()?, around.is_in_object()) {
                (b',', true) => return self.key().map(|()| false),
                (b',', false) => return Some(false),
                (b'}', true) | (b']', false) => around.leave(),
                _ => return None,
            }
        }
        Some(true)
    }

    fn key(&mut self) -> Option<()> {
        (self.take()? == b'"').then_some(())?;
        self.string()?;
        (self.take()? == b':').then_some(())
    }

    /// Behind the first quote, to behind the last.
    fn string(&mut self) -> Option<()> {
        loop {
            self.at = self.special()?;
            if self.byte()? == b'"' {
                return Some(());
            }
            match self.byte()? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                b'u' => {
                    let digits = self.bytes.get(self.at..)?.first_chunk::<4>()?;
                    digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
                    self.at += 4;
                }
                _ => return None,
            }
        }
    }

    /// Where the next quote or backslash is.
    fn special(&self) -> Option<usize> {
        const QUOTES: u64 = repeat(b'"');
        const BACKSLASHES: u64 = repeat(b'\\');
        let mut at = self.at;
        while let Some(bytes) = self.bytes.get(at..)?.first_chunk() {
            let word = u64::from_le_bytes(*bytes);
            let found = zeros(word ^ QUOTES) | zeros(word ^ BACKSLASHES);
            if found != 0 {
                return Some(at + found.trailing_zeros() as usize / 8);
            }
            at += 8;
        }
        let rest = self.bytes.get(at..)?;
        rest.iter().position(|byte| matches!(byte, b'"' | b'\\')).map(|found| at + found)
    }

    fn number(&mut self, first: u8) -> Option<()> {
        let first = if first == b'-' { self.byte()? } else { first };
        match first {
            b'0' => {}
            b'1'..=b'9' => drop(self.digits()),
            _ => return None,
        }
        if self.passes(b'.') {
            self.digits()?;
        }
        if self.passes(b'e') || self.passes(b'E') {
            let _signed = self.passes(b'+') || self.passes(b'-');
            self.digits()?;
        }
        Some(())
    }

    /// At least one.
    fn digits(&mut self) -> Option<()> {
        let count = self.bytes.get(self.at..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        (count > 0).then_some(())
    }

    fn word(&mut self, rest: &[u8]) -> Option<()> {
        self.bytes.get(self.at..)?.starts_with(rest).then(|| self.at += rest.len())
    }

    /// The next byte that is not blank.
    fn take(&mut self) -> Option<u8> {
        loop {
            match self.byte()? {
                b' ' => {}
                byte => return Some(byte),
            }
        }
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied();
        self.at += 1;
        byte
    }

    fn passes(&mut self, byte: u8) -> bool {
        let is_next = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(is_next);
        is_next
    }
}

const fn repeat(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// The highest bit of every byte that is zero; above the first such byte others may be marked too.
fn zeros(word: u64) -> u64 {
    word.wrapping_sub(repeat(1)) & !word & repeat(0x80)
}

#[cfg(test)]
mod tests;
