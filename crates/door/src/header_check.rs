//! Checks the headers of a request of the new era against its body.
//!
//! Routers and proxies decide by the headers, and the gateway by the body: a request in which they differ is
//! refused.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::StatusCode;
use hyper::http::HeaderMap;
use mcparley_model::tool::{HeaderParam, param_headers};
use mcparley_wire::{
    HEADER_MISMATCH, INVALID_PARAMS, ProtocolVersion, RawJson, RpcError, UNSUPPORTED_VERSION,
};
use serde_json::{Value, json};

use crate::guard::refusal::RequestRefusal;
use mcparley_gateway::GatewaySession;
use mcparley_gateway::supported_versions;

const VERSION: &str = "mcp-protocol-version";
const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The `_meta` of a request, as far as the era depends on it.
#[derive(Debug, Default)]
pub(crate) struct EraMeta {
    /// The protocol version that the request names.
    pub(crate) version: Option<String>,
    has_capabilities: bool,
}

impl EraMeta {
    /// Parses `_meta` of the parameters.
    pub(crate) fn parse(params: Option<&RawJson>) -> Self {
        let meta = params.and_then(|params| params.member("_meta"));
        let Some(meta) = meta.and_then(|meta| meta.decode::<Value>().ok()) else { return Self::default() };
        let version = meta.get(META_VERSION).and_then(Value::as_str).map(str::to_owned);
        Self { version, has_capabilities: meta.get(META_CAPABILITIES).is_some_and(Value::is_object) }
    }
}

/// Checks the version header and `_meta` of a request.
pub(crate) fn check_version(
    headers: &HeaderMap,
    meta: &EraMeta,
    is_request: bool,
) -> Result<(), RequestRefusal> {
    let header = single_header(headers, VERSION)?;
    let Some(header) = header else { return Err(mismatch("`MCP-Protocol-Version` is required")) };
    match &meta.version {
        Some(version) if *version != header => {
            return Err(mismatch("`MCP-Protocol-Version` differs from the version in `_meta`"));
        }
        None if is_request => {
            return Err(invalid_params(&format!("`_meta` has no `{META_VERSION}`")));
        }
        Some(_) | None => {}
    }
    if is_request && !meta.has_capabilities {
        return Err(invalid_params(&format!("`_meta` has no `{META_CAPABILITIES}`")));
    }
    if header != ProtocolVersion::NEW.as_str() {
        return Err(unsupported_version(&header));
    }
    Ok(())
}

/// Checks `Mcp-Method` and `Mcp-Name` of a message.
pub(crate) fn check_routing(
    headers: &HeaderMap,
    method: &str,
    params: Option<&RawJson>,
) -> Result<(), RequestRefusal> {
    match single_header(headers, "mcp-method")? {
        Some(header) if header == method => {}
        Some(_) => return Err(mismatch("`Mcp-Method` differs from the method in the body")),
        None => return Err(mismatch("`Mcp-Method` is required")),
    }
    let member = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return Ok(()),
    };
    let name = params.and_then(|params| params.member(member)).and_then(|name| name.decode::<String>().ok());
    let header = single_header(headers, "mcp-name")?.map(|header| decode_header(&header)).transpose()?;
    match (name, header) {
        (Some(name), Some(header)) if name == header => Ok(()),
        // The session reports the missing member.
        (None, None) => Ok(()),
        (Some(_), None) => Err(mismatch("`Mcp-Name` is required")),
        (Some(_) | None, Some(_)) => {
            Err(mismatch(&format!("`Mcp-Name` differs from `{member}` in the body")))
        }
    }
}

/// Checks the `Mcp-Param-*` headers of a call against the arguments that the tool marks.
pub(crate) fn check_params(
    headers: &HeaderMap,
    session: &GatewaySession,
    params: Option<&RawJson>,
) -> Result<(), RequestRefusal> {
    let name = params.and_then(|params| params.member("name")).and_then(|name| name.decode::<String>().ok());
    let Some(entry) = name.as_deref().and_then(|name| session.find_tool(name)) else { return Ok(()) };
    let marked: &[HeaderParam] = &entry.tool.header_params;
    if marked.is_empty() {
        return Ok(());
    }
    let arguments = params.and_then(|params| params.member("arguments"));
    let arguments = arguments.unwrap_or_else(|| RawJson::from_text("{}"));
    let expected = arguments.as_raw_value().map(|raw| param_headers(marked, raw)).unwrap_or_default();
    for param in marked {
        let header = param.header_name();
        let sent = single_header(headers, header)?.map(|text| decode_header(&text)).transpose()?;
        let wanted = expected.iter().find(|(name, _)| name == header).map(|(_, text)| text);
        match (wanted, sent) {
            (None, None) => {}
            (Some(wanted), Some(sent)) if param.is_same_value(wanted, &sent) => {}
            (Some(_), None) => return Err(mismatch(&format!("`{header}` is required"))),
            (_, Some(_)) => {
                return Err(mismatch(&format!("`{header}` differs from the argument in the body")));
            }
        }
    }
    Ok(())
}

/// The one value of a header, trimmed.
fn single_header(headers: &HeaderMap, name: &str) -> Result<Option<String>, RequestRefusal> {
    let mut values = headers.get_all(name.to_ascii_lowercase()).iter();
    let Some(value) = values.next() else { return Ok(None) };
    match (value.to_str(), values.next()) {
        (Ok(text), None) => Ok(Some(text.trim().to_owned())),
        (Ok(_) | Err(_), _) => Err(mismatch(&format!("`{name}` is not valid"))),
    }
}

/// Decodes a value that a header cannot carry as it is.
fn decode_header(text: &str) -> Result<String, RequestRefusal> {
    let Some(encoded) = text.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) else {
        return Ok(text.to_owned());
    };
    let bytes = STANDARD.decode(encoded).ok();
    let decoded = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    decoded.ok_or_else(|| mismatch("a header has invalid base64"))
}

fn mismatch(reason: &str) -> RequestRefusal {
    RequestRefusal::with_error(StatusCode::BAD_REQUEST, "headers", RpcError::new(HEADER_MISMATCH, reason))
}

fn invalid_params(reason: &str) -> RequestRefusal {
    RequestRefusal::with_error(StatusCode::BAD_REQUEST, "meta", RpcError::new(INVALID_PARAMS, reason))
}

/// The refusal of a protocol version, with the list of supported ones.
pub(crate) fn unsupported_version(version: &str) -> RequestRefusal {
    let version: String = version.chars().take(64).collect();
    let error = RpcError::new(UNSUPPORTED_VERSION, "this protocol version is not supported");
    let data = RawJson::from_value(&json!({ "requested": version, "supported": supported_versions() }));
    let error = match data {
        Ok(data) => error.with_data(data),
        Err(_) => error,
    };
    RequestRefusal::with_error(StatusCode::BAD_REQUEST, "version", error)
}
