//! Reads a table of vectors from a safetensors file: `embeddings`, and model2vec's optional `weights` and
//! `mapping`.
//!
//! Such a file is the length of its header (8 bytes), the header as JSON, and the numbers of all tensors, the lowest
//! byte first.

use std::collections::BTreeMap;

use mcparley_model::limits::{VECTOR_DIMENSIONS, VECTOR_HEADER_BYTES, VECTOR_TABLE_BYTES, VECTOR_TOKENS};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::WordVectorsError as Fault;

/// The names of the table: that of model2vec, and that of sentence-transformers.
const TABLE_NAMES: [&str; 2] = ["embeddings", "embedding.weight"];

/// The vectors of all tokens, one byte per number.
#[derive(Debug)]
pub(super) struct EmbeddingTable {
    dimensions: usize,
    numbers: Box<[i8]>,
    /// The factor of each row.
    scales: Box<[f32]>,
    /// For each token its row and a factor.
    tokens: Box<[(u32, f32)]>,
}

/// An entry of the header.
#[derive(Deserialize)]
struct TensorEntry {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: (u64, u64),
}

/// A tensor and its bytes.
struct Tensor<'f> {
    name: &'static str,
    shape: Vec<u64>,
    kind: NumberKind,
    bytes: &'f [u8],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NumberKind {
    I8,
    F16,
    Bf16,
    F32,
    F64,
    I32,
    I64,
}

impl EmbeddingTable {
    pub(super) fn parse(file: &[u8]) -> Result<Self, Fault> {
        let tensors = TensorFile::parse(file)?;
        let [ours, other] = TABLE_NAMES;
        let table = match tensors.find(ours)? {
            None => tensors.find(other)?,
            found => found,
        };
        let table = table.ok_or(Fault::NoEmbeddings)?;
        let (rows, dimensions) = table.table_size()?;
        let (numbers, scales) = table.quantize_rows(rows, dimensions)?;
        let mapping = tensors.find("mapping")?;
        let weights = tensors.find("weights")?;
        let count = match (&mapping, &weights) {
            (Some(tensor), _) | (None, Some(tensor)) => tensor.list_size()?,
            (None, None) => rows,
        };
        if mapping.is_none() && count != rows {
            return Err(Fault::Shape { tensor: "weights", shape: vec![count as u64] });
        }
        if let Some(weights) = weights.as_ref().filter(|weights| weights.list_size() != Ok(count)) {
            return Err(Fault::Shape { tensor: "weights", shape: weights.shape.clone() });
        }
        let token = |at: usize| {
            let row = mapping.as_ref().map_or(Ok(at as u32), |mapping| mapping.index_at(at, rows))?;
            let weight = weights.as_ref().map_or(Ok(1.0), |weights| weights.number_at(at, at))?;
            Ok((row, weight))
        };
        let tokens = (0..count).map(token).collect::<Result<_, Fault>>()?;
        Ok(Self { dimensions, numbers, scales, tokens })
    }

    pub(super) fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The number of tokens that have a vector.
    pub(super) fn tokens(&self) -> usize {
        self.tokens.len()
    }

    /// Adds the vector of a token, times `weight`, to a sum.
    pub(super) fn add_row(&self, token: u32, weight: f32, sum: &mut [f32]) {
        let Some((row, factor)) = self.tokens.get(token as usize).copied() else { return };
        let from = row as usize * self.dimensions;
        let (Some(numbers), Some(scale)) =
            (self.numbers.get(from..from + self.dimensions), self.scales.get(row as usize))
        else {
            return;
        };
        let factor = scale * factor * weight;
        for (sum, number) in sum.iter_mut().zip(numbers) {
            *sum += f32::from(*number) * factor;
        }
    }
}

/// The header of a file, and the numbers behind it.
struct TensorFile<'f> {
    entries: BTreeMap<String, &'f RawValue>,
    numbers: &'f [u8],
}

impl<'f> TensorFile<'f> {
    fn parse(file: &'f [u8]) -> Result<Self, Fault> {
        let too_short = || Fault::Header("it is too short".to_owned());
        let (length, rest) = file.split_first_chunk::<8>().ok_or_else(too_short)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        if length > VECTOR_HEADER_BYTES {
            return Err(Fault::Header("its header is too long".to_owned()));
        }
        let (header, numbers) = rest.split_at_checked(length).ok_or_else(too_short)?;
        let entries = serde_json::from_slice(header).map_err(|error| Fault::Header(error.to_string()))?;
        Ok(Self { entries, numbers })
    }

