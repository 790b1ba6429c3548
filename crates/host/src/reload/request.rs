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
    let Some(config) = &server.config else { return Ok(()) };
    context.clear_cached_failures(&server.name, config);
    match &context.dialer.paths.reconnects {
        Some(file) => ReconnectRequest::new(&context.dialer.paths, &server.name, config).write_to_file(file),
        None => Ok(()),
    }
}
