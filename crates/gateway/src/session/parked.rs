//! Parked calls: calls that wait until the client comes back with answers (new era).
//!
//! Servers of that era cannot ask: they answer a request with input requests, and the client repeats the
//! request with the input. The call may have reached its server already, so it is not started again: it is
//! parked here, under an unguessable nonce that is valid once, for the same tool with the same arguments,
//! and for a limited time. `parked_state` seals the nonce for the client. A parked call goes on by itself when its questions are answered elsewhere, and
//! keeps its result until the client comes back.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mcparley::model::limits::{PARKED_CALLS, PARKED_SERVER_CALLS, PARKED_TIME};
use mcparley_wire::{INTERNAL, INVALID_PARAMS, RawJson, RpcError};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::gateway::parked_places::ParkedPlace;
use crate::response::handshake::result_meta;
use crate::response::serialize_result;
use crate::session::running_call::{OpenQuestion, RunningCall};

/// The parked calls of one client.
#[derive(Debug, Default)]
pub(crate) struct ParkedCalls(Mutex<HashMap<String, ParkedCall>>);

/// A parked call with its expiry.
#[derive(Debug)]
struct ParkedCall {
    /// The digest of the request it belongs to.
    request: [u8; 32],
    since: Instant,
    until: Instant,
    running: RunningCall,
    _place: ParkedPlace,
}

impl ParkedCall {
    /// The time at which the call expires. An answer from another terminal starts the time again: the call
    /// goes on then.
    fn expiry(&self) -> Instant {
        let answered = self.running.line.last_answer();
        answered.map_or(self.until, |answered| self.until.max(answered + PARKED_TIME))
    }
}

impl ParkedCalls {
    /// Parks a call under a nonce, and returns the result with its input requests and its state for the client.
    pub(crate) fn park_call(
        &self,
        (request, place): ([u8; 32], ParkedPlace),
        (nonce, state): (String, String),
        mut running: RunningCall,
    ) -> Result<RawJson, RpcError> {
        let asked: Result<Map<String, Value>, RpcError> = running
            .open
            .iter()
            .map(|question| {
                let unwritten = || RpcError::new(INTERNAL, "the question cannot be written");
                question.to_member().ok_or_else(unwritten)
            })
            .collect();
        let result = json!({
            "resultType": "input_required",
            "inputRequests": asked?,
            "requestState": state,
            "_meta": result_meta(),
        });
        self.remove_expired();
        let mut calls = self.lock_calls();
        let at_server = |parked: &&ParkedCall| parked.running.server == running.server;
        if calls.len() >= PARKED_CALLS || calls.values().filter(at_server).count() >= PARKED_SERVER_CALLS {
            return Err(too_many_parked_error());
        }
        running.move_to_task();
        let since = Instant::now();
        calls
            .insert(nonce, ParkedCall { request, since, until: since + PARKED_TIME, running, _place: place });
        drop(calls);
        serialize_result(&result)
    }

    /// Passes the answers to the parked call, and returns the call. Questions without an answer stay open.
    ///
    /// # Errors
    /// When the call has expired, the request is a different one, or an answer is not an object.
    pub(crate) fn resume_call(
        &self,
        request: [u8; 32],
        nonce: &str,
        responses: Option<&RawJson>,
    ) -> Result<RunningCall, RpcError> {
        let invalid = invalid_state_error;
        self.remove_expired();
        let mut calls = self.lock_calls();
        let waiting = calls.get(nonce).filter(|waiting| waiting.request == request).ok_or_else(invalid)?;
        check_answers(&waiting.running.open, responses)?;
        let ParkedCall { mut running, .. } = calls.remove(nonce).ok_or_else(invalid)?;
        drop(calls);
        deliver_answers(&mut running.open, responses)?;
        Ok(running)
    }

    /// The time at which a call was parked; `None` if there is no such call.
    pub(crate) fn parked_since(&self, nonce: &str) -> Option<Instant> {
        self.lock_calls().get(nonce).map(|waiting| waiting.since)
    }

    /// Cancels a parked call.
    pub(crate) fn cancel_call(&self, nonce: &str) {
        let canceled = self.lock_calls().remove(nonce);
        drop(canceled);
    }

    /// Whether there are parked calls.
    pub(crate) fn has_calls(&self) -> bool {
        !self.lock_calls().is_empty()
    }

    /// Cancels all parked calls, when the client is gone: a parked call holds its session.
    pub(crate) fn cancel_calls(&self) {
        let calls = std::mem::take(&mut *self.lock_calls());
        drop(calls);
    }

    /// Removes the calls that have expired.
    pub(crate) fn remove_expired(&self) {
        let now = Instant::now();
        let expired: Vec<_> = self.lock_calls().extract_if(|_, waiting| waiting.expiry() <= now).collect();
        // Without the lock: a call that ends may take it.
        drop(expired);
    }

    fn lock_calls(&self) -> MutexGuard<'_, HashMap<String, ParkedCall>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Passes the answers to open questions. Those without an answer stay open; other keys are ignored.
///
/// # Errors
/// When an answer is not an object; then none is passed.
pub(crate) fn deliver_answers(
    open: &mut Vec<OpenQuestion>,
    responses: Option<&RawJson>,
) -> Result<(), RpcError> {
    check_answers(open, responses)?;
    for question in std::mem::take(open) {
        match responses.and_then(|responses| responses.member(&question.key)) {
            // A call that no longer waits has its result, and returns it.
            Some(answer) => drop(question.reply.send(answer)),
            None => open.push(question),
        }
    }
    Ok(())
}

/// Checks that the answers to open questions are objects.
fn check_answers(open: &[OpenQuestion], responses: Option<&RawJson>) -> Result<(), RpcError> {
    let is_object = |raw: &RawJson| raw.as_bytes().first() == Some(&b'{');
    let Some(responses) = responses else { return Ok(()) };
    if !is_object(responses) {
        return Err(RpcError::new(INVALID_PARAMS, "`inputResponses` is not an object"));
    }
    let mut answers = open.iter().filter_map(|question| responses.member(&question.key));
    match answers.all(|answer| is_object(&answer)) {
        true => Ok(()),
        false => Err(RpcError::new(INVALID_PARAMS, "an answer in `inputResponses` is not an object")),
    }
}

/// The error for a call that asks its client while too many calls wait for answers.
pub(crate) fn too_many_parked_error() -> RpcError {
    RpcError::new(INTERNAL, "too many calls wait for an answer of the user")
}

/// The error for a state that does not belong to its request: one text for every cause, so that a stolen state
/// tells nothing.
pub(crate) fn invalid_state_error() -> RpcError {
    RpcError::new(INVALID_PARAMS, "`requestState` is not valid for this request")
}
