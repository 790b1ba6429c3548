//! The era of a request, and the capabilities of its client.
//!
//! A request of the new era names its protocol version itself, each time; a request without one is of the
//! old era and belongs to the handshake before it. One client may do both.

use std::sync::Arc;

use mcparley::model::log_level::LogLevel;
use mcparley::model::text::display_line;
use mcparley::pool::client_offer::ClientOffer;
use mcparley_wire::{
    AgreedProtocol, INVALID_PARAMS, INVALID_REQUEST, ProtocolVersion, RawJson, RpcError, UNSUPPORTED_VERSION,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The client that makes a request: its protocol version and capabilities.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    pub(crate) spoken: AgreedProtocol,
    pub(crate) abilities: ClientAbilities,
    /// Whether the client shows the user interfaces of servers (MCP Apps).
    pub(crate) has_apps: bool,
}

/// The maximum length of a client's name.
const CLIENT_NAME_CHARS: usize = 64;

/// The extension by which a client declares that it shows apps.
const APPS: &str = "io.modelcontextprotocol/ui";

/// The extension by which a client of the new era declares that it follows tasks.
pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";

/// The questions that a client supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClientAbilities {
    /// Forms (elicitation).
    pub(crate) form: bool,
    /// Pages to visit (URL elicitation).
    pub(crate) url: bool,
    /// The list of its folders (roots).
    pub(crate) roots: bool,
    /// Requests to its model (sampling).
    pub(crate) sampling: bool,
    /// Sampling with tools.
    pub(crate) sampling_tools: bool,
    /// Tasks of the new era (extension).
    pub(crate) tasks: bool,
}

