//! What servers ask a model, and who answers (X6).
//!
//! A server may want a model to write something: by a request in the old era, as a wish before it answers a call in the
//! new one. Both go to the [`Sampler`] of the embedding program. Without one, servers are told that there is no model,
//! and one that asks all the same is refused.
//!
//! Whether a person has to agree is for the embedding program to decide: it knows whose model and whose money it is. The
//! protocol wants one to be able to look at the question and at the answer.
//!
//! | what | where |
//! |---|---|
//! | a question, as it was read | `request` |
//! | the questions of one server, from reading to the answer | `window` |

mod request;
mod window;

use mcparley_wire::peer::Boxed;
use serde_json::{Value, json};

pub use request::{Message, Part, Preferences, Role, Sampling, ToolChoice};
pub(crate) use window::{Unsampled, Window};

/// Whoever has a model that servers may ask.
///
/// ```
/// use mcparley::sample::{Refusal, Sampled, Sampler, Sampling};
/// use mcparley::Boxed;
///
/// /// A model that says what it was told last.
/// struct Parrot;
///
/// impl Sampler for Parrot {
///     fn sample<'s>(&'s self, request: &'s Sampling) -> Boxed<'s, Result<Sampled, Refusal>> {
///         let last = request.messages.last().map(|message| message.text()).unwrap_or_default();
///         Box::pin(std::future::ready(Ok(Sampled::text("parrot-1", &last))))
///     }
/// }
/// ```
pub trait Sampler: Send + Sync + 'static {
    /// Asks the model. Dropping the future withdraws the question: the call was given up, or the server is gone.
    ///
    /// All texts are the server's word, and a model that reads them is told by a stranger what to do. Give it no tools
    /// but those of the request, and none of the conversation it belongs to.
    fn sample<'s>(&'s self, request: &'s Sampling) -> Boxed<'s, Result<Sampled, Refusal>>;

    /// Whether servers may bring tools for the model to use (2025-11-25 and later). They use them themselves: the model
    /// only says which it wants.
    fn takes_tools(&self) -> bool {
        false
    }
}

/// What a model wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled {
    /// Which model it was.
    pub model: String,
    /// Blocks of content as MCP has them: `text`, `image`, `audio`, and `tool_use` where the question brought tools.
    pub content: Vec<Value>,
    /// Why it stopped: `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or something of the provider's own.
    pub stop_reason: Option<String>,
}

impl Sampled {
    /// A text, at whose end the model stopped by itself.
    #[must_use]
    pub fn text(model: &str, text: &str) -> Self {
        let content = vec![json!({ "type": "text", "text": text })];
        Self { model: model.to_owned(), content, stop_reason: Some("endTurn".to_owned()) }
    }

    /// As the protocol has it. One block stands alone, because versions before 2025-11-25 know no lists.
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

/// Why a server has no answer of a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A person, or whoever speaks for one, does not want it.
    #[error("the request was declined")]
    Declined,
    /// The model gave none.
    #[error("the model gave no answer: {reason}")]
    Failed {
        /// Why. The server is told.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    // X6
    #[test]
    fn one_block_stands_alone_and_several_are_a_list() {
        let one = Sampled::text("m", "hi").into_result();
        let block = json!({ "type": "text", "text": "hi" });
        assert_eq!(
            one,
            json!({ "role": "assistant", "content": block, "model": "m", "stopReason": "endTurn" })
        );
        let two = Sampled { model: "m".into(), content: vec![block.clone(), json!({})], stop_reason: None };
        assert_eq!(two.into_result(), json!({ "role": "assistant", "content": [block, {}], "model": "m" }));
        let none = Sampled { model: "m".into(), content: Vec::new(), stop_reason: None };
        assert_eq!(none.into_result()["content"], json!([]));
    }
}
