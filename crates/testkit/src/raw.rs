//! Bytes to send, with runs of one byte stored as a count: a gigabyte of one letter takes no memory.

use serde_json::Value;
use std::io::{self, Write};

/// A message as it is sent, without its line end.
#[derive(Clone, Debug, Default)]
pub(crate) struct RawBytes(Vec<RawPart>);

#[derive(Clone, Debug)]
enum RawPart {
    Bytes(Vec<u8>),
    Fill { byte: u8, count: u64 },
}

const CHUNK: usize = 64 * 1024;

impl RawBytes {
    pub(crate) fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(vec![RawPart::Bytes(bytes.into())])
    }

    /// Appends `count` copies of a byte.
    pub(crate) fn append_fill(mut self, byte: u8, count: u64) -> Self {
        self.0.push(RawPart::Fill { byte, count });
        self
    }

    /// Appends bytes.
    pub(crate) fn append_bytes(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.0.push(RawPart::Bytes(bytes.into()));
        self
    }

    /// Appends another message.
    pub(crate) fn append_raw(mut self, other: &Self) -> Self {
        self.0.extend(other.0.iter().cloned());
        self
    }

    pub(crate) fn len(&self) -> u64 {
        self.0.iter().map(RawPart::len).sum()
    }

    pub(crate) fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        self.0.iter().try_for_each(|part| part.write_to(out))
    }

    pub(crate) fn to_vec(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes)?;
        Ok(bytes)
    }
}

impl From<&Value> for RawBytes {
    fn from(value: &Value) -> Self {
        Self::new(value.to_string())
    }
}

impl RawPart {
    fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Fill { count, .. } => *count,
        }
    }

    fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Bytes(bytes) => out.write_all(bytes),
            Self::Fill { byte, count } => {
                let chunk = [*byte; CHUNK];
                let mut left = usize::try_from(*count).unwrap_or(usize::MAX);
                while left > 0 {
                    let part = chunk.get(..left).unwrap_or(&chunk);
                    out.write_all(part)?;
                    left -= part.len();
                }
                Ok(())
            }
        }
    }
}
