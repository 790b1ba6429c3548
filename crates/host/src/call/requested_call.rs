//! A call as requested: the tool, its arguments, and the options of the call.

use std::sync::Arc;
use std::time::Duration;

use mcparley_catalog::ModelCall;
use mcparley_json::UnexpectedShape;
use mcparley_model::name::{ServerName, ToolName};
use mcparley_model::permission::Decider;
use mcparley_pool::principal::ClientIdentity;
use mcparley_wire::RawJson;
use mcparley_wire::peer::ProgressSender;
use serde_json::Value;
use tracing::Span;

use super::context::CallContext;
use super::progress_stream::ProgressStream;
use crate::permission::Consent;
use mcparley_catalog::{Catalog, CatalogEntry};

/// A call of a tool, to be made by [`Host::call`](crate::Host::call).
#[derive(Debug)]
pub struct Call {
    pub(super) selector: ToolSelector,
    pub(crate) arguments: Value,
    /// The arguments as JSON text, when the caller has it: numbers keep their digits.
    pub(super) raw_arguments: Option<RawJson>,
    pub(super) consent: Consent,
    pub(super) limit: Option<Duration>,
    /// Whether the result is returned whole, however long it is.
    pub(super) is_whole: bool,
    /// Whether the result is forwarded, so that it is decoded only if it has to be.
    pub(super) is_forwarded: bool,
    /// The model's id for this use of the tool.
    pub(super) use_id: Option<Box<str>>,
    pub(super) progress: Option<ProgressSender>,
    /// The context of the call; absent for a call of the host itself.
    pub(super) context: Option<Arc<CallContext>>,
    /// Further members of the request's parameters, as the client of a gateway wrote them.
    pub(super) members: Option<Box<ClientMembers>>,
    /// The span of the call while it runs and a subscriber wants it.
    pub(super) span: Option<Box<Span>>,
}

