//! Asks every running host to connect anew to a server.

use mcparley_model::plan::Planned;

use super::ChangeError;
use crate::connect::Surroundings;
use crate::reconnect_requests::ReconnectRequest;

/// Asks every host that runs and has this server to drop its connection and connect anew, and forgets that the server
/// failed or wanted a sign-in before. A server without a usable entry is left alone.
///
/// # Errors
/// When the request cannot be written.
pub fn request_reconnect(surroundings: &Surroundings, server: &Planned) -> Result<(), ChangeError> {
    let Some(config) = &server.config else { return Ok(()) };
    surroundings.forget_trouble(&server.name, config);
    match &surroundings.paths.reconnects {
        Some(file) => ReconnectRequest::new(&surroundings.paths, &server.name, config).write(file),
        None => Ok(()),
    }
}
