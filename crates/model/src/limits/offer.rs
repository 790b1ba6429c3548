//! What the tool definitions in a model's context may take (N10).

/// How many tokens the definitions of the tools may take when nothing is known about the model's context.
pub const OFFER_TOKENS: u64 = 10_000;

/// What they may take of a context whose size is known, in percent.
pub const OFFER_PERCENT: u64 = 10;
