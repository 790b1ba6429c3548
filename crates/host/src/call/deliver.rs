//! Decides how much of a result is handed over: what a model can be given, or all of it (R2, R6).

use std::sync::Arc;

use mcparley_model::config::Kind;
use serde_json::{Value, json};

use super::bind::Bound;
use super::error::CallError;
use super::outcome::Outcome;
use super::own::answer;
use crate::catalog::{BuiltIn, Provider};
use crate::host::Host;
use crate::results;

impl Host {
    /// The outcome as this host hands it over.
    pub(super) async fn deliver(&self, bound: &Bound, outcome: Outcome) -> Outcome {
        let Some(results) = self.results().filter(|_| bound.is_limited()) else { return outcome };
        let room = bound.room;
        if results::fits(&outcome, room) {
            return outcome;
        }
        // Rare and large: it would make every call's future as large.
        Box::pin(results.fit(outcome, room, bound.entry.name.as_str())).await
    }

    /// What `ReadResult` gives. It bounds itself, so it is handed over as it is.
    pub(super) async fn read_result(&self, arguments: &Value) -> Result<Outcome, CallError> {
        let own = |message: String| CallError::Own { message: Arc::from(message) };
        let Some(results) = self.results() else { return Err(own("this host stores no results".to_owned())) };
        let most = self.roster().room.bytes();
        let text = results.read(arguments, most).await.map_err(|error| own(error.to_string()))?;
        answer(&json!({ "content": [{ "type": "text", "text": text }] }))
    }
}

impl Bound {
    /// Whether its results may be too long. `ReadResult` bounds itself, and what an editor says is never cut (R6).
    fn is_limited(&self) -> bool {
        match &self.entry.provider {
            Provider::Host(BuiltIn::ReadResult) | Provider::SignIn { .. } => return false,
            Provider::Host(_) | Provider::Server(_) => {}
        }
        let kind = self.connection.as_ref().map(|connection| connection.config.kind());
        match kind {
            Some(Kind::SseIde | Kind::WsIde) => false,
            Some(Kind::Stdio | Kind::Sse | Kind::Http | Kind::Ws | Kind::Sdk | Kind::ClaudeAiProxy)
            | None => true,
        }
    }
}
