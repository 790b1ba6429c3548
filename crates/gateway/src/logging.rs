//! Log messages of the servers, for a client of the old era that has said how much it wants to hear (X8).
//!
//! The new era asks for them with each request, and hears none from here.

use std::sync::{Mutex, PoisonError};

use mcparley::model::log_level::LogLevel;
use mcparley::{LogMessage, Speaker};
use mcparley_wire::{INVALID_PARAMS, RawJson, RpcError};
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;

use crate::session::{Session, written};

/// What a client wants to hear; nothing until it says so.
#[derive(Debug, Default)]
pub(crate) struct Logging(Mutex<Option<LogLevel>>);

impl Logging {
    fn hears(&self, level: LogLevel) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|least| level >= least)
    }
}

impl Session {
    /// Answers `logging/setLevel`. The servers are asked for as much.
    pub(crate) fn set_level(&self, params: Option<&RawJson>) -> Result<RawJson, RpcError> {
        let word = params.and_then(|params| params.member("level")).and_then(|it| it.decode::<String>().ok());
        let level = word.as_deref().and_then(|word| word.parse::<LogLevel>().ok());
        let Some(level) = level else {
            return Err(RpcError::new(INVALID_PARAMS, "`level` is none of the levels there are"));
        };
        *self.shared.logging.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(level);
        match &self.shared.gateway.log_host {
            None => self.host().set_log_level(None, level),
            Some(above) => {
                let servers = self.host().servers();
                servers.iter().for_each(|server| above.set_log_level(Some(&server.name), level));
            }
        }
        written(&json!({}))
    }

    /// Passes on what the servers log, for ever.
    pub(crate) async fn tell_logs(&self) {
        let above = self.shared.gateway.log_host.as_ref();
        let mut messages = above.unwrap_or(self.host()).log_messages();
        loop {
            match messages.recv().await {
                Ok(message) => self.tell_log(&message).await,
                // What was lost is lost; the newest are what matters.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }

    async fn tell_log(&self, LogMessage { server, line, .. }: &LogMessage) {
        let Speaker::Server { level, logger } = &line.from else { return };
        // A level that the protocol does not have is no reason to say nothing.
        let level = level.parse().unwrap_or(LogLevel::Info);
        let is_shown = || self.host().servers().iter().any(|shown| shown.name == *server);
        if !self.shared.logging.hears(level) || !is_shown() {
            return;
        }
        let name = logger.as_ref().map_or_else(|| server.to_string(), |logger| format!("{server}/{logger}"));
        let name: Value = mcparley::model::text::clean(&name).into();
        let params = json!({ "level": level.as_str(), "logger": name, "data": line.text.clean() });
        self.notify("notifications/message", Some(params)).await;
    }
}
