//! Bytes to be sent, some of them only described: a gigabyte of one letter need not be held.

use serde_json::Value;
use std::io::{self, Write};

/// A message as it will stand on the wire, without its line end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Raw(Vec<Part>);

#[derive(Clone, Debug)]
enum Part {
    Bytes(Vec<u8>),
    Fill { byte: u8, count: u64 },
}

const CHUNK: usize = 64 * 1024;

impl Raw {
    pub(crate) fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(vec![Part::Bytes(bytes.into())])
    }

    /// As many bytes more.
    pub(crate) fn fill(mut self, byte: u8, count: u64) -> Self {
        self.0.push(Part::Fill { byte, count });
        self
    }

    /// These bytes more.
    pub(crate) fn then(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.0.push(Part::Bytes(bytes.into()));
        self
    }

    /// Another message behind this.
    pub(crate) fn join(mut self, other: &Self) -> Self {
        self.0.extend(other.0.iter().cloned());
        self
    }

    pub(crate) fn len(&self) -> u64 {
        self.0.iter().map(Part::len).sum()
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

impl From<&Value> for Raw {
    fn from(value: &Value) -> Self {
        Self::new(value.to_string())
    }
}

impl Part {
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
