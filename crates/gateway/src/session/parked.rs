//! Parked calls: calls that wait until the client comes back with an answer (new era).
//!
//! Servers of that era cannot ask: they answer a request with an input request, and the client repeats the
//! request with the input. The call may have reached its server already, so it is not started again: it is
//! parked here, under an unguessable nonce that is valid once, for the same tool with the same arguments,
//! and for a limited time.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mcparley::model::limits::{PARKED_CALLS, PARKED_TIME};
use mcparley_wire::{INTERNAL, INVALID_PARAMS, RawJson, RpcError};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::response::handshake::result_meta;
use crate::response::serialize_result;
use crate::session::running_call::RunningCall;

/// The key of the one input request in a result.
const QUESTION: &str = "question";

/// The parked calls of one client.
#[derive(Debug, Default)]
pub(crate) struct ParkedCalls(Mutex<HashMap<String, ParkedCall>>);

/// A call, with the question it waits for.
#[derive(Debug)]
pub(crate) struct CallWithQuestion {
    pub(crate) question: Value,
    pub(crate) reply: oneshot::Sender<RawJson>,
    pub(crate) running: RunningCall,
}

/// A parked call, with the channel for its answer and its expiry.
#[derive(Debug)]
struct ParkedCall {
    /// The digest of the request it belongs to.
    request: [u8; 32],
    until: Instant,
    reply: oneshot::Sender<RawJson>,
    running: RunningCall,
}

impl ParkedCalls {
    /// Parks a call, and returns the result with its input request.
    pub(crate) fn park_call(&self, request: [u8; 32], ticket: CallWithQuestion) -> Result<RawJson, RpcError> {
        let CallWithQuestion { question, reply, running } = ticket;
        let state = random_state_id()?;
        let waiting = ParkedCall { request, until: Instant::now() + PARKED_TIME, reply, running };
        self.remove_expired();
        let mut calls = self.lock_calls();
        if calls.len() >= PARKED_CALLS {
            return Err(RpcError::new(INTERNAL, "too many calls wait for an answer of the user"));
        }
        calls.insert(state.clone(), waiting);
        drop(calls);
        serialize_result(&json!({
            "resultType": "input_required",
            "inputRequests": { QUESTION: { "method": "elicitation/create", "params": question } },
            "requestState": state,
            "_meta": result_meta(),
        }))
    }

    /// Passes the answer to the parked call, and returns the call.
    ///
    /// # Errors
    /// When the call has expired, the request is a different one, or it has no answer.
    pub(crate) fn resume_call(
        &self,
        request: [u8; 32],
        state: &RawJson,
        responses: Option<&RawJson>,
    ) -> Result<RunningCall, RpcError> {
        let invalid = |reason: &str| RpcError::new(INVALID_PARAMS, reason);
        let state: String = state.decode().map_err(|_| invalid("`requestState` must be a string"))?;
        let response = responses.and_then(|responses| responses.member(QUESTION));
        self.remove_expired();
        let mut calls = self.lock_calls();
        let is_same = calls.get(&state).map(|waiting| waiting.request == request);
        match (is_same, response) {
            (None, _) => Err(invalid("unknown or expired `requestState`: send the request without it")),
            (Some(false), _) => Err(invalid("`requestState` belongs to another request")),
            (Some(true), None) => Err(invalid("`inputResponses` has no answer to the question")),
            (Some(true), Some(response)) => {
                let gone = || invalid("unknown or expired `requestState`: send the request without it");
                let ParkedCall { reply, running, .. } = calls.remove(&state).ok_or_else(gone)?;
                // A call that no longer waits has its result, and returns it.
                let _over = reply.send(response);
                Ok(running)
            }
        }
    }

    /// Removes the calls that have expired.
    pub(crate) fn remove_expired(&self) {
        let now = Instant::now();
        self.lock_calls().retain(|_, waiting| waiting.until > now);
    }

    fn lock_calls(&self) -> MutexGuard<'_, HashMap<String, ParkedCall>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn random_state_id() -> Result<String, RpcError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| RpcError::new(INTERNAL, "the system gives no random numbers"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
