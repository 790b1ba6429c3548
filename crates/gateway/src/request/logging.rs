//! Forwards log messages of servers to clients of the old era that have set a log level.
//!
//! The new era requests log messages per request, and gets them with its call. A message is sent to the client whose
//! call it belongs to; one that belongs to no call only if there is a single client.

use mcparley::model::log_level::LogLevel;
use mcparley::pool::log::{LogMessage, LogSource};
use mcparley_wire::{INVALID_PARAMS, RawJson, RpcError};
use serde_json::json;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use crate::response::log_message::fit_log_message;
use crate::response::serialize_result;
use crate::session::GatewaySession;
use crate::session::shared_values::LEVEL;

impl GatewaySession {
    /// Answers `logging/setLevel`, and sets the same level at the servers.
    pub(crate) fn set_log_level(&self, params: Option<&RawJson>) -> Result<RawJson, RpcError> {
        let word = params.and_then(|params| params.member("level")).and_then(|it| it.decode::<String>().ok());
        let level = word.as_deref().and_then(|word| word.parse::<LogLevel>().ok());
        let Some(level) = level else {
            return Err(RpcError::new(INVALID_PARAMS, "unknown `level`"));
        };
        self.apply_log_level(level);
        self.share_value(LEVEL, &level.as_str());
        serialize_result(&json!({}))
    }

    /// Sets the level of the client, and that of the servers.
    pub(crate) fn apply_log_level(&self, level: LogLevel) {
        self.shared.logging.set_level(level);
        let gateway = &self.shared.gateway;
        gateway.set_server_level(gateway.log_levels.store_level(self.shared.number, level));
    }

    /// Raises the level of the servers to that of a request of the new era. Servers of the old era have one
    /// level for all requests, so it stays for the next ones; the client gets only messages that it wants.
    pub(crate) fn raise_log_level(&self, level: LogLevel) {
        let gateway = &self.shared.gateway;
        let known = gateway.log_levels.level_of(self.shared.number);
        if known.is_none_or(|known| level < known) {
            gateway.set_server_level(gateway.log_levels.store_level(self.shared.number, level));
        }
    }

    /// Forwards the log messages of the servers. Never returns.
    pub(crate) async fn forward_logs(&self) {
        let gateway = &self.shared.gateway;
        let above = gateway.log_host.as_ref().unwrap_or(self.host());
        let own = gateway.has_principal_view.then(|| self.host().log_messages());
        tokio::join!(self.forward_messages(Some(above.log_messages())), self.forward_messages(own));
    }

    async fn forward_messages(&self, messages: Option<Receiver<LogMessage>>) {
        let Some(mut messages) = messages else { return };
        loop {
            match messages.recv().await {
                Ok(message) => self.forward_log(&message),
                // Lost messages are gone; the newest matter most.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }

    fn forward_log(&self, LogMessage { server, principal, line, params }: &LogMessage) {
        // A message that belongs to no call may reveal another client's call.
        let is_ours = match principal {
            Some(principal) => *principal == self.principal().id,
            None => self.shared.gateway.has_one_client(),
        };
        let LogSource::Server { level, .. } = &line.from else { return };
        // A message with an unknown level counts as `info`.
        let level = level.parse().unwrap_or(LogLevel::Info);
        let is_shown = || self.host().servers().iter().any(|shown| shown.name == *server);
        if !is_ours || !self.shared.logging.includes(level) || !is_shown() {
            return;
        }
        let params = fit_log_message(&self.shared.gateway.mode, server, params);
        if let Some(channel) = self.channel() {
            // A message that the client does not read is dropped.
            let _delivery = channel.notify("notifications/message", Some(&params));
        }
    }
}
