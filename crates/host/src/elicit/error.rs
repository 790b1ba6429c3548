//! Why a call could not be finished that needed an answer first.

use mcparley_model::limits::PAGE_TIME;
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
    #[error("a page has to be visited first, and nobody can be asked to: {url}")]
    Nobody {
        /// The page.
        url: String,
    },
    /// A page has to be visited first, and the person did not agree to.
    #[error("a page has to be visited first, and that was declined")]
    Declined,
    /// The person agreed to visit the page, and the server asks for it still.
    #[error("the page was agreed to, and {} minutes later it still has to be visited: {url}", PAGE_TIME.as_secs() / 60)]
    PageUnfinished {
        /// The page.
        url: String,
    },
    /// It asks a person more often than one call may.
    #[error("it asked more than {limit} questions during one call")]
    TooManyQuestions {
        /// How many it may ask.
        limit: u32,
    },
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
