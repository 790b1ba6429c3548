//! D-Bus values: little-endian, each aligned to its own size.

use zeroize::Zeroizing;

/// Encodes values one after another.
#[derive(Clone, Default)]
pub(in crate::vault::keychain) struct DBusWriter {
    bytes: Zeroizing<Vec<u8>>,
}

/// Decodes values; `None` as soon as one is missing.
#[derive(Debug)]
pub(in crate::vault::keychain) struct DBusReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl DBusWriter {
    pub(in crate::vault::keychain) fn into_bytes(self) -> Zeroizing<Vec<u8>> {
        self.bytes
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn write_byte(&mut self, byte: u8) -> &mut Self {
        self.bytes.push(byte);
        self
    }

    pub(in crate::vault::keychain) fn write_u32(&mut self, value: u32) -> &mut Self {
        self.pad_to(4);
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(in crate::vault::keychain) fn write_bool(&mut self, value: bool) -> &mut Self {
        self.write_u32(value.into())
    }

    /// Writes a text or an object path.
    pub(in crate::vault::keychain) fn write_text(&mut self, text: &str) -> &mut Self {
        self.write_u32(to_length(text.len()));
        self.bytes.extend_from_slice(text.as_bytes());
        self.write_byte(0)
    }

    pub(in crate::vault::keychain) fn write_octets(&mut self, octets: &[u8]) -> &mut Self {
        self.write_u32(to_length(octets.len()));
        self.bytes.extend_from_slice(octets);
        self
    }

    /// Writes the signature of the next value.
    pub(in crate::vault::keychain) fn write_signature(&mut self, kind: &str) -> &mut Self {
        self.write_byte(u8::try_from(kind.len()).unwrap_or(u8::MAX));
        self.bytes.extend_from_slice(kind.as_bytes());
        self.write_byte(0)
    }

    /// Writes a list of items that are aligned to `size`.
    pub(in crate::vault::keychain) fn write_list(
        &mut self,
        size: usize,
        fill: impl FnOnce(&mut Self),
    ) -> &mut Self {
        self.write_u32(0);
        let length_at = self.bytes.len() - 4;
        // The padding before the first item does not count.
        self.pad_to(size);
        let start = self.bytes.len();
        fill(self);
        let written = to_length(self.bytes.len() - start).to_le_bytes();
        if let Some(place) = self.bytes.get_mut(length_at..length_at + 4) {
            place.copy_from_slice(&written);
        }
        self
    }

    pub(in crate::vault::keychain) fn pad_to(&mut self, size: usize) -> &mut Self {
        let length = self.bytes.len().next_multiple_of(size);
        self.bytes.resize(length, 0);
        self
    }

    /// Appends the output of another writer, which was aligned to eight.
    pub(super) fn append_body(&mut self, bytes: &[u8]) -> &mut Self {
        self.pad_to(8);
        self.bytes.extend_from_slice(bytes);
        self
    }
}

impl<'a> DBusReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn read_byte(&mut self) -> Option<u8> {
        self.take_bytes(1)?.first().copied()
    }

    pub(in crate::vault::keychain) fn read_u32(&mut self) -> Option<u32> {
        self.skip_padding(4);
        let bytes = self.take_bytes(4)?.try_into().ok()?;
        Some(u32::from_le_bytes(bytes))
    }

    /// Reads a text or an object path.
    pub(in crate::vault::keychain) fn read_text(&mut self) -> Option<&'a str> {
        let text = self.read_octets()?;
        self.take_bytes(1)?;
        std::str::from_utf8(text).ok()
    }

    pub(in crate::vault::keychain) fn read_octets(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.read_u32()?).ok()?;
        self.take_bytes(length)
    }

    pub(in crate::vault::keychain) fn read_signature(&mut self) -> Option<&'a str> {
        let length = usize::from(self.read_byte()?);
        let kind = self.take_bytes(length)?;
        self.take_bytes(1)?;
        std::str::from_utf8(kind).ok()
    }

    /// Reads a list of object paths.
    pub(in crate::vault::keychain) fn read_paths(&mut self) -> Option<Vec<&'a str>> {
        let length = usize::try_from(self.read_u32()?).ok()?;
        let end = self.at.checked_add(length)?;
        let mut paths = Vec::new();
        while self.at < end {
            paths.push(self.read_text()?);
        }
        Some(paths)
    }

    pub(in crate::vault::keychain) fn skip_padding(&mut self, size: usize) {
        self.at = self.at.next_multiple_of(size);
    }

    fn take_bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(length)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }
}

/// A length as D-Bus writes it. All values written here are far below the limit.
fn to_length(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
