//! The retry loop: sends a request until it is answered or cannot be retried. Tools, prompts and resources
//! share it.
//!
//! The loop leases a connection, sends, and performs the step that `recovery` decides on. The message that
//! is sent, and the error type of the caller, belong to the request.

use std::future::Future;
use std::sync::Arc;

use mcparley_model::config::TransportKind;
use mcparley_pool::connection::{Connection, Epoch, LiveConnection, Unavailable};
use mcparley_pool::elicit::UnansweredRequest;
use mcparley_pool::server_requests::ServerRequests;
use mcparley_wire::{Failure, RawJson};

use super::client_sign_in::{ClientSignInError, sign_in_through_client};
use super::context::CallContext;
use super::deadline::Deadline;
use super::recovery::{RetryBudget, RetryConditions, RetryStep, SignInAvailability, next_step};
use super::rounds::RoundTripError;
use super::task::Task;
use crate::host::Host;

/// A request that can be sent more than once.
pub(super) trait RetryableRequest {
    /// The error type of the caller.
    type Error;

    /// Whether the request is idempotent: it only reads, or a second execution changes nothing more.
    fn is_idempotent(&self) -> bool;

    /// Whether headers mirror values of the body, so that the tool list must be fetched again when the two
    /// do not match.
    fn mirrors_headers(&self, _live: &LiveConnection) -> bool {
        false
    }

    /// Checks, before sending, that the server offers the requested item.
    ///
    /// # Errors
    /// The reason why the request must not be sent.
    fn check_offered(&self, host: &Host, live: &LiveConnection, repeats: u32) -> Result<(), Self::Error>;

    /// Sends the request until it is answered or has become a task. Input that the server requires first is
    /// answered in between.
    fn send_until_answered(
        &mut self,
        live: &LiveConnection,
        deadline: &mut Deadline,
        server_requests: &ServerRequests,
    ) -> impl Future<Output = Result<RequestAnswer, RoundTripError>> + Send;

    /// Fetches which arguments the server wants in headers now; returns whether a retry makes sense. The
    /// body stays as it was.
    fn refresh_headers(
        &mut self,
        _live: &LiveConnection,
        _deadline: Deadline,
    ) -> impl Future<Output = bool> + Send {
        std::future::ready(false)
    }

    /// The context of the client that the request is made for.
    fn context(&self) -> Option<Arc<CallContext>>;

    /// The error for a principal that has to sign in on a page.
    fn sign_in_error(&self, page: Arc<str>) -> Self::Error;

    /// The error for a server that cannot be used.
    fn unavailable_error(&self, why: Unavailable) -> Self::Error;

    /// The error for a server's question that has no answer.
    fn unanswered_error(&self, why: UnansweredRequest) -> Self::Error;

    /// The error for a request that failed and is not retried.
    fn final_error(&self, connection: &Arc<Connection>, failure: Failure) -> Self::Error;
}

/// The answer to a request.
pub(super) enum RequestAnswer {
    /// The complete result.
    Complete(RawJson),
    /// A task: the server continues the work after the request.
    Task(Task),
    /// A result that the client of a gateway goes on with: input that the server requires, or a task.
    Unfinished(RawJson),
}

/// A request that was answered, with the connection that answered it.
pub(super) struct AnsweredRequest {
    pub(super) answer: RequestAnswer,
    pub(super) connection: Arc<Connection>,
    pub(super) live: Arc<LiveConnection>,
    pub(super) deadline: Deadline,
}

