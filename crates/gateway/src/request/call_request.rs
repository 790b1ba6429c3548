//! The parameters of `tools/call`.

use mcparley_wire::{INVALID_PARAMS, RawJson, RpcError};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

/// The parsed parameters of `tools/call`.
#[derive(Clone)]
pub(crate) struct CallRequest {
    pub(crate) name: String,
    pub(crate) arguments: RawJson,
    /// The input responses of a repeated request.
    pub(crate) responses: Option<RawJson>,
    pub(crate) state: Option<RawJson>,
    /// The task that the client asks for (2025-11-25).
    pub(crate) task: Option<RawJson>,
    /// Whether the model called it through the tool `CallTool`.
    pub(crate) is_inner: bool,
}

impl CallRequest {
    /// Parses the parameters of a `tools/call` request.
    pub(crate) fn parse(params: Option<&RawJson>) -> Result<Self, RpcError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct CallToolParams<'p> {
            name: String,
            #[serde(borrow, default)]
            arguments: Option<&'p RawValue>,
            #[serde(borrow, default)]
            input_responses: Option<&'p RawValue>,
            #[serde(borrow, default)]
            request_state: Option<&'p RawValue>,
            #[serde(borrow, default)]
            task: Option<&'p RawValue>,
        }
        let invalid = |reason: &str| RpcError::new(INVALID_PARAMS, reason);
        let params = params.ok_or_else(|| invalid("`name` is required"))?;
        let read: Result<CallToolParams<'_>, _> = serde_json::from_slice(params.as_bytes());
        let wire = read.map_err(|_| invalid("`name` must be a string"))?;
        let arguments = match wire.arguments.map(|raw| params.share_slice(raw)) {
            Some(arguments) if arguments.as_bytes().first() == Some(&b'{') => arguments,
            Some(_) => return Err(invalid("`arguments` is not an object")),
            None => RawJson::parse("{}").map_err(|_| invalid("`arguments` is not an object"))?,
        };
        let part = |raw: Option<&RawValue>| raw.map(|raw| params.share_slice(raw));
        let (responses, state) = (part(wire.input_responses), part(wire.request_state));
        let task = part(wire.task);
        Ok(Self { name: wire.name, arguments, responses, state, task, is_inner: false })
    }

    /// The inner call that the arguments of `CallTool` describe.
    pub(crate) fn inner_call(&self) -> Option<Self> {
        let name = self.arguments.member("name")?.decode::<String>().ok()?;
        let arguments = match self.arguments.member("arguments") {
            Some(arguments) => Some(arguments).filter(|it| it.as_bytes().first() == Some(&b'{'))?,
            None => RawJson::parse("{}").ok()?,
        };
        let (responses, state) = (self.responses.clone(), self.state.clone());
        Some(Self { name, arguments, responses, state, task: None, is_inner: true })
    }

    /// The digest by which a repeated request is recognized.
    pub(crate) fn digest(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update((self.name.len() as u64).to_le_bytes());
        hash.update(self.name.as_bytes());
        // A client may serialize the arguments differently in the repeated request.
        let arguments = self.arguments.decode::<Value>().map(sort_keys).unwrap_or_default();
        hash.update(arguments.to_string().as_bytes());
        hash.finalize().into()
    }
}

/// Sorts the keys of a value at every level.
pub(crate) fn sort_keys(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(String, Value)> =
                members.into_iter().map(|(name, value)| (name, sort_keys(value))).collect();
            members.sort_by(|one, other| one.0.cmp(&other.0));
            Value::Object(members.into_iter().collect())
        }
        Value::Array(elements) => Value::Array(elements.into_iter().map(sort_keys).collect()),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => other,
    }
}
