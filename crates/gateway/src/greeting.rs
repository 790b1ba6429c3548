//! Greets a client, in the way of its era.

use mcparley::model::limits::SERVED_LIST_FRESH;
use mcparley_wire::{INVALID_PARAMS, RawJson, RpcError, Version};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::caller::{Caller, versions};

/// Who we say we are.
pub(crate) fn info() -> Value {
    json!({ "name": "mcparley", "title": "mcparley", "version": env!("CARGO_PKG_VERSION") })
}

/// What results of the new era carry.
pub(crate) fn meta() -> Value {
    json!({ "io.modelcontextprotocol/serverInfo": info() })
}

/// What there is. Log messages are passed on in the old era alone.
fn capabilities(caller: Option<&Caller>) -> Value {
    match caller {
        Some(_) => json!({ "tools": { "listChanged": true }, "logging": {} }),
        None => json!({ "tools": { "listChanged": true } }),
    }
}

/// Agrees on a revision: the client's if it is spoken here, else the newest that has such a greeting.
///
/// # Errors
/// When the client names none.
pub(crate) fn agree(params: Option<&RawJson>) -> Result<Caller, RpcError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Initialize {
        protocol_version: String,
        #[serde(default)]
        capabilities: Option<Value>,
    }
    let read = params.and_then(|params| params.decode::<Initialize>().ok());
    let Some(Initialize { protocol_version, capabilities: theirs }) = read else {
        return Err(RpcError::new(INVALID_PARAMS, "`initialize` needs `protocolVersion`, a text"));
    };
    let version = Version::parse_old(&protocol_version).unwrap_or(Version::NEWEST_OLD);
    Ok(Caller::greeted(version, theirs.as_ref()))
}

/// The answer to `initialize`, once a revision is agreed on.
pub(crate) fn initialized(caller: &Caller, instructions: &str) -> Value {
    json!({
        "protocolVersion": caller.spoken.version().as_str(),
        "capabilities": capabilities(Some(caller)),
        "serverInfo": info(),
        "instructions": instructions,
    })
}

/// What there is, for clients of the new era.
pub(crate) fn discover(instructions: &str) -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": versions(),
        "capabilities": capabilities(None),
        "instructions": instructions,
        "ttlMs": milliseconds(SERVED_LIST_FRESH),
        "cacheScope": "private",
        "_meta": meta(),
    })
}

/// As the protocol counts time.
pub(crate) fn milliseconds(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
