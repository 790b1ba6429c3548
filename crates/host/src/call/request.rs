//! Requests that are not tool calls (prompts, resources): read-only, so a retry after a connection failure
//! is safe.
//!
//! A request takes as many round trips as its server requires. Permissions are checked elsewhere.

mod error;

use std::sync::Arc;

use mcparley_model::limits::REQUEST_LIMIT;
use mcparley_model::name::ServerName;
use mcparley_wire::peer::PeerCallOptions;
use mcparley_wire::{Failure, FailurePhase, RawJson, RequestParams, RoundOutcome};

use super::attempt::{AnsweredRequest, RequestAnswer, RetryableRequest};
use super::deadline::{Deadline, RequestTimer};
use super::rounds::{self, RoundTripError, RoundTrips};
use super::task;
use crate::host::Host;
use mcparley_pool::connection::{Connection, LiveConnection, Unavailable};
use mcparley_pool::elicit::UnansweredRequest;
use mcparley_pool::server_requests::{InFlightGuard, ServerRequests};

pub use error::RequestError;

/// A request to a server: method, parameters, and the capability it requires.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: &'static str,
    /// The capability that a server must declare to be sent this request.
    pub(crate) capability: &'static str,
    pub(crate) params: RequestParams,
}

impl Host {
    /// Sends a request to a server, which is connected first if needed.
    pub(crate) async fn send_request(
        &self,
        server: &ServerName,
        request: Request,
    ) -> Result<RawJson, RequestError> {
        let connection = self.connection(server).ok_or_else(|| self.no_server_error(server.as_str()))?;
        let deadline = Deadline::with_limit(connection.config.timeout.unwrap_or(REQUEST_LIMIT));
        let mut request = ServerRequest { server, request, rounds: RoundTrips::default() };
        let AnsweredRequest { answer, live, .. } =
            self.send_with_retries(&connection, deadline, &mut request).await?;
        live.record_answer();
        match answer {
            RequestAnswer::Complete(answer) => Ok(answer),
            RequestAnswer::Task(_) => Err(request.final_error(&connection, task::unexpected_task_failure())),
        }
    }

    /// The error for a server that does not exist or may not run.
    pub(crate) fn no_server_error(&self, name: &str) -> RequestError {
        let (similar, because) = (self.similar_servers(name), self.loaded_config().unavailable_reason(name));
        RequestError::UnknownServer { name: name.to_owned(), similar, because }
    }
}

/// A request to one server, with the state of its round trips.
struct ServerRequest<'s> {
    server: &'s ServerName,
    request: Request,
    rounds: RoundTrips,
}

impl RetryableRequest for ServerRequest<'_> {
    type Error = RequestError;

    fn is_idempotent(&self) -> bool {
        true
    }

    fn check_offered(&self, _host: &Host, live: &LiveConnection, _repeats: u32) -> Result<(), RequestError> {
        let what = self.request.capability;
        match live.session.server_description().has_capability(what) {
            true => Ok(()),
            false => Err(RequestError::NotOffered { server: self.server.clone(), what }),
        }
    }

    async fn send_until_answered(
        &mut self,
        live: &LiveConnection,
        deadline: &mut Deadline,
        server_requests: &ServerRequests,
    ) -> Result<RequestAnswer, RoundTripError> {
        let in_flight = server_requests.register_call(None);
        loop {
            let went_on = match self.send_round(live, deadline, &in_flight).await {
                Ok(RoundOutcome::Complete(answer)) => return Ok(RequestAnswer::Complete(answer)),
                Ok(RoundOutcome::InputRequired(wanted)) => {
                    deadline
                        .run_off_the_clock(Box::pin(self.rounds.fulfill_requests(
                            server_requests,
                            &in_flight,
                            wanted,
                        )))
                        .await
                }
                Ok(RoundOutcome::Task(_)) => {
                    return Err(RoundTripError::Failed(task::unexpected_task_failure()));
                }
                Err(Failure::ErrorResponse(error)) => match rounds::required_pages(&error) {
                    Some(pages) => {
                        deadline
                            .run_off_the_clock(Box::pin(self.rounds.visit_pages(
                                server_requests,
                                &in_flight,
                                pages,
                            )))
                            .await
                    }
                    None => return Err(RoundTripError::Failed(Failure::ErrorResponse(error))),
                },
                Err(failure) => return Err(RoundTripError::Failed(failure)),
            };
            went_on.map_err(RoundTripError::Unanswered)?;
        }
    }

    fn unavailable_error(&self, why: Unavailable) -> RequestError {
        RequestError::Unavailable { server: self.server.clone(), why }
    }

    fn unanswered_error(&self, why: UnansweredRequest) -> RequestError {
        RequestError::Unanswered { server: self.server.clone(), method: self.request.method, why }
    }

    fn final_error(&self, connection: &Arc<Connection>, failure: Failure) -> RequestError {
        let (server, failure) = (connection.name.clone(), connection.log().redact_failure(failure));
        RequestError::Failed { server, method: self.request.method, failure }
    }
}

impl ServerRequest<'_> {
    /// Sends one request. Its timer is suspended while the user is asked.
    async fn send_round(
        &self,
        live: &LiveConnection,
        deadline: &mut Deadline,
        in_flight: &InFlightGuard<'_>,
    ) -> Result<RoundOutcome, Failure> {
        let (params, request) =
            (self.rounds.next_params(&self.request.params), live.session.prepare_request());
        in_flight.note_request(request.id());
        let mut clock = RequestTimer::new(deadline, in_flight.open_questions());
        let outcome = tokio::select! {
            biased;
            answer = live.session.call_round(request, (self.request.method, &params), PeerCallOptions::default()) => answer,
            () = clock.wait_until_expired() => Err(Failure::TimedOut { phase: FailurePhase::Answering, after: deadline.limit }),
        };
        clock.credit_suspended_time(deadline);
        outcome
    }
}
