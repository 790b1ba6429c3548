//! The line to the client of a call, for gateways: requests of servers are relayed as they were written.
//!
//! A host with a user answers requests itself (`elicit`, `sample`, `roots`). A gateway relays them: its
//! client answers, and the server gets the client's answer byte for byte.

use mcparley_model::log_level::LogLevel;
use mcparley_model::name::ServerName;
use mcparley_wire::peer::BoxedFuture;
use mcparley_wire::{InputRequest, RawJson, RpcError};
use serde_json::Value;

/// Relays the requests and log messages of servers to the client of one call.
pub trait ClientLine: Send + Sync + 'static {
    /// Sends requests of a server to the client, and returns its answers in the same order. Requests of a
    /// server of the old era come one at a time and have an empty key.
    ///
    /// Dropping the future withdraws the requests.
    ///
    /// # Errors
    /// The client's error, or the reason why the client cannot be asked; the server gets it as it is.
    fn ask<'l>(
        &'l self,
        server: &'l ServerName,
        requests: Vec<InputRequest>,
    ) -> BoxedFuture<'l, Result<Vec<RawJson>, RpcError>>;

    /// Relays a log message of the server that belongs to the call.
    fn send_log(&self, server: &ServerName, params: &RawJson);

    /// The capabilities of the client, which servers of the new era are told with each request.
    fn capabilities(&self) -> &Value;

    /// The minimum level of log messages that the client wants, which servers of the new era are told with
    /// each request.
    fn log_level(&self) -> Option<LogLevel>;

    /// Whether the client itself answers results that require input (new era), so that the call ends with
    /// such a result.
    fn relays_input(&self) -> bool;

    /// Whether the client itself has its user visit the pages that a server requires (2025-11-25), so that the
    /// call ends with the error of the server.
    fn visits_pages(&self) -> bool;

    /// Whether the roots of the client are known only by asking in a call, and may be given to a server that
    /// keeps them.
    fn asks_roots_in_calls(&self) -> bool;

    /// Whether the client itself follows tasks, so that the call ends with the task.
    fn follows_tasks(&self) -> bool;
}
