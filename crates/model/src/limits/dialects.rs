//! Limits of schemas that are rewritten for a model provider's API.

/// The maximum nesting of a rewritten schema; deeper values are accepted in any form.
///
/// Real tools have six levels. The full schema is still validated before a call.
pub const MODEL_SCHEMA_DEPTH: usize = 16;

/// The maximum nesting for Gemini, an API that refuses deep schemas without naming its limit.
pub const GEMINI_SCHEMA_DEPTH: usize = 8;

/// The maximum number of schema parts that are rewritten; the following ones are accepted in any form.
///
/// References let a kilobyte stand for more parts than there are atoms. Real tools have a few hundred.
pub const MODEL_SCHEMA_PARTS: usize = 2_000;

/// The maximum number of alternatives for one value that a model sees.
pub const MODEL_ALTERNATIVES: usize = 64;

/// The maximum number of allowed values of one argument that a model sees; with more, only their type is
/// shown.
pub const MODEL_CHOICES: usize = 500;

/// The maximum length, in characters, of a remark added to a description because the API has no field for
/// it.
pub const REMARK_CHARS: usize = 1_000;

/// The longest argument name that all APIs accept.
pub const ARGUMENT_NAME_LIMIT: usize = 64;

/// The longest tool description, in characters, that every service with OpenAI's API accepts.
pub const OPENAI_DESCRIPTION_CHARS: usize = 1024;

/// The maximum number of tools in one request to OpenAI or Gemini.
pub const TOOLS_PER_REQUEST: usize = 128;
