//! The state of a parked call, sealed for its client: the gateway that owns the call, and the request it is for.

use mcparley::model::limits::{CLUSTER_CALL_TIME, PARKED_TIME};
use mcparley_cluster::InstanceId;
use mcparley_wire::{INTERNAL, RawJson, RpcError};
use serde::{Deserialize, Serialize};

use crate::cluster_link::unreachable_error;
use crate::session::GatewaySession;
use crate::session::parked::{invalid_state_error, too_many_parked_error};
use crate::session::running_call::RunningCall;
use mcparley_cluster::seconds_since_epoch;

/// The beginning of the state of a parked call; servers have states of their own.
const PREFIX: &str = "mcparley-parked.";

/// The content of the state of a parked call.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ParkedState {
    /// The gateway that owns the call.
    #[serde(rename = "o")]
    pub(crate) owner: InstanceId,
    #[serde(rename = "n")]
    pub(crate) nonce: String,
    /// The digest of the request.
    #[serde(rename = "d")]
    request: [u8; 32],
    /// Whether nothing was sent to a server yet, so that the call can be started again.
    #[serde(rename = "s", default)]
    is_unsent: bool,
    /// The end of its validity, in seconds since 1970.
    #[serde(rename = "u")]
    until: u64,
}

/// A parked call after the return of its client.
pub(crate) enum ReturnedCall {
    /// The call goes on.
    Running(Box<RunningCall>),
    /// The gateway that owned the call is gone: whether the call was carried out is unknown, unless nothing was sent.
    Lost { is_unsent: bool },
}

impl GatewaySession {
    /// Parks a call, and returns the result with its input requests.
    pub(crate) fn park_call(&self, request: [u8; 32], running: RunningCall) -> Result<RawJson, RpcError> {
        let no_random = || RpcError::new(INTERNAL, "the system gives no random numbers");
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|_| no_random())?;
        let nonce: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let gateway = &self.shared.gateway;
        let until = seconds_since_epoch() + PARKED_TIME.as_secs();
        let (owner, is_unsent) = (gateway.instance(), running.is_unsent());
        let content = ParkedState { owner, nonce: nonce.clone(), request, is_unsent, until };
        let content = serde_json::to_vec(&content).map_err(|_| no_random())?;
        let seal = gateway.seal().ok_or_else(no_random)?;
        let sealed = seal.seal_value(&[&*self.seal_owner(), "parked"], &content).ok_or_else(no_random)?;
        let place = gateway.parked.take_place().ok_or_else(too_many_parked_error)?;
        self.shared.parked.park_call((request, place), (nonce, format!("{PREFIX}{sealed}")), running)
    }

    /// Takes up a parked call again, with the answers of its client.
    ///
    /// # Errors
    /// When the state is not valid for the request, or was used already.
    pub(crate) async fn take_up_call(
        &self,
        request: [u8; 32],
        state: &RawJson,
        responses: Option<&RawJson>,
    ) -> Result<ReturnedCall, RpcError> {
        let parked = self.open_parked_state(state).ok_or_else(|| {
            let text = state.decode::<String>().unwrap_or_default();
            self.record_misuse("requestState", text.strip_prefix(PREFIX).unwrap_or_default());
            invalid_state_error()
        })?;
        if parked.request != request {
            return Err(invalid_state_error());
        }
        let gateway = &self.shared.gateway;
        if parked.owner == gateway.instance() {
            self.drop_if_closed(&parked.nonce).await?;
            let running = self.shared.parked.resume_call(request, &parked.nonce, responses)?;
            return Ok(ReturnedCall::Running(Box::new(running)));
        }
        if let Some(link) = gateway.cluster() {
            // One gateway answers for the one that is gone; the state is used up by that.
            let claim = link.member.keys().end_claim(&parked.nonce);
            let ours = link.instance().to_string().into_bytes();
            match link.member.store().claim_key(claim, ours, Some(CLUSTER_CALL_TIME)).await {
                Ok(true) => {}
                Ok(false) => return Err(invalid_state_error()),
                Err(_) => return Err(unreachable_error()),
            }
        }
        Ok(ReturnedCall::Lost { is_unsent: parked.is_unsent })
    }

    /// Opens the state of a parked call; `None` if it was not given to this principal, or too long ago.
    pub(crate) fn open_parked_state(&self, state: &RawJson) -> Option<ParkedState> {
        let state: String = state.decode().ok()?;
        let owner = self.seal_owner();
        let binding = [&*owner, "parked"];
        let content = self.shared.gateway.seal()?.open_value(&binding, state.strip_prefix(PREFIX)?)?;
        let parked: ParkedState = serde_json::from_slice(&content).ok()?;
        // An answer from another terminal gives the call more time.
        (seconds_since_epoch() < parked.until + PARKED_TIME.as_secs()).then_some(parked)
    }

    /// Cancels a call that another gateway has ended, because this one seemed to be gone.
    async fn drop_if_closed(&self, nonce: &str) -> Result<(), RpcError> {
        let Some(link) = self.shared.gateway.cluster() else { return Ok(()) };
        let since = self.shared.parked.parked_since(nonce);
        if !since.is_some_and(|since| link.member.may_count_as_gone(since)) {
            return Ok(());
        }
        // A store that stays away is away for the others too: they cannot end the call now.
        let closed = link.member.fetch_after_reconnect(link.member.keys().end_claim(nonce)).await;
        match closed {
            Ok(Some(_)) => {
                self.shared.parked.cancel_call(nonce);
                Err(invalid_state_error())
            }
            Ok(None) | Err(_) => Ok(()),
        }
    }
}

/// Whether a state is that of a parked call, and not one of a server.
pub(crate) fn is_parked_state(state: &RawJson) -> bool {
    state.decode::<String>().is_ok_and(|state| state.starts_with(PREFIX))
}