/// Members of the request's parameters that the client of a gateway wrote.
#[derive(Clone, Debug, Default)]
pub(super) struct ClientMembers(pub(super) Vec<(&'static str, RawJson)>);

/// The tool of a call: by name or by catalog entry.
#[derive(Clone, Debug)]
pub(super) enum ToolSelector {
    /// By its public name in the catalog.
    Public(String),
    /// By server, and the server's own name for the tool.
    Tool { server: ServerName, tool: ToolName },
    /// By its entry, which was looked up before.
    Entry(Arc<CatalogEntry>),
}

impl ToolSelector {
    /// Finds the entry in the catalog.
    pub(super) fn find_entry<'c>(&'c self, catalog: &'c Catalog) -> Option<&'c Arc<CatalogEntry>> {
        match self {
            Self::Entry(entry) => Some(entry),
            Self::Public(name) => catalog.get(name),
            Self::Tool { server, tool } => catalog.find_tool(server, tool),
        }
    }

    /// The name for messages and the audit log.
    pub(super) fn display_name(&self) -> String {
        match self {
            Self::Public(name) => name.clone(),
            Self::Entry(entry) => entry.name.to_string(),
            Self::Tool { server, tool } => format!("{} {}", server.as_str(), tool.as_str()),
        }
    }
}

impl Call {
    /// A call of a tool by its name in the catalog. Arguments that are `null` count as none.
    #[must_use]
    pub fn new(name: &str, arguments: impl Into<Value>) -> Self {
        Self::with_selector(ToolSelector::Public(name.to_owned()), arguments.into())
    }

    /// A call of a tool that was looked up in the catalog. It is not looked up again.
    #[must_use]
    pub fn for_entry(entry: &Arc<CatalogEntry>, arguments: impl Into<Value>) -> Self {
        Self::with_selector(ToolSelector::Entry(Arc::clone(entry)), arguments.into())
    }

    /// A call of a server's tool by the server's own name for it.
    #[must_use]
    pub fn on_server(server: &str, tool: &str, arguments: impl Into<Value>) -> Self {
        Self::with_selector(
            ToolSelector::Tool { server: ServerName::new(server), tool: ToolName::new(tool) },
            arguments.into(),
        )
    }

    fn with_selector(selector: ToolSelector, arguments: Value) -> Self {
        let arguments = if arguments.is_null() { Value::Object(serde_json::Map::new()) } else { arguments };
        Self {
            selector,
            arguments,
            raw_arguments: None,
            consent: Consent::Open,
            limit: None,
            is_whole: false,
            is_forwarded: false,
            use_id: None,
            progress: None,
            context: None,
            members: None,
            span: None,
        }
    }

    /// The arguments that the tool gets.
    #[must_use]
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// Sets the arguments as JSON text, which is sent to the byte.
    ///
    /// # Errors
    /// When the text is not JSON.
    pub fn with_json(mut self, text: &str) -> Result<Self, serde_json::Error> {
        self.arguments = serde_json::from_str(text)?;
        self.raw_arguments = Some(RawJson::parse(text)?);
        Ok(self)
    }

    /// Sets the arguments as JSON, which is sent to the byte and not copied.
    ///
    /// # Errors
    /// When the JSON cannot be decoded.
    pub fn with_raw_json(mut self, json: RawJson) -> Result<Self, UnexpectedShape> {
        self.arguments = json.decode()?;
        self.raw_arguments = Some(json);
        Ok(self)
    }

    /// The decider for the audit log: if the mode allows a call because the user asked for it, the decider
    /// is the user's consent.
    pub(super) fn effective_decider(&self, by: Decider) -> Decider {
        match (self.consent, by) {
            (Consent::Given | Consent::Typed, Decider::Mode) => Decider::Consent,
            (Consent::Given | Consent::Typed | Consent::Open, by) => by,
        }
    }

    /// Sets the user's consent.
    #[must_use]
    pub fn with_consent(mut self, consent: Consent) -> Self {
        self.consent = consent;
        self
    }

    /// Asks for the whole result, however long: for a call whose result a person reads.
    #[must_use]
    pub fn without_result_limit(mut self) -> Self {
        self.is_whole = true;
        self
    }

    /// Sets the model's id for this use of the tool, which hooks are given.
    #[must_use]
    pub fn with_use_id(mut self, id: &str) -> Self {
        self.use_id = Some(id.into());
        self
    }

    /// Sets a time limit for this call: the time the server may be silent.
    #[must_use]
    pub fn with_limit(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// The context of the call, if it has one.
    pub(crate) fn context(&self) -> Option<&CallContext> {
        self.context.as_deref()
    }

    /// Makes the call on behalf of a principal, whose handlers answer in place of the host's.
    #[must_use]
    pub fn with_context(mut self, context: CallContext) -> Self {
        self.context = Some(Arc::new(context));
        self
    }

    /// The account of the client that the call is made for, if there is one.
    pub(super) fn client_account(&self) -> Option<&Arc<str>> {
        self.client_identity().map(|identity| &identity.account)
    }

    /// The identity of the client that the call is made for, if there is one.
    pub(crate) fn client_identity(&self) -> Option<&Arc<ClientIdentity>> {
        self.context.as_ref().map(|context| &context.client.principal.identity)
    }

    /// Sends a further member of the parameters to the server, such as `inputResponses` of a repeated call.
    #[must_use]
    pub fn with_member(mut self, name: &'static str, value: RawJson) -> Self {
        self.members.get_or_insert_default().0.push((name, value));
        self
    }

    /// Requests progress from the server; returns the call and the stream of its progress.
    #[must_use]
    pub fn with_progress(mut self) -> (Self, ProgressStream) {
        let (sender, stream) = ProgressStream::new();
        self.progress = Some(sender);
        (self, stream)
    }
}

impl From<ModelCall> for Call {
    /// The call that a model asks for.
    fn from(ModelCall { name, arguments }: ModelCall) -> Self {
        Self::new(name.as_str(), arguments)
    }
}
