//! Results in the form of a client's era.

pub(crate) mod answer;
pub(crate) mod handshake;
pub(crate) mod instructions;
pub(crate) mod item;
mod result;
mod tool;

use mcparley_wire::{INTERNAL, RawJson, RpcError};

/// Serializes a result.
pub(crate) fn serialize_result(value: &impl serde::Serialize) -> Result<RawJson, RpcError> {
    RawJson::from_value(value).map_err(|_| RpcError::new(INTERNAL, "the answer cannot be written"))
}
