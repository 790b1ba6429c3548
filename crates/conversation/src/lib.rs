//! A conversation between a user, a model and the tools of MCP servers.
//!
//! | to | start at |
//! |---|---|
//! | choose a model by name or from the environment | [`ModelChoice`], [`Provider`] |
//! | send requests to it | [`ModelClient`] |
//! | talk to it, with the tools of a host | **[`Conversation`]** → [`ConversationTurn`], a stream of [`ConversationEvent`]s |
//! | add the resources that a text mentions | [`UserInput::with_mentions`] |
//! | understand a failure | [`ModelError`] |
//! | let servers sample from the model | [`ModelSampler`] |
//!
//! | topic | module |
//! |---|---|
//! | requests, answer streams and errors of each API, pure | `api` |
//! | HTTP, retries | `client`, `retry` |
//! | messages so far, valid after every cancellation | `history`, `message` |
//! | rounds, tool calls, system prompt | `conversation` |
//!
//! The crate reads no environment and prints nothing: values come in as arguments, events go out.

mod answer;
mod api;
mod call_label;
mod choice;
mod client;
mod conversation;
mod error;
mod event;
mod history;
mod input;
mod message;
mod provider;
mod request;
mod retry;
mod sampler;

pub use answer::{StopReason, TokenUsage};
pub use call_label::format_call;
pub use choice::{ModelChoice, ModelChoiceError, NO_MODEL_HINT};
pub use client::ModelClient;
pub use conversation::{Conversation, ConversationTurn};
pub use error::{ModelError, ModelErrorKind, StreamProblem};
pub use event::{ConversationEvent, FinishedTool, StartedTool, ToolCallStatus, TurnSummary};
pub use input::UserInput;
pub use provider::{
    ANTHROPIC_DEFAULT_MODEL, GEMINI_DEFAULT_MODEL, OPENAI_DEFAULT_MODEL, Provider, UnknownProvider,
};
pub use sampler::{ModelSampler, SamplingApprover};
