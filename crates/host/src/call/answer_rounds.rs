//! The rounds of one request on one connection: tool calls, prompts and resources share them.
//!
//! A round sends the request. Its answer may be the result, a task, input that the server requires, or pages to
//! visit; the last two are followed by another round. Meanwhile the request is in flight: questions that the server
//! asks of its own belong to it, and on a shared channel it waits first until they can be told from others.

use std::sync::Arc;

use mcparley_model::config::TransportKind;
use mcparley_pool::call_client::CallClient;
use mcparley_pool::connection::LiveConnection;
use mcparley_pool::server_requests::{InFlightGuard, ServerRequests};
use mcparley_wire::{AgreedProtocol, Failure, RawJson, RoundOutcome};

use super::attempt::RequestAnswer;
use super::deadline::Deadline;
use super::rounds::{self, RoundTripError, RoundTrips};

/// A request that goes through rounds.
pub(super) trait RoundRequest {
    /// The rounds so far.
    fn rounds_mut(&mut self) -> &mut RoundTrips;

    /// Sends the request once, in a span if a subscriber wants it.
    fn send_round(
        &self,
        live: &LiveConnection,
        deadline: &mut Deadline,
        in_flight: &InFlightGuard<'_>,
    ) -> impl Future<Output = Result<RoundOutcome, Failure>> + Send;

    /// The answer of a complete result.
    ///
    /// # Errors
    /// When the result is not one of this request.
    fn finish_answer(&self, live: &LiveConnection, answer: RawJson) -> Result<RequestAnswer, Failure>;

    /// The answer of a result that names a task.
    ///
    /// # Errors
    /// When the request cannot become a task.
    fn finish_task(&self, task: RawJson) -> Result<RequestAnswer, Failure>;
}

/// Sends a request until it is answered or has become a task.
pub(super) async fn run_rounds<R: RoundRequest>(
    request: &mut R,
    live: &LiveConnection,
    deadline: &mut Deadline,
    (server_requests, in_flight): (&ServerRequests, &InFlightGuard<'_>),
) -> Result<RequestAnswer, RoundTripError> {
    loop {
        // The input rounds below are boxed: these rare, large futures would enlarge the future of every call.
        let sent = tokio::select! {
            biased;
            sent = request.send_round(live, deadline, in_flight) => sent,
            // Dropping the request cancels it at the server.
            excess = in_flight.too_many_questions() => return Err(RoundTripError::Unanswered(excess)),
        };
        match &sent {
            Ok(_) | Err(Failure::ErrorResponse(_)) => in_flight.note_answer(),
            Err(Failure::TimedOut { .. }) => {}
            Err(_) => in_flight.note_closed(),
        }
        let went_on = match sent {
            Ok(RoundOutcome::Complete(answer)) => {
                in_flight.note_finish();
                return request.finish_answer(live, answer).map_err(RoundTripError::Failed);
            }
            Ok(RoundOutcome::Task(task)) => {
                return request.finish_task(task).map_err(RoundTripError::Failed);
            }
            Ok(RoundOutcome::InputRequired(wanted)) if server_requests.relays_results(in_flight) => {
                return Ok(RequestAnswer::Unfinished(wanted.result));
            }
            Ok(RoundOutcome::InputRequired(wanted)) => {
                let asking = request.rounds_mut().fulfill_requests(server_requests, in_flight, wanted);
                deadline.run_off_the_clock(Box::pin(asking)).await
            }
            Err(Failure::ErrorResponse(error)) if !server_requests.relays_pages(in_flight) => {
                match rounds::required_pages(&error) {
                    Some(pages) => {
                        let visiting = request.rounds_mut().visit_pages(server_requests, in_flight, pages);
                        deadline.run_off_the_clock(Box::pin(visiting)).await
                    }
                    None => return Err(RoundTripError::Failed(Failure::ErrorResponse(error))),
                }
            }
            Err(failure) => return Err(RoundTripError::Failed(failure)),
        };
        went_on.map_err(RoundTripError::Unanswered)?;
    }
}

/// Registers a request as in flight under the name of its tool or its method. On a shared channel it waits first
/// until its questions can be told from those of other requests.
pub(super) async fn register_in_lane<'r>(
    server_requests: &'r ServerRequests,
    deadline: &mut Deadline,
    (client, name): (Option<&Arc<CallClient>>, &str),
    is_shared: bool,
) -> InFlightGuard<'r> {
    // Boxed: this rare, large future would enlarge the future of every call.
    let place = match is_shared && server_requests.needs_lane(name) {
        true => deadline.run_off_the_clock(Box::pin(server_requests.enter_lane(client, name))).await,
        false => None,
    };
    server_requests.register_call(client, name, place).on_shared_channel(is_shared)
}

/// Whether a question of the server does not say which request it belongs to.
pub(super) fn is_shared_channel(live: &LiveConnection, kind: Option<TransportKind>) -> bool {
    matches!(live.session.protocol(), AgreedProtocol::Old(_))
        && !matches!(kind, None | Some(TransportKind::Http | TransportKind::ClaudeAiProxy))
}