/// The `_meta` member of a request.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct RequestMeta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion", default)]
    version: Option<String>,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities", default)]
    capabilities: Option<Value>,
    #[serde(rename = "io.modelcontextprotocol/logLevel", default)]
    log_level: Option<String>,
    #[serde(rename = "progressToken", default)]
    pub(crate) progress_token: Option<Value>,
    /// All other members, which are sent to the server.
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl RequestMeta {
    /// Parses `_meta` of the parameters of a request.
    pub(crate) fn parse(params: Option<&RawJson>) -> Result<Self, RpcError> {
        let Some(meta) = params.and_then(|params| params.member("_meta")) else { return Ok(Self::default()) };
        // A JSON array would be parsed as a struct whose members come in this order.
        let is_object = meta.as_bytes().first() == Some(&b'{');
        let read = if is_object { meta.decode().ok() } else { None };
        read.ok_or_else(|| RpcError::new(INVALID_PARAMS, "`_meta` is invalid"))
    }

    /// The capabilities that the request declares (new era).
    pub(crate) fn capabilities(&self) -> Option<&Value> {
        self.capabilities.as_ref().filter(|_| self.has_version())
    }

    /// The minimum level of the log messages that the request asks for (new era).
    pub(crate) fn log_level(&self) -> Option<LogLevel> {
        self.log_level.as_deref()?.parse().ok()
    }

    /// The members that are sent to the server: the client's own keys, and those of tracing.
    pub(crate) fn forwarded_members(&self) -> Map<String, Value> {
        let is_ours = |name: &str| {
            matches!(
                name,
                "io.modelcontextprotocol/clientInfo"
                    | "io.modelcontextprotocol/subscriptionId"
                    | "io.modelcontextprotocol/related-task"
            )
        };
        let others = self.others.iter().filter(|(name, _)| !is_ours(name));
        others.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// The trace context of the client: `traceparent` and `tracestate`.
    pub(crate) fn trace_fields(&self) -> Option<(&str, Option<&str>)> {
        let text = |name: &str| self.others.get(name).and_then(Value::as_str);
        text("traceparent").map(|parent| (parent, text("tracestate")))
    }

    /// The name that the client gives itself in the request (new era).
    pub(crate) fn client_name(&self) -> Option<Arc<str>> {
        bounded_name(self.others.get("io.modelcontextprotocol/clientInfo")?)
    }

    /// Whether the request names its protocol version.
    pub(crate) fn has_version(&self) -> bool {
        self.version.is_some()
    }
}

/// The name in the `clientInfo` of a client, cleaned and shortened.
pub(crate) fn bounded_name(info: &Value) -> Option<Arc<str>> {
    let name = info.get("name")?.as_str()?;
    let name: String = name.chars().take(CLIENT_NAME_CHARS).collect();
    Some(Arc::from(&*display_line(&name))).filter(|name: &Arc<str>| !name.is_empty())
}

impl Caller {
    /// The caller of a request: as the request itself declares, or else as negotiated in the handshake.
    pub(crate) fn from_meta(meta: &RequestMeta, agreed: Option<Self>) -> Result<Self, RpcError> {
        match (meta.version.as_deref(), agreed) {
            (None, Some(agreed)) => Ok(agreed),
            (None, None) => Err(RpcError::new(
                INVALID_REQUEST,
                "no protocol version was negotiated: begin with `initialize`, or set it in `_meta`",
            )),
            (Some(version), _) if version == ProtocolVersion::NEW.as_str() => Self::from_new_era_meta(meta),
            (Some(version), Some(agreed)) if agreed.spoken.version().as_str() == version => Ok(agreed),
            (Some(version), _) => Err(unsupported_version_error(version)),
        }
    }

    fn from_new_era_meta(meta: &RequestMeta) -> Result<Self, RpcError> {
        let Some(capabilities @ Value::Object(_)) = &meta.capabilities else {
            let reason = "`_meta` has no `io.modelcontextprotocol/clientCapabilities`";
            return Err(RpcError::new(INVALID_PARAMS, reason));
        };
        Ok(Self::with_capabilities(AgreedProtocol::New, Some(capabilities)))
    }

    /// The caller after an `initialize` of the old era.
    pub(crate) fn from_initialize(version: ProtocolVersion, capabilities: Option<&Value>) -> Self {
        Self::with_capabilities(AgreedProtocol::Old(version), capabilities)
    }

    fn with_capabilities(spoken: AgreedProtocol, capabilities: Option<&Value>) -> Self {
        let extensions = capabilities.and_then(|it| it.get("extensions"));
        let has_apps = extensions.and_then(|it| it.get(APPS)).is_some_and(Value::is_object);
        Self { spoken, abilities: ClientAbilities::from_capabilities(capabilities), has_apps }
    }

    /// The offer of a client with these capabilities.
    pub(crate) fn offer_of(capabilities: Option<&Value>) -> ClientOffer {
        let caller = Self::with_capabilities(AgreedProtocol::New, capabilities);
        caller.abilities.to_offer(caller.has_apps)
    }

    /// Whether the client may have tasks of 2025-11-25, the only revision with them.
    pub(crate) fn has_old_tasks(&self) -> bool {
        self.spoken == AgreedProtocol::Old(ProtocolVersion::NEWEST_OLD)
    }

    pub(crate) fn is_new(&self) -> bool {
        self.spoken == AgreedProtocol::New
    }
}

/// The offer of a client that declares these capabilities in its handshake.
#[must_use]
pub fn offer_from_capabilities(capabilities: &Value) -> ClientOffer {
    Caller::offer_of(Some(capabilities))
}

impl ClientAbilities {
    /// Parses client capabilities. An empty `elicitation` means forms: there was no other kind when the
    /// capability was introduced.
    fn from_capabilities(capabilities: Option<&Value>) -> Self {
        let capability = |name: &str| capabilities.and_then(|it| it.get(name)).and_then(Value::as_object);
        let extension = |name: &str| capability("extensions").is_some_and(|it| it.contains_key(name));
        let sampling = capability("sampling");
        let others = Self {
            roots: capability("roots").is_some(),
            sampling: sampling.is_some(),
            sampling_tools: sampling.is_some_and(|it| it.get("tools").is_some_and(Value::is_object)),
            tasks: extension(TASKS),
            ..Self::default()
        };
        let Some(elicitation) = capability("elicitation") else { return others };
        let has = |name: &str| elicitation.get(name).is_some_and(Value::is_object);
        Self { form: has("form") || !has("url"), url: has("url"), ..others }
    }

    /// The capabilities that servers of the old era are offered, where they have a connection for this client.
    fn to_offer(self, has_apps: bool) -> ClientOffer {
        let Self { form, url, roots, sampling, sampling_tools, tasks: _ } = self;
        ClientOffer { form, url, sampling, sampling_tools, roots, apps: has_apps }
    }

    /// The capabilities in the form of the new era, for a client that declared them in its handshake.
    pub(crate) fn to_capabilities(self) -> Value {
        let mut capabilities = json!({});
        if self.form || self.url {
            let modes = [("form", self.form), ("url", self.url)];
            let modes = modes.into_iter().filter(|(_, is_offered)| *is_offered);
            capabilities["elicitation"] = modes.map(|(mode, _)| (mode.to_owned(), json!({}))).collect();
        }
        if self.sampling {
            capabilities["sampling"] = if self.sampling_tools { json!({ "tools": {} }) } else { json!({}) };
        }
        if self.roots {
            capabilities["roots"] = json!({});
        }
        // Tasks of the server are held open for a client of the old era.
        capabilities["extensions"] = json!({ TASKS: {} });
        capabilities
    }
}

/// All supported protocol versions, the newest first.
#[must_use]
pub fn supported_versions() -> Vec<&'static str> {
    let old = ProtocolVersion::OLD.into_iter().rev().map(ProtocolVersion::as_str);
    std::iter::once(ProtocolVersion::NEW.as_str()).chain(old).collect()
}

/// The error for an unsupported protocol version, with the list of supported ones.
fn unsupported_version_error(version: &str) -> RpcError {
    let error = RpcError::new(UNSUPPORTED_VERSION, "this protocol version is not supported");
    match RawJson::from_value(&json!({ "requested": version, "supported": supported_versions() })) {
        Ok(data) => error.with_data(data),
        Err(_) => error,
    }
}

#[cfg(test)]
mod tests {
    //! The meaning of capabilities.
    use super::*;

    // G3
    #[test]
    fn client_abilities_follow_declared_capabilities() {
        let cases = [
            (json!({}), (false, false)),
            (json!({ "elicitation": null }), (false, false)),
            (json!({ "elicitation": {} }), (true, false)),
            (json!({ "elicitation": { "form": {} } }), (true, false)),
            (json!({ "elicitation": { "url": {} } }), (false, true)),
            (json!({ "elicitation": { "form": {}, "url": {} } }), (true, true)),
        ];
        for (capabilities, (form, url)) in cases {
            let expected = ClientAbilities { form, url, ..ClientAbilities::default() };
            assert_eq!(ClientAbilities::from_capabilities(Some(&capabilities)), expected, "{capabilities}");
            let mut with_roots = capabilities.clone();
            with_roots["roots"] = json!({ "listChanged": true });
            assert_eq!(
                ClientAbilities::from_capabilities(Some(&with_roots)),
                ClientAbilities { roots: true, ..expected },
                "{with_roots}"
            );
        }
    }
}
