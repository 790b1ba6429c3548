//! How much of a schema is said to a model in its API's own form.

/// How many levels of a rewritten schema stand within each other; what is deeper is taken in any form.
///
/// Real tools have six. What a schema says beyond it is still checked before a call.
pub const MODEL_SCHEMA_DEPTH: usize = 16;

/// The same for Gemini, whose API refuses schemas that are nested too deep without saying how deep that is.
pub const GEMINI_SCHEMA_DEPTH: usize = 8;

/// How many parts of a schema are read to rewrite it; those that follow are taken in any form.
///
/// References let a kilobyte stand for more parts than there are atoms. Real tools have a few hundred.
pub const MODEL_SCHEMA_PARTS: usize = 2_000;

/// How many alternatives for one value are told to a model.
pub const MODEL_ALTERNATIVES: usize = 64;

/// How many allowed values of one argument are told to a model; with more than that, only their type is.
pub const MODEL_CHOICES: usize = 500;

/// How long a remark may be that stands in a description because the API has no other place for it, in characters.
pub const REMARK_CHARS: usize = 1_000;

/// The longest name of an argument that all APIs take.
pub const ARGUMENT_NAME_LIMIT: usize = 64;

/// The longest description of a tool that every service with OpenAI's API takes, in characters.
pub const OPENAI_DESCRIPTION_CHARS: usize = 1024;

/// How many tools one request to OpenAI or Gemini may have.
pub const TOOLS_PER_REQUEST: usize = 128;
