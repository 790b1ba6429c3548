//! Results in the form of a client's era.

pub(crate) mod answer;
pub(crate) mod era;
pub(crate) mod extension_task;
pub(crate) mod handshake;
pub(crate) mod input_requests;
pub(crate) mod instructions;
pub(crate) mod item;
pub(crate) mod log_message;
pub(crate) mod page;
pub(crate) mod resource_update;
mod result;

use mcparley_wire::{INTERNAL, RawJson, RpcError};

/// Serializes a result.
pub(crate) fn serialize_result(value: &impl serde::Serialize) -> Result<RawJson, RpcError> {
    RawJson::from_value(value).map_err(|_| RpcError::new(INTERNAL, "the answer cannot be written"))
}
