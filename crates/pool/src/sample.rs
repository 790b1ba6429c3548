//! Sampling: requests of servers to a model, answered by the [`Sampler`] of the embedding program.
//!
//! In the old era sampling is a request of the server; in the new era it is part of the answer to a call.
//! Both go to the sampler. Without one the capability is not offered, and a server that requests sampling
//! anyway is refused.
//!
//! The embedding program decides whether the user has to agree, because it provides and pays for the model.
//! The protocol asks that the user can review both the request and the result.
//!
//! | topic | module |
//! |---|---|
//! | a sampling request, parsed | `request` |
//! | the sampling requests of one server, with rate limit and concurrency limit | `service` |

mod request;
mod service;

use mcparley_wire::peer::BoxedFuture;
use serde_json::{Value, json};

pub use request::{ModelPreferences, Role, SamplingMessage, SamplingPart, SamplingRequest, ToolChoice};
pub(crate) use service::{SamplingError, SamplingService};

/// The sampling handler of the embedding program.
///
/// ```
/// use mcparley_pool::sample::{Sampler, SamplingRefusal, SamplingRequest, SamplingResult};
/// use mcparley_wire::peer::BoxedFuture;
///
/// /// A model that repeats the last message.
/// struct Parrot;
///
/// impl Sampler for Parrot {
///     fn sample<'s>(
///         &'s self,
///         request: &'s SamplingRequest,
///     ) -> BoxedFuture<'s, Result<SamplingResult, SamplingRefusal>> {
///         let last = request.messages.last().map(|message| message.text()).unwrap_or_default();
///         Box::pin(std::future::ready(Ok(SamplingResult::from_text("parrot-1", &last))))
///     }
/// }
/// ```
pub trait Sampler: Send + Sync + 'static {
    /// Asks the model. Dropping the future withdraws the request: the call was canceled, or the server is
    /// gone.
    ///
    /// All texts come from the server and may contain instructions for the model (prompt injection). Give the
    /// model no tools except those of the request, and no part of the user's conversation.
    fn sample<'s>(
        &'s self,
        request: &'s SamplingRequest,
    ) -> BoxedFuture<'s, Result<SamplingResult, SamplingRefusal>>;

    /// Whether requests may include tools (2025-11-25 and later). The server executes them itself: the model
    /// only selects them.
    fn takes_tools(&self) -> bool {
        false
    }
}

/// The result of a sampling request.
#[derive(Clone, Debug, PartialEq)]
pub struct SamplingResult {
    /// The name of the model.
    pub model: String,
    /// MCP content blocks: `text`, `image`, `audio`, and `tool_use` if the request included tools.
    pub content: Vec<Value>,
    /// The stop reason: `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or one of the provider's own.
    pub stop_reason: Option<String>,
}

impl SamplingResult {
    /// A text result that ended with `endTurn`.
    #[must_use]
    pub fn from_text(model: &str, text: &str) -> Self {
        let content = vec![json!({ "type": "text", "text": text })];
        Self { model: model.to_owned(), content, stop_reason: Some("endTurn".to_owned()) }
    }

    /// The result in the form of the protocol. A single block is not a list, because versions before
    /// 2025-11-25 have none.
    fn into_result(self) -> Value {
        let Self { model, mut content, stop_reason } = self;
        let content = match content.pop() {
            Some(only) if content.is_empty() => only,
            last => Value::Array(content.into_iter().chain(last).collect()),
        };
        let mut result = json!({ "role": "assistant", "content": content, "model": model });
        if let Some(reason) = stop_reason {
            result["stopReason"] = reason.into();
        }
        result
    }
}

/// The reason a sampling request was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SamplingRefusal {
    /// The user, or a policy, declined the request.
    #[error("the request was declined")]
    Declined,
    /// The model gave no answer.
    #[error("the model gave no answer: {reason}")]
    Failed {
        /// The reason, which is sent to the server.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    // X6
    #[test]
    fn single_block_is_not_a_list_and_several_are() {
        let one = SamplingResult::from_text("m", "hi").into_result();
        let block = json!({ "type": "text", "text": "hi" });
        assert_eq!(
            one,
            json!({ "role": "assistant", "content": block, "model": "m", "stopReason": "endTurn" })
        );
        let two =
            SamplingResult { model: "m".into(), content: vec![block.clone(), json!({})], stop_reason: None };
        assert_eq!(two.into_result(), json!({ "role": "assistant", "content": [block, {}], "model": "m" }));
        let none = SamplingResult { model: "m".into(), content: Vec::new(), stop_reason: None };
        assert_eq!(none.into_result()["content"], json!([]));
    }
}
