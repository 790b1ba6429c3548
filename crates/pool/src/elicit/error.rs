//! Errors of calls that needed input for the server and did not get it.

use mcparley_model::limits::PAGE_TIME;
use mcparley_model::text::Untrusted;

/// The reason a call could not finish: the server requested input first, and did not get it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnansweredRequest {
    /// The server requested a method that this host does not offer.
    #[error("it requested `{}`, which is not offered", method.display_line())]
    NotOffered {
        /// The requested method.
        method: Untrusted,
    },
    /// The request is malformed, so the user was not asked.
    #[error("its request is invalid: {reason}")]
    InvalidRequest {
        /// The reason.
        reason: String,
    },
    /// The answer does not match the form, so it was not sent.
    #[error("the answer does not match the form: {reason}")]
    InvalidAnswer {
        /// The mismatch; never the answer itself.
        reason: String,
    },
    /// A page has to be visited first, and there is no elicitor.
    #[error("a page must be visited first, but no user can be asked: {url}")]
    NoElicitor {
        /// The URL of the page.
        url: String,
    },
    /// A page has to be visited first, and the user declined.
    #[error("a page must be visited first, but the user declined")]
    Declined,
    /// The user agreed to visit the page, but the server still requests it after the time limit.
    #[error("the visit was accepted, but after {} minutes the server still requires it: {url}", PAGE_TIME.as_secs() / 60)]
    PageUnfinished {
        /// The URL of the page.
        url: String,
    },
    /// The server asked more questions than one call may have.
    #[error("it asked more than {limit} questions during one call")]
    TooManyQuestions {
        /// The limit.
        limit: u32,
    },
    /// The server requested sampling, and no model answered.
    #[error("sampling failed: {reason}")]
    SamplingFailed {
        /// The reason.
        reason: String,
    },
    /// The client of a gateway did not answer the server's request.
    #[error("the client did not answer its request: {reason}")]
    Refused {
        /// The reason.
        reason: String,
    },
    /// The server requested input in every round, up to the limit.
    #[error("it still requests input after {rounds} rounds")]
    TooManyRounds {
        /// The number of rounds.
        rounds: u32,
    },
}
