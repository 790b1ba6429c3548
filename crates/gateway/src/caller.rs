//! Which era a request is of, and what the client behind it can do.
//!
//! A request of the new era says so itself, each time anew; what says nothing is of the old era and belongs to the
//! handshake that came before it. One client may do both.

use mcparley_wire::{INVALID_PARAMS, INVALID_REQUEST, RawJson, RpcError, Spoken, Version};
use serde::Deserialize;
use serde_json::{Value, json};

/// The revision that a request names is not spoken here (new era).
pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;

/// Who makes a request, as far as that matters for the answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    pub(crate) spoken: Spoken,
    pub(crate) can: Can,
    /// Whether it shows the user interfaces that servers bring (MCP Apps).
    pub(crate) has_apps: bool,
}

/// The extension by which a client says that it shows apps.
const APPS: &str = "io.modelcontextprotocol/ui";

/// What a client can be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Can {
    /// To fill in a form.
    pub(crate) form: bool,
    /// To visit a page.
    pub(crate) url: bool,
    /// To say which folders it works in.
    pub(crate) roots: bool,
}

/// What a request says about itself.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Meta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion", default)]
    version: Option<String>,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities", default)]
    capabilities: Option<Value>,
    #[serde(rename = "progressToken", default)]
    pub(crate) progress_token: Option<Value>,
}

impl Meta {
    /// Reads `_meta` of the parameters of a request.
    pub(crate) fn read(params: Option<&RawJson>) -> Result<Self, RpcError> {
        let Some(meta) = params.and_then(|params| params.member("_meta")) else { return Ok(Self::default()) };
        // A list would be taken for an object whose members come in this order.
        let is_object = meta.as_bytes().first() == Some(&b'{');
        let read = if is_object { meta.decode().ok() } else { None };
        read.ok_or_else(|| RpcError::new(INVALID_PARAMS, "`_meta` is not as it must be"))
    }

    /// Whether it says which revision it is of.
    pub(crate) fn names_version(&self) -> bool {
        self.version.is_some()
    }
}

impl Caller {
    /// Who makes a request: what it says itself, or else what was agreed on before.
    pub(crate) fn of(meta: &Meta, agreed: Option<Self>) -> Result<Self, RpcError> {
        match (meta.version.as_deref(), agreed) {
            (None, Some(agreed)) => Ok(agreed),
            (None, None) => Err(RpcError::new(
                INVALID_REQUEST,
                "nothing was agreed on: begin with `initialize`, or name the protocol version in `_meta`",
            )),
            (Some(version), _) if version == Version::NEW.as_str() => Self::of_new(meta),
            (Some(version), Some(agreed)) if agreed.spoken.version().as_str() == version => Ok(agreed),
            (Some(version), _) => Err(unsupported(version)),
        }
    }

    fn of_new(meta: &Meta) -> Result<Self, RpcError> {
        let Some(capabilities @ Value::Object(_)) = &meta.capabilities else {
            let reason = "`_meta` has no `io.modelcontextprotocol/clientCapabilities`";
            return Err(RpcError::new(INVALID_PARAMS, reason));
        };
        Ok(Self::with(Spoken::New, Some(capabilities)))
    }

    /// Who has greeted us in the old way.
    pub(crate) fn greeted(version: Version, capabilities: Option<&Value>) -> Self {
        Self::with(Spoken::Old(version), capabilities)
    }

    fn with(spoken: Spoken, capabilities: Option<&Value>) -> Self {
        let extensions = capabilities.and_then(|it| it.get("extensions"));
        let has_apps = extensions.and_then(|it| it.get(APPS)).is_some_and(Value::is_object);
        Self { spoken, can: Can::read(capabilities), has_apps }
    }

    pub(crate) fn is_new(&self) -> bool {
        self.spoken == Spoken::New
    }
}

impl Can {
    /// An empty `elicitation` means forms: that is all there was when it came.
    fn read(capabilities: Option<&Value>) -> Self {
        let capability = |name: &str| capabilities.and_then(|it| it.get(name)).and_then(Value::as_object);
        let roots = capability("roots").is_some();
        let Some(elicitation) = capability("elicitation") else {
            return Self { roots, ..Self::default() };
        };
        let has = |name: &str| elicitation.get(name).is_some_and(Value::is_object);
        Self { form: has("form") || !has("url"), url: has("url"), roots }
    }
}

/// Every revision that is spoken here, newest first.
pub(crate) fn versions() -> Vec<&'static str> {
    let old = Version::OLD.into_iter().rev().map(Version::as_str);
    std::iter::once(Version::NEW.as_str()).chain(old).collect()
}

fn unsupported(version: &str) -> RpcError {
    let error = RpcError::new(UNSUPPORTED_VERSION, "this protocol version is not supported");
    match RawJson::of(&json!({ "requested": version, "supported": versions() })) {
        Ok(data) => error.with_data(data),
        Err(_) => error,
    }
}

#[cfg(test)]
mod tests {
    //! What capabilities mean.
    use super::*;

    // G3
    #[test]
    fn a_client_can_ask_what_it_says_it_can() {
        let cases = [
            (json!({}), (false, false)),
            (json!({ "elicitation": null }), (false, false)),
            (json!({ "elicitation": {} }), (true, false)),
            (json!({ "elicitation": { "form": {} } }), (true, false)),
            (json!({ "elicitation": { "url": {} } }), (false, true)),
            (json!({ "elicitation": { "form": {}, "url": {} } }), (true, true)),
        ];
        for (capabilities, (form, url)) in cases {
            let expected = Can { form, url, roots: false };
            assert_eq!(Can::read(Some(&capabilities)), expected, "{capabilities}");
            let mut with_roots = capabilities.clone();
            with_roots["roots"] = json!({ "listChanged": true });
            assert_eq!(Can::read(Some(&with_roots)), Can { roots: true, ..expected }, "{with_roots}");
        }
    }
}
