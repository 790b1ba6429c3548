//! The handshake with a client, in the form of its era.

use mcparley::model::limits::SERVED_LIST_FRESH;
use mcparley_wire::{INVALID_PARAMS, ProtocolVersion, RawJson, RpcError};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client_abilities::{Caller, supported_versions};

/// The `serverInfo` of the gateway.
pub(crate) fn server_info() -> Value {
    json!({ "name": "mcparley", "title": "mcparley", "version": env!("CARGO_PKG_VERSION") })
}

/// The `_meta` of results of the new era.
pub(crate) fn result_meta() -> Value {
    json!({ "io.modelcontextprotocol/serverInfo": server_info() })
}

/// The capabilities of the gateway. Log messages are forwarded in the old era only.
fn capabilities(caller: Option<&Caller>) -> Value {
    match caller {
        Some(_) => json!({ "tools": { "listChanged": true }, "logging": {} }),
        None => json!({ "tools": { "listChanged": true } }),
    }
}

/// Negotiates the protocol version: the client's if it is supported, else the newest of the old era.
///
/// # Errors
/// When the client names none.
pub(crate) fn negotiate_version(params: Option<&RawJson>) -> Result<Caller, RpcError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct InitializeRequest {
        protocol_version: String,
        #[serde(default)]
        capabilities: Option<Value>,
    }
    let read = params.and_then(|params| params.decode::<InitializeRequest>().ok());
    let Some(InitializeRequest { protocol_version, capabilities: theirs }) = read else {
        return Err(RpcError::new(INVALID_PARAMS, "`initialize` requires `protocolVersion`, a string"));
    };
    let version = ProtocolVersion::parse_old(&protocol_version).unwrap_or(ProtocolVersion::NEWEST_OLD);
    Ok(Caller::from_initialize(version, theirs.as_ref()))
}

/// The result of `initialize`, after the version is negotiated.
pub(crate) fn initialize_result(caller: &Caller, instructions: &str) -> Value {
    json!({
        "protocolVersion": caller.spoken.version().as_str(),
        "capabilities": capabilities(Some(caller)),
        "serverInfo": server_info(),
        "instructions": instructions,
    })
}

/// The result of `server/discover`, for clients of the new era.
pub(crate) fn discover_result(instructions: &str) -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": supported_versions(),
        "capabilities": capabilities(None),
        "instructions": instructions,
        "ttlMs": milliseconds(SERVED_LIST_FRESH),
        "cacheScope": "private",
        "_meta": result_meta(),
    })
}

/// A duration in milliseconds, the unit of the protocol.
pub(crate) fn milliseconds(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
