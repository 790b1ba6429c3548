//! Elicitation: questions of servers to the user, answered by the [`Elicitor`] of the embedding program.
//!
//! A server may ask for a form to be filled in, or for a page to be visited. Without an elicitor the question
//! is declined. All texts come from the server: they are cleaned, shortened, and checked for risks that the
//! user should be warned of.
//!
//! | topic | module |
//! |---|---|
//! | a form, its validation and its defaults | `form` |
//! | one field of a form | `field` |
//! | errors of calls that needed an answer | `error` |
//! | a page to visit | `page` |
//! | the parameters of the protocol's request | `parsed` |
//! | pages that servers report as visited | `visit_channel` |

mod error;
mod field;
mod form;
mod page;
mod parsed;
mod visit_channel;

use mcparley_model::name::ServerName;
use mcparley_wire::peer::BoxedFuture;
use serde_json::Value;

pub use error::UnansweredRequest;
pub use field::{FieldChoice, FieldKind, FieldWarning, FormField};
pub use form::ElicitationForm;
pub use page::{ElicitationPage, PageWarning};
pub use parsed::{InvalidElicitation, ParsedElicitation};
pub use visit_channel::{FinishedVisit, VisitChannel};

/// A question of a server to the user.
#[derive(Clone, Copy, Debug)]
pub struct Elicitation<'q> {
    /// The server that asks.
    pub server: &'q ServerName,
    /// The server's message, cleaned.
    pub message: &'q str,
    /// The requested form or page.
    pub request: &'q ElicitationRequest,
    /// Whether the call that the question belongs to is known. If not, it belongs to one of several calls in
    /// flight.
    pub is_call_known: bool,
}

/// The request of an elicitation: a form or a page.
#[derive(Debug)]
pub enum ElicitationRequest {
    /// A form to be filled in.
    Form(ElicitationForm),
    /// A page to be visited (URL mode), for data that must not pass through the client, such as credentials.
    Page(ElicitationPage),
}

/// The user's answer to an elicitation.
#[derive(Clone, Debug, PartialEq)]
pub enum ElicitationReply {
    /// Accepted. For a form with its content, an object; for a page the value is ignored.
    Accept(Value),
    /// Declined.
    Decline,
    /// Dismissed without an answer.
    Cancel,
}

/// The elicitation handler of the embedding program. Questions of one call come one at a time; several calls
/// may ask concurrently.
///
/// ```
/// use mcparley_pool::elicit::{Elicitation, ElicitationReply, ElicitationRequest, Elicitor};
/// use mcparley_wire::peer::BoxedFuture;
///
/// /// Accepts the defaults of forms and declines pages.
/// struct AcceptDefaults;
///
/// impl Elicitor for AcceptDefaults {
///     fn ask<'q>(&'q self, question: Elicitation<'q>) -> BoxedFuture<'q, ElicitationReply> {
///         let reply = match question.request {
///             ElicitationRequest::Form(form) => ElicitationReply::Accept(form.defaults()),
///             _ => ElicitationReply::Decline,
///         };
///         Box::pin(std::future::ready(reply))
///     }
/// }
/// ```
pub trait Elicitor: Send + Sync + 'static {
    /// Asks the user. Dropping the future withdraws the question: the call was canceled, or the server is
    /// gone.
    ///
    /// A page is accepted when the user agrees to visit it. Show its URL in full, and never fetch or open it
    /// without that consent.
    fn ask<'q>(&'q self, question: Elicitation<'q>) -> BoxedFuture<'q, ElicitationReply>;

    /// Waits until the user reports that an accepted page is finished, so that the call is retried at once.
    /// The default never returns: the call is retried with growing pauses, or when the server reports it.
    fn wait_for_visit<'q>(&'q self, _page: &'q ElicitationPage) -> BoxedFuture<'q, ()> {
        Box::pin(std::future::pending())
    }
}

/// Hooks that may answer an elicitation in place of the user.
pub trait ElicitationHooks: Send + Sync + 'static {
    /// Whether any hook is installed for elicitations.
    fn has_elicitation_hooks(&self) -> bool;

    /// Asks the hooks; `None` if none of them answers.
    fn answer_question<'q>(&'q self, question: Elicitation<'q>) -> BoxedFuture<'q, Option<ElicitationReply>>;
}

/// The implementation without hooks.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHooks;

impl ElicitationHooks for NoHooks {
    fn has_elicitation_hooks(&self) -> bool {
        false
    }

    fn answer_question<'q>(
        &'q self,
        _question: Elicitation<'q>,
    ) -> BoxedFuture<'q, Option<ElicitationReply>> {
        Box::pin(std::future::ready(None))
    }
}
