//! The era of a request, and the capabilities of its client.
//!
//! A request of the new era names its protocol version itself, each time; a request without one is of the
//! old era and belongs to the handshake before it. One client may do both.

use mcparley_wire::{AgreedProtocol, INVALID_PARAMS, INVALID_REQUEST, ProtocolVersion, RawJson, RpcError};
use serde::Deserialize;
use serde_json::{Value, json};

/// Error code for a protocol version that is not supported (new era).
pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;

/// The client that makes a request: its protocol version and capabilities.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    pub(crate) spoken: AgreedProtocol,
    pub(crate) abilities: ClientAbilities,
    /// Whether the client shows the user interfaces of servers (MCP Apps).
    pub(crate) has_apps: bool,
}

/// The extension by which a client declares that it shows apps.
const APPS: &str = "io.modelcontextprotocol/ui";

/// The questions that a client supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClientAbilities {
    /// Forms (elicitation).
    pub(crate) form: bool,
    /// Pages to visit (URL elicitation).
    pub(crate) url: bool,
    /// The list of its folders (roots).
    pub(crate) roots: bool,
}

/// The `_meta` member of a request.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct RequestMeta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion", default)]
    version: Option<String>,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities", default)]
    capabilities: Option<Value>,
    #[serde(rename = "progressToken", default)]
    pub(crate) progress_token: Option<Value>,
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

    /// Whether the request names its protocol version.
    pub(crate) fn has_version(&self) -> bool {
        self.version.is_some()
    }
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

    pub(crate) fn is_new(&self) -> bool {
        self.spoken == AgreedProtocol::New
    }
}

impl ClientAbilities {
    /// Parses client capabilities. An empty `elicitation` means forms: there was no other kind when the
    /// capability was introduced.
    fn from_capabilities(capabilities: Option<&Value>) -> Self {
        let capability = |name: &str| capabilities.and_then(|it| it.get(name)).and_then(Value::as_object);
        let roots = capability("roots").is_some();
        let Some(elicitation) = capability("elicitation") else {
            return Self { roots, ..Self::default() };
        };
        let has = |name: &str| elicitation.get(name).is_some_and(Value::is_object);
        Self { form: has("form") || !has("url"), url: has("url"), roots }
    }
}

/// All supported protocol versions, the newest first.
pub(crate) fn supported_versions() -> Vec<&'static str> {
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
            let expected = ClientAbilities { form, url, roots: false };
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
