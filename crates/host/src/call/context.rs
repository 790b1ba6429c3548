//! The context of one call: the principal it is made for, and the handlers that answer questions about it.
//!
//! A gateway makes calls for many clients. The context travels with the call, so that questions, log messages
//! and sampling requests of its server reach exactly the client that made it.

use std::borrow::Cow;
use std::sync::Arc;

use mcparley_pool::call_client::CallClient;
use mcparley_pool::client_line::ClientLine;
use mcparley_pool::connection::LiveConnection;
use mcparley_pool::elicit::Elicitor;
use mcparley_pool::principal::Principal;
use mcparley_pool::roots::Root;
use mcparley_pool::sample::Sampler;
use mcparley_wire::{AgreedProtocol, RequestParams};
use serde_json::{Map, Value};

use crate::page_opener::PageOpener;
use crate::permission::Approver;

/// The `_meta` members by which a server of the new era is told of its client.
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// The principal and the handlers of one call. A call without a context is the host's own.
#[derive(Clone)]
pub struct CallContext {
    /// The approver, which is asked for permissions.
    pub(crate) approver: Arc<dyn Approver>,
    /// The client, as far as requests of servers are concerned.
    pub(crate) client: Arc<CallClient>,
    /// Shows pages of sign-ins, where the client signs in itself.
    page_opener: Option<Arc<dyn PageOpener>>,
    /// Members of the client's own `_meta`, which are sent to the server.
    pub(crate) meta: Map<String, Value>,
    /// Whether `_meta` reaches the server as the client wrote it, also with a trace.
    pub(crate) keeps_meta: bool,
}

impl CallContext {
    /// Creates a context with the host's sampler and roots.
    #[must_use]
    pub fn new(principal: Arc<Principal>, approver: Arc<dyn Approver>, elicitor: Arc<dyn Elicitor>) -> Self {
        let client = CallClient { principal, elicitor, sampler: None, roots: None, line: None };
        Self { approver, client: Arc::new(client), page_opener: None, meta: Map::new(), keeps_meta: false }
    }

    /// Shows the pages of sign-ins of the principal to the user of its client. The call waits for the sign-in if
    /// the page was shown, which is when the user has agreed to open it.
    #[must_use]
    pub fn with_page_opener(self, opener: Arc<dyn PageOpener>) -> Self {
        Self { page_opener: Some(opener), ..self }
    }

    pub(crate) fn page_opener(&self) -> Option<&Arc<dyn PageOpener>> {
        self.page_opener.as_ref()
    }

    /// Replaces the sampler.
    #[must_use]
    pub fn with_sampler(mut self, sampler: Arc<dyn Sampler>) -> Self {
        Arc::make_mut(&mut self.client).sampler = Some(sampler);
        self
    }

    /// Relays requests of the server to the client of a gateway, in place of the other handlers.
    #[must_use]
    pub fn with_line(mut self, line: Arc<dyn ClientLine>) -> Self {
        Arc::make_mut(&mut self.client).line = Some(line);
        self
    }

    /// Sends these members of the client's `_meta` to the server, such as `traceparent`.
    #[must_use]
    pub fn with_meta(mut self, meta: Map<String, Value>) -> Self {
        self.meta = meta;
        self
    }

    /// Keeps the trace context of the client as it is: our spans are not put between the client and the server.
    #[must_use]
    pub fn with_untouched_meta(mut self) -> Self {
        self.keeps_meta = true;
        self
    }

    /// The line to the client, if there is one.
    pub(crate) fn line(&self) -> Option<&Arc<dyn ClientLine>> {
        self.client.line.as_ref()
    }

    /// Replaces the roots.
    #[must_use]
    pub fn with_roots(mut self, roots: Vec<Root>) -> Self {
        Arc::make_mut(&mut self.client).roots = Some(roots);
        self
    }
}

/// Adds what a server of the new era is told of its client with each request: capabilities and log level.
pub(super) fn with_client_meta<'p>(
    params: Cow<'p, RequestParams>,
    live: &LiveConnection,
    context: Option<&CallContext>,
) -> Cow<'p, RequestParams> {
    let Some(line) = context.and_then(CallContext::line) else { return params };
    if live.session.protocol() != AgreedProtocol::New {
        return params;
    }
    let params = params.into_owned().with_meta(CLIENT_CAPABILITIES, line.capabilities().clone());
    Cow::Owned(match line.log_level() {
        Some(level) => params.with_meta(LOG_LEVEL, level.as_str()),
        None => params,
    })
}

/// Waits until the server knows the log level that the client of a gateway wants for this request.
pub(super) async fn prepare_log_level(live: &LiveConnection, context: Option<&CallContext>) {
    if let Some(level) = context.and_then(CallContext::line).and_then(|line| line.log_level()) {
        // Boxed: this rare future would enlarge the future of every call.
        Box::pin(live.wait_for_log_level(level)).await;
    }
}

impl std::fmt::Debug for CallContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallContext").field("principal", &self.client.principal.id).finish_non_exhaustive()
    }
}
