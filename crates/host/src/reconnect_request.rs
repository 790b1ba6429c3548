//! Requests all running hosts to reconnect a server.

use mcparley_config::plan::PlannedServer;

use mcparley_config::ChangeError;
use mcparley_config::reconnect_requests::ReconnectRequest;
use mcparley_pool::connect::ConnectContext;

/// Requests every running host that has this server to drop its connection and connect again, and forgets
/// earlier failures and sign-in requirements of the server. A server without a usable entry is ignored.
///
/// # Errors
/// When the request cannot be written.
pub fn request_reconnect(context: &ConnectContext, server: &PlannedServer) -> Result<(), ChangeError> {
    match prepare_reconnect(context, server) {
        Some(request) => publish_reconnect(context, &request),
        None => Ok(()),
    }
}

/// Forgets earlier failures and sign-in requirements of a server, and returns the request to reconnect it;
/// `None` for a server without a usable entry.
#[must_use]
pub fn prepare_reconnect(context: &ConnectContext, server: &PlannedServer) -> Option<ReconnectRequest> {
    let config = server.config.as_ref()?;
    context.clear_cached_failures(&server.name, config);
    Some(ReconnectRequest::new(&context.dialer.paths, &server.name, config))
}

/// Publishes a request to all running hosts. Those that have acted on it already ignore it.
///
/// # Errors
/// When the request cannot be written.
pub fn publish_reconnect(context: &ConnectContext, request: &ReconnectRequest) -> Result<(), ChangeError> {
    match &context.dialer.paths.reconnects {
        Some(file) => request.write_to_file(file),
        None => Ok(()),
    }
}
