//! The states of servers of the new era, which their clients bring back.
//!
//! With one principal a state passes as the server wrote it. A gateway that tells principals apart seals it:
//! all clients share the connection to the server, so only the gateway can tell that a state is not its
//! client's.

use mcparley::model::limits::STATE_TIME;
use mcparley::model::name::ServerName;
use mcparley_wire::{RawJson, RpcError};

use crate::json_edit::{JsonEdit, JsonMembers, json_string};
use crate::response::input_requests::{clean_result, name_questions, requires_input};
use crate::session::GatewaySession;
use crate::session::parked::invalid_state_error;
use mcparley_cluster::seconds_since_epoch;

impl GatewaySession {
    /// A server's result that requires input, for its client; other results stay as they are.
    pub(crate) fn finish_input_request(
        &self,
        server: &ServerName,
        digest: [u8; 32],
        result: RawJson,
    ) -> RawJson {
        if !requires_input(result.as_str()) {
            return result;
        }
        let clean = clean_result(result.as_str(), self.shared.gateway.mode.removes_hidden());
        let named = match self.names_servers() {
            true => name_questions(server, &clean),
            false => clean.into_owned(),
        };
        let sealed = self.is_told_apart().then(|| self.seal_state(digest, &named)).flatten();
        RawJson::from_text(&sealed.unwrap_or(named))
    }

    /// The state of a server, as the server wrote it.
    ///
    /// # Errors
    /// When the state was not given to this principal for this request, or too long ago.
    pub(crate) fn open_server_state(&self, digest: [u8; 32], state: RawJson) -> Result<RawJson, RpcError> {
        if !self.is_told_apart() {
            return Ok(state);
        }
        let opened = state.decode::<String>().ok().and_then(|state| {
            let owner = self.seal_owner();
            let binding = [&*owner, "state", &encode_hex(digest)];
            let content = self.shared.gateway.seal()?.open_value(&binding, &state)?;
            let (until, theirs): (u64, String) = serde_json::from_slice(&content).ok()?;
            (seconds_since_epoch() < until).then(|| RawJson::from_text(&theirs))
        });
        opened.ok_or_else(|| {
            self.record_misuse("requestState", &state.decode::<String>().unwrap_or_default());
            invalid_state_error()
        })
    }

    /// A result with its state sealed; `None` if it has none.
    fn seal_state(&self, digest: [u8; 32], text: &str) -> Option<String> {
        let state = JsonMembers::parse(text)?.get("requestState")?;
        let until = seconds_since_epoch() + STATE_TIME.as_secs();
        let content = serde_json::to_vec(&(until, state.get())).ok()?;
        let owner = self.seal_owner();
        let binding = [&*owner, "state", &encode_hex(digest)];
        let sealed = self.shared.gateway.seal()?.seal_value(&binding, &content)?;
        let mut edit = JsonEdit::new(text);
        edit.replace(state, json_string(&sealed));
        Some(edit.finish().into_owned())
    }
}

fn encode_hex(digest: [u8; 32]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