    fn find(&self, name: &'static str) -> Result<Option<Tensor<'f>>, Fault> {
        let Some(entry) = self.entries.get(name) else { return Ok(None) };
        let entry: TensorEntry =
            serde_json::from_str(entry.get()).map_err(|error| Fault::Header(error.to_string()))?;
        let kind = NumberKind::from_name(&entry.dtype)
            .ok_or_else(|| Fault::Type { tensor: name, dtype: entry.dtype.chars().take(20).collect() })?;
        let (from, to) = entry.data_offsets;
        let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
        let bytes = range.and_then(|(from, to)| self.numbers.get(from..to));
        let bytes = bytes.ok_or(Fault::Size { tensor: name })?;
        let product =
            entry.shape.iter().try_fold(kind.size() as u64, |size, length| size.checked_mul(*length));
        if product != Some(bytes.len() as u64) {
            return Err(Fault::Size { tensor: name });
        }
        Ok(Some(Tensor { name, shape: entry.shape, kind, bytes }))
    }
}

/// The numbers of all rows, and the factor of each row.
type QuantizedRows = (Box<[i8]>, Box<[f32]>);

impl Tensor<'_> {
    /// The rows and dimensions of a table.
    fn table_size(&self) -> Result<(usize, usize), Fault> {
        let [rows, dimensions] = *self.shape.as_slice() else { return Err(self.unfit_shape()) };
        if rows == 0 || dimensions == 0 {
            return Err(self.unfit_shape());
        }
        let within =
            |number: u64, limit: usize| usize::try_from(number).ok().filter(|number| *number <= limit);
        let rows = within(rows, VECTOR_TOKENS).ok_or(Fault::TOKENS)?;
        let dimensions = within(dimensions, VECTOR_DIMENSIONS).ok_or(Fault::DIMENSIONS)?;
        if rows * dimensions > VECTOR_TABLE_BYTES {
            return Err(Fault::TABLE);
        }
        Ok((rows, dimensions))
    }

    /// The length of a list.
    fn list_size(&self) -> Result<usize, Fault> {
        let [length] = *self.shape.as_slice() else { return Err(self.unfit_shape()) };
        usize::try_from(length).ok().filter(|length| *length <= VECTOR_TOKENS).ok_or(Fault::TOKENS)
    }

    fn unfit_shape(&self) -> Fault {
        Fault::Shape { tensor: self.name, shape: self.shape.iter().copied().take(8).collect() }
    }

    /// All rows with one byte per number, and the factor of each.
    fn quantize_rows(&self, rows: usize, dimensions: usize) -> Result<QuantizedRows, Fault> {
        if self.kind == NumberKind::I8 {
            let numbers = self.bytes.iter().map(|byte| byte.cast_signed()).collect();
            return Ok((numbers, vec![1.0; rows].into_boxed_slice()));
        }
        let mut numbers = Vec::with_capacity(rows * dimensions);
        let mut scales = Vec::with_capacity(rows);
        let mut row_numbers = Vec::with_capacity(dimensions);
        for row in 0..rows {
            row_numbers.clear();
            for column in 0..dimensions {
                row_numbers.push(self.number_at(row * dimensions + column, row)?);
            }
            let most = row_numbers.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
            let scale = most.max(f32::MIN_POSITIVE) / 127.0;
            numbers.extend(row_numbers.iter().map(|number| (number / scale).round() as i8));
            scales.push(scale);
        }
        Ok((numbers.into_boxed_slice(), scales.into_boxed_slice()))
    }

    /// The number at this place; `row` is named if it cannot be used.
    fn number_at(&self, at: usize, row: usize) -> Result<f32, Fault> {
        let number = match self.kind {
            NumberKind::I8 => self.chunk_at(at).map(|[byte]: [u8; 1]| f32::from(byte.cast_signed())),
            NumberKind::F16 => self.chunk_at(at).map(|bytes| half_to_f32(u16::from_le_bytes(bytes))),
            NumberKind::Bf16 => {
                self.chunk_at(at).map(|bytes| f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16))
            }
            NumberKind::F32 => self.chunk_at(at).map(f32::from_le_bytes),
            NumberKind::F64 => self.chunk_at(at).map(|bytes| f64::from_le_bytes(bytes) as f32),
            NumberKind::I32 | NumberKind::I64 => None,
        };
        // Larger numbers would overflow in sums; no model has them.
        let is_usable = |number: &f32| number.is_finite() && number.abs() < LARGEST;
        number.filter(is_usable).ok_or(Fault::Number { tensor: self.name, row })
    }

    /// The index at this place, which must be below `limit`.
    fn index_at(&self, at: usize, limit: usize) -> Result<u32, Fault> {
        let index = match self.kind {
            NumberKind::I32 => self.chunk_at(at).map(|bytes| i64::from(i32::from_le_bytes(bytes))),
            NumberKind::I64 => self.chunk_at(at).map(i64::from_le_bytes),
            NumberKind::I8 | NumberKind::F16 | NumberKind::Bf16 | NumberKind::F32 | NumberKind::F64 => None,
        };
        let index =
            index.and_then(|index| u32::try_from(index).ok()).filter(|index| (*index as usize) < limit);
        index.ok_or(Fault::Number { tensor: self.name, row: at })
    }

    fn chunk_at<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        let from = at.checked_mul(N)?;
        self.bytes.get(from..from.checked_add(N)?)?.first_chunk().copied()
    }
}

/// The largest usable number.
const LARGEST: f32 = 1e9;

impl NumberKind {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "I8" => Self::I8,
            "F16" => Self::F16,
            "BF16" => Self::Bf16,
            "F32" => Self::F32,
            "F64" => Self::F64,
            "I32" => Self::I32,
            "I64" => Self::I64,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Self::I8 => 1,
            Self::F16 | Self::Bf16 => 2,
            Self::F32 | Self::I32 => 4,
            Self::F64 | Self::I64 => 8,
        }
    }
}

/// A number of IEEE 754's half precision.
fn half_to_f32(bits: u16) -> f32 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from((bits >> 10) & 0x1f), f32::from(bits & 0x3ff));
    match exponent {
        0 => sign * fraction * 2_f32.powi(-24),
        0x1f => f32::NAN,
        _ => sign * (1.0 + fraction / 1024.0) * 2_f32.powi(exponent - 15),
    }
}
