//! A request to a model, independent of its API.

use serde_json::value::RawValue;

use crate::message::Message;

/// A request to a model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModelRequest<'r> {
    /// The system prompt; empty for none.
    pub(crate) system: &'r str,
    pub(crate) messages: &'r [Message],
    /// The tools in the form of the provider; `None` for none.
    pub(crate) tools: Option<&'r RawValue>,
    pub(crate) sampling: SamplingSettings<'r>,
}

/// Settings of the generation, which servers may request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SamplingSettings<'r> {
    pub(crate) max_tokens: Option<u64>,
    pub(crate) temperature: Option<f64>,
    pub(crate) stop_sequences: &'r [String],
}
