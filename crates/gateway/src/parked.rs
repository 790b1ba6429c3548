//! Calls that wait until their client comes back with an answer (new era).
//!
//! Servers of that era cannot ask: they answer a request with what they want, and the client makes it again with that. The
//! call behind it may have reached its server already, so it is not begun anew: it waits here, under a name that nobody can
//! guess and that is good for the same tool with the same arguments, once, and not for ever.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mcparley::model::limits::{PARKED_CALLS, PARKED_TIME};
use mcparley_wire::{INTERNAL, INVALID_PARAMS, RawJson, RpcError};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::call::{Running, Wanted};
use crate::greeting::meta;
use crate::session::written;

/// What the one question of a result is called in it.
const QUESTION: &str = "question";

/// The calls of one client that wait.
#[derive(Debug, Default)]
pub(crate) struct Parked(Mutex<HashMap<String, Waiting>>);

/// A call and the question it waits for.
#[derive(Debug)]
pub(crate) struct Ticket {
    pub(crate) question: Value,
    pub(crate) reply: oneshot::Sender<RawJson>,
    pub(crate) running: Running,
}

#[derive(Debug)]
struct Waiting {
    /// The request it belongs to.
    request: [u8; 32],
    until: Instant,
    reply: oneshot::Sender<RawJson>,
    running: Running,
}

impl Parked {
    /// Lets a call wait, and gives the result that says what for.
    pub(crate) fn park(&self, wanted: &Wanted, ticket: Ticket) -> Result<RawJson, RpcError> {
        let Ticket { question, reply, running } = ticket;
        let state = fresh_name()?;
        let request = identity(wanted);
        let waiting = Waiting { request, until: Instant::now() + PARKED_TIME, reply, running };
        self.sweep();
        let mut calls = self.locked();
        if calls.len() >= PARKED_CALLS {
            return Err(RpcError::new(INTERNAL, "too many calls wait for an answer of a person"));
        }
        calls.insert(state.clone(), waiting);
        drop(calls);
        written(&json!({
            "resultType": "input_required",
            "inputRequests": { QUESTION: { "method": "elicitation/create", "params": question } },
            "requestState": state,
            "_meta": meta(),
        }))
    }

    /// Hands the answer to the call that waits for it, and the call back.
    ///
    /// # Errors
    /// When there is no such call any more, it was another request, or no answer came with it.
    pub(crate) fn go_on(
        &self,
        wanted: &Wanted,
        state: &RawJson,
        responses: Option<&RawJson>,
    ) -> Result<Running, RpcError> {
        let invalid = |reason: &str| RpcError::new(INVALID_PARAMS, reason);
        let state: String = state.decode().map_err(|_| invalid("`requestState` is not a text"))?;
        let response = responses.and_then(|responses| responses.member(QUESTION));
        self.sweep();
        let mut calls = self.locked();
        let is_same = calls.get(&state).map(|waiting| waiting.request == identity(wanted));
        match (is_same, response) {
            (None, _) => Err(invalid("`requestState` is not known any more: make the request without it")),
            (Some(false), _) => Err(invalid("`requestState` belongs to another request")),
            (Some(true), None) => Err(invalid("`inputResponses` has no answer to what was asked")),
            (Some(true), Some(response)) => {
                let gone = || invalid("`requestState` is not known any more: make the request without it");
                let Waiting { reply, running, .. } = calls.remove(&state).ok_or_else(gone)?;
                // A call that does not wait any more has its result, and gives it.
                let _over = reply.send(response);
                Ok(running)
            }
        }
    }

    /// Gives up the calls that have waited too long.
    pub(crate) fn sweep(&self) {
        let now = Instant::now();
        self.locked().retain(|_, waiting| waiting.until > now);
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<String, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What makes two requests the same one.
fn identity(wanted: &Wanted) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update((wanted.name.len() as u64).to_le_bytes());
    hash.update(wanted.name.as_bytes());
    // Written anew by the client, it may be laid out otherwise.
    let arguments = wanted.arguments.decode::<Value>().map(sorted).unwrap_or_default();
    hash.update(arguments.to_string().as_bytes());
    hash.finalize().into()
}

/// The value with its keys in one order.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(String, Value)> =
                members.into_iter().map(|(name, value)| (name, sorted(value))).collect();
            members.sort_by(|one, other| one.0.cmp(&other.0));
            Value::Object(members.into_iter().collect())
        }
        Value::Array(elements) => Value::Array(elements.into_iter().map(sorted).collect()),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => other,
    }
}

fn fresh_name() -> Result<String, RpcError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| RpcError::new(INTERNAL, "the system gives no random numbers"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
