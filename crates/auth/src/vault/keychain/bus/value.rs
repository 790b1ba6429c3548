//! Values as the bus writes them: little-endian, each on a multiple of its own size.

use zeroize::Zeroizing;

/// Writes values one after another and remembers their kinds.
#[derive(Clone, Default)]
pub(in crate::vault::keychain) struct Writer {
    bytes: Zeroizing<Vec<u8>>,
}

/// Reads values; `None` as soon as one is not there.
#[derive(Debug)]
pub(in crate::vault::keychain) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Writer {
    pub(in crate::vault::keychain) fn into_bytes(self) -> Zeroizing<Vec<u8>> {
        self.bytes
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn byte(&mut self, byte: u8) -> &mut Self {
        self.bytes.push(byte);
        self
    }

    pub(in crate::vault::keychain) fn u32(&mut self, value: u32) -> &mut Self {
        self.align(4);
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(in crate::vault::keychain) fn boolean(&mut self, value: bool) -> &mut Self {
        self.u32(value.into())
    }

    /// A text or the path of an object.
    pub(in crate::vault::keychain) fn text(&mut self, text: &str) -> &mut Self {
        self.u32(length(text.len()));
        self.bytes.extend_from_slice(text.as_bytes());
        self.byte(0)
    }

    pub(in crate::vault::keychain) fn octets(&mut self, octets: &[u8]) -> &mut Self {
        self.u32(length(octets.len()));
        self.bytes.extend_from_slice(octets);
        self
    }

    /// The kind of what follows.
    pub(in crate::vault::keychain) fn kind(&mut self, kind: &str) -> &mut Self {
        self.byte(u8::try_from(kind.len()).unwrap_or(u8::MAX));
        self.bytes.extend_from_slice(kind.as_bytes());
        self.byte(0)
    }

    /// A list of things that begin on a multiple of `size`.
    pub(in crate::vault::keychain) fn list(
        &mut self,
        size: usize,
        fill: impl FnOnce(&mut Self),
    ) -> &mut Self {
        self.u32(0);
        let length_at = self.bytes.len() - 4;
        // The room before the first thing does not count.
        self.align(size);
        let start = self.bytes.len();
        fill(self);
        let written = length(self.bytes.len() - start).to_le_bytes();
        if let Some(place) = self.bytes.get_mut(length_at..length_at + 4) {
            place.copy_from_slice(&written);
        }
        self
    }

    pub(in crate::vault::keychain) fn align(&mut self, size: usize) -> &mut Self {
        let length = self.bytes.len().next_multiple_of(size);
        self.bytes.resize(length, 0);
        self
    }

    /// What another writer wrote, which began on a multiple of eight.
    pub(super) fn append(&mut self, bytes: &[u8]) -> &mut Self {
        self.align(8);
        self.bytes.extend_from_slice(bytes);
        self
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    pub(in crate::vault::keychain) fn u32(&mut self) -> Option<u32> {
        self.align(4);
        let bytes = self.take(4)?.try_into().ok()?;
        Some(u32::from_le_bytes(bytes))
    }

    /// A text or the path of an object.
    pub(in crate::vault::keychain) fn text(&mut self) -> Option<&'a str> {
        let text = self.octets()?;
        self.take(1)?;
        std::str::from_utf8(text).ok()
    }

    pub(in crate::vault::keychain) fn octets(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.u32()?).ok()?;
        self.take(length)
    }

    pub(in crate::vault::keychain) fn kind(&mut self) -> Option<&'a str> {
        let length = usize::from(self.byte()?);
        let kind = self.take(length)?;
        self.take(1)?;
        std::str::from_utf8(kind).ok()
    }

    /// The paths of a list of objects.
    pub(in crate::vault::keychain) fn paths(&mut self) -> Option<Vec<&'a str>> {
        let length = usize::try_from(self.u32()?).ok()?;
        let end = self.at.checked_add(length)?;
        let mut paths = Vec::new();
        while self.at < end {
            paths.push(self.text()?);
        }
        Some(paths)
    }

    pub(in crate::vault::keychain) fn align(&mut self, size: usize) {
        self.at = self.at.next_multiple_of(size);
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(length)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }
}

/// Nothing we write comes near the limit.
fn length(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