impl Host {
    /// Sends the request, with retries, until it is answered or cannot be retried.
    #[expect(clippy::too_many_lines, reason = "one straight loop; each arm is one step of the retry")]
    pub(super) async fn send_with_retries<A: RetryableRequest>(
        &self,
        connection: &Arc<Connection>,
        mut deadline: Deadline,
        request: &mut A,
    ) -> Result<AnsweredRequest, A::Error> {
        let (mut connection, mut spent, mut stale) =
            (Arc::clone(connection), RetryBudget::default(), Epoch::default());
        let mut has_signed_in = false;
        loop {
            let live = match deadline.lease_newer_connection(&connection, stale).await {
                Ok(live) => live,
                Err(Unavailable::NeedsAuth) if !has_signed_in => {
                    has_signed_in = true;
                    // Boxed: this rare, large future would enlarge the future of every call.
                    let offered =
                        Box::pin(offer_sign_in(&connection, &mut deadline, request.context())).await;
                    offered.map_err(|why| sign_in_error(&connection, request, why))?;
                    continue;
                }
                Err(why) => {
                    // The server's entry changed: the request goes to the connection that has its name now.
                    connection = self
                        .successor_connection(&connection, &why)
                        .ok_or_else(|| request.unavailable_error(why))?;
                    stale = Epoch::default();
                    continue;
                }
            };
            request.check_offered(self, &live, spent.repeats)?;
            let failure =
                match request.send_until_answered(&live, &mut deadline, connection.server_requests()).await {
                    Ok(answer) => return Ok(AnsweredRequest { answer, connection, live, deadline }),
                    Err(RoundTripError::Unanswered(why)) => return Err(request.unanswered_error(why)),
                    Err(RoundTripError::Failed(failure)) => failure,
                };
            let (harmless, has_headers) = (request.is_idempotent(), request.mirrors_headers(&live));
            let conditions = RetryConditions {
                is_idempotent: harmless,
                mirrors_headers: has_headers,
                sign_in: self.sign_in_availability(&connection),
            };
            let goes_on = match next_step(&failure, spent, conditions) {
                RetryStep::Reopen => {
                    stale = live.epoch;
                    true
                }
                RetryStep::Repeat => true,
                RetryStep::Wait(pause) => {
                    drop(live);
                    deadline.sleep_if_in_time(pause).await
                }
                // Boxed: this rare, large future would enlarge the future of every call.
                RetryStep::RefreshHeaders => Box::pin(request.refresh_headers(&live, deadline)).await,
                RetryStep::SignIn => {
                    connection.report_needs_auth(live.epoch).await;
                    if has_signed_in {
                        return Err(request.unavailable_error(Unavailable::NeedsAuth));
                    }
                    has_signed_in = true;
                    stale = live.epoch;
                    drop(live);
                    // Boxed: this rare, large future would enlarge the future of every call.
                    let offered =
                        Box::pin(offer_sign_in(&connection, &mut deadline, request.context())).await;
                    offered.map_err(|why| sign_in_error(&connection, request, why))?;
                    true
                }
                RetryStep::RequestScopes => {
                    drop(live);
                    deadline.run_off_the_clock(Box::pin(self.step_up(&connection))).await
                }
                RetryStep::GiveUp => false,
            };
            if !goes_on {
                return Err(request.final_error(&connection, failure));
            }
            spent.repeats += 1;
        }
    }

    /// Whether the user can sign in to a server, and when.
    pub(super) fn sign_in_availability(&self, connection: &Connection) -> SignInAvailability {
        match connection.account() {
            Some(account) if account.has_helper_credentials() => SignInAvailability::Never,
            Some(account) if account.needs_user() && self.has_page_opener() => SignInAvailability::Now,
            Some(_) => SignInAvailability::Later,
            // Connectors are signed in to at the organization.
            None if connection.config.kind() == TransportKind::ClaudeAiProxy => SignInAvailability::Later,
            None => SignInAvailability::Never,
        }
    }

    /// Step-up authorization: asks the user for the additional scopes that the server wants; returns whether
    /// they were granted.
    pub(super) async fn step_up(&self, connection: &Connection) -> bool {
        connection.log().add_event("the server requires more scopes");
        match self.sign_in_with_page(&connection.name).await {
            Ok(()) => true,
            Err(error) => {
                connection.log().add_trouble(&error.to_single_line());
                false
            }
        }
    }

    /// The connection that replaced one that was stopped.
    pub(super) fn successor_connection(
        &self,
        stopped: &Connection,
        why: &Unavailable,
    ) -> Option<Arc<Connection>> {
        let successor = match why {
            Unavailable::Stopped => self.connection(&stopped.name),
            _ => None,
        };
        successor.filter(|successor| !successor.is_same_connection(stopped))
    }
}

/// Signs the client of a request in, if it can. Its time does not count against the deadline.
async fn offer_sign_in(
    connection: &Connection,
    deadline: &mut Deadline,
    context: Option<Arc<CallContext>>,
) -> Result<(), ClientSignInError> {
    deadline.run_off_the_clock(sign_in_through_client(connection, context.as_deref())).await
}

/// The error for a request of a client without a sign-in.
fn sign_in_error<A: RetryableRequest>(
    connection: &Connection,
    request: &A,
    why: ClientSignInError,
) -> A::Error {
    match why {
        ClientSignInError::NotShown { page } => request.sign_in_error(page),
        ClientSignInError::Failed(error) => {
            connection.log().add_trouble(&error.to_single_line());
            request.unavailable_error(Unavailable::NeedsAuth)
        }
        ClientSignInError::NotOffered => request.unavailable_error(Unavailable::NeedsAuth),
    }
}
