//! What servers ask of a person, and who answers (X5).
//!
//! A server may ask for a form to be filled in, or for a page to be visited. Both go to the [`Elicitor`] of the embedding
//! program; without one the answer is no. All texts are the server's word: cleaned, cut, and checked for what a person
//! should be warned of.
//!
//! | what | where |
//! |---|---|
//! | a form, what fits it, its defaults | `form` |
//! | one field of it | `field` |
//! | a page to visit | `page` |
//! | the requests of one server, from reading to the answer | `server_requests` |
//! | whose call a question belongs to | `askers` |
//! | pages that a person is done with | `visits` |

mod askers;
mod error;
mod field;
mod form;
mod page;
mod server_requests;
mod visits;

use mcparley_model::name::ServerName;
use mcparley_wire::peer::Boxed;
use serde_json::Value;

pub(crate) use askers::InFlight;
pub use error::Unanswered;
pub use field::{Choice, Doubt, Field, FieldKind};
pub use form::Form;
pub use page::{Page, PageDoubt};
pub(crate) use server_requests::{RequestedPage, ServerRequests};

/// What a server asks a person.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Elicitation<'q> {
    /// Who asks.
    pub server: &'q ServerName,
    /// Why, in the server's words, cleaned.
    pub message: &'q str,
    /// What for.
    pub ask: &'q Ask,
    /// Whether it is known for which call the server asks. If not, it is for one of several calls in flight.
    pub is_call_known: bool,
}

/// What a server asks for.
#[derive(Debug)]
#[non_exhaustive]
pub enum Ask {
    /// A form to be filled in.
    Form(Form),
    /// A page to be visited, where the server or somebody else asks for what it does not want to see here.
    Page(Page),
}

/// What a person answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// Yes. To a form with its content, an object; to a page with anything, because a page has no content.
    Accept(Value),
    /// No.
    Decline,
    /// Neither: the question was put aside.
    Cancel,
}

/// Whoever can be asked what a server wants to know. One question of a call comes at a time; several calls may ask at once.
///
/// ```
/// use mcparley::elicit::{Ask, Elicitation, Elicitor, Reply};
/// use mcparley::Boxed;
///
/// /// Takes what servers suggest, and visits nothing.
/// struct Suggested;
///
/// impl Elicitor for Suggested {
///     fn ask<'q>(&'q self, question: Elicitation<'q>) -> Boxed<'q, Reply> {
///         let reply = match question.ask {
///             Ask::Form(form) => Reply::Accept(form.defaults()),
///             _ => Reply::Decline,
///         };
///         Box::pin(std::future::ready(reply))
///     }
/// }
/// ```
pub trait Elicitor: Send + Sync + 'static {
    /// Asks. Dropping the future withdraws the question: the call was given up, or the server is gone.
    ///
    /// A page is accepted when the person agrees to visit it. It is shown in full, and never fetched or opened without
    /// that word.
    fn ask<'q>(&'q self, question: Elicitation<'q>) -> Boxed<'q, Reply>;

    /// Waits until the person says to be done at a page that was accepted, so that the call which needs it is repeated at
    /// once. Without it the call is repeated with growing pauses, or when the server tells.
    fn done<'q>(&'q self, _page: &'q Page) -> Boxed<'q, ()> {
        Box::pin(std::future::pending())
    }
}
