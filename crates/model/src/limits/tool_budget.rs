//! The token budget of the tool definitions in a model's context.

/// The token budget of the tool definitions when the size of the model's context is unknown.
pub const OFFER_TOKENS: u64 = 10_000;

/// The budget in percent of a context of known size.
pub const OFFER_PERCENT: u64 = 10;
