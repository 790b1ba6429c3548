//! The client of one call: its principal and the handlers that answer server requests during the call.

use std::sync::Arc;

use crate::client_line::ClientLine;
use crate::elicit::Elicitor;
use crate::principal::Principal;
use crate::roots::Root;
use crate::sample::Sampler;

/// The client of one call: its principal and its handlers for server requests.
#[derive(Clone)]
pub struct CallClient {
    /// The principal that makes the call.
    pub principal: Arc<Principal>,
    /// The elicitation handler.
    pub elicitor: Arc<dyn Elicitor>,
    /// The sampling handler; without one, the host's own is used.
    pub sampler: Option<Arc<dyn Sampler>>,
    /// The roots of the principal, for servers that request them during the call. Without them, the host's
    /// own are used.
    pub roots: Option<Vec<Root>>,
    /// The line to the client of a gateway, which answers in place of the other handlers.
    pub line: Option<Arc<dyn ClientLine>>,
}

impl std::fmt::Debug for CallClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallClient").field("principal", &self.principal.id).finish_non_exhaustive()
    }
}
