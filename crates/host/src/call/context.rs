//! The context of one call: the principal it is made for, and the handlers that answer questions about it.
//!
//! A gateway makes calls for many clients. The context travels with the call, so that questions, log messages
//! and sampling requests of its server reach exactly the client that made it.

use std::sync::Arc;

use mcparley_pool::call_client::CallClient;
use mcparley_pool::elicit::Elicitor;
use mcparley_pool::principal::Principal;
use mcparley_pool::roots::Root;
use mcparley_pool::sample::Sampler;

use crate::permission::Approver;

/// The principal and the handlers of one call. A call without a context is the host's own.
#[derive(Clone)]
pub struct CallContext {
    /// The approver, which is asked for permissions.
    pub(crate) approver: Arc<dyn Approver>,
    /// The client, as far as requests of servers are concerned.
    pub(crate) client: Arc<CallClient>,
}

impl CallContext {
    /// Creates a context with the host's sampler and roots.
    #[must_use]
    pub fn new(principal: Arc<Principal>, approver: Arc<dyn Approver>, elicitor: Arc<dyn Elicitor>) -> Self {
        let client = CallClient { principal, elicitor, sampler: None, roots: None };
        Self { approver, client: Arc::new(client) }
    }

    /// Replaces the sampler.
    #[must_use]
    pub fn with_sampler(mut self, sampler: Arc<dyn Sampler>) -> Self {
        Arc::make_mut(&mut self.client).sampler = Some(sampler);
        self
    }

    /// Replaces the roots.
    #[must_use]
    pub fn with_roots(mut self, roots: Vec<Root>) -> Self {
        Arc::make_mut(&mut self.client).roots = Some(roots);
        self
    }
}

impl std::fmt::Debug for CallContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallContext").field("principal", &self.client.principal.id).finish_non_exhaustive()
    }
}
