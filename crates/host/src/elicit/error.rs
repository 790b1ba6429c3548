//! Why a call could not be finished that needed an answer first.

use mcparley_model::text::Untrusted;

/// Why a call could not be finished whose server wanted something first.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unanswered {
    /// The server wants what this host has not.
    #[error("it wants `{}`, which is not offered", method.display())]
    NotOffered {
        /// The method it wants.
        method: Untrusted,
    },
    /// What it asks is not as it must be, and nobody was asked.
    #[error("what it asks cannot be asked: {reason}")]
    Unaskable {
        /// Why.
        reason: String,
    },
    /// What was answered does not fit what was asked, so it was not sent.
    #[error("the answer does not fit the form: {reason}")]
    Unfit {
        /// What does not fit; never the answer itself.
        reason: String,
    },
    /// A page has to be visited first, and nobody can be asked to.
    #[error("a page has to be visited first, and nobody can be asked to")]
    Nobody,
    /// A page has to be visited first, and the person did not agree to.
    #[error("a page has to be visited first, and that was declined")]
    Declined,
    /// It wants a model to answer something, and none did.
    #[error("it asks a model, and has no answer: {reason}")]
    Unsampled {
        /// Why.
        reason: String,
    },
    /// It does not stop wanting something.
    #[error("it still wants something after {rounds} rounds")]
    Endless {
        /// How many there were.
        rounds: u32,
    },
}
