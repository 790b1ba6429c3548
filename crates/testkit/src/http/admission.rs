//! Validates a POST before it is executed: headers against body, protocol revision and session, by the rules
//! of each era.

use super::TestSite;
use super::request::HttpRequest;
use crate::message::ClientMessage;
use crate::options::NEW;
use crate::server::RpcRefusal;
use mcparley_testkit::Name;
use serde_json::Value;

/// An accepted message.
#[derive(Debug)]
pub(crate) struct AcceptedPost {
    /// The session; none for a first `initialize` and in the new era.
    pub(crate) session: Option<String>,
    /// Whether there has been a handshake.
    pub(crate) greeted: bool,
    pub(crate) modern: bool,
}

/// A rejected message.
#[derive(Debug)]
pub(crate) struct RejectedPost {
    pub(crate) status: u16,
    pub(crate) refusal: RpcRefusal,
}

/// Validates one message.
pub(crate) fn validate_post(
    site: &TestSite,
    request: &HttpRequest,
    message: &ClientMessage,
) -> Result<AcceptedPost, RejectedPost> {
    let options = &site.server.options;
    let header = request.header("mcp-protocol-version");
    let only_new = options.old_era_versions().next().is_none();
    let modern =
        options.supports_new_era() && (header == Some(NEW) || message.version().is_some() || only_new);
    match modern {
        true => validate_new_era(site, request, message),
        false => validate_old_era(site, request, message),
    }
}

fn validate_new_era(
    site: &TestSite,
    request: &HttpRequest,
    message: &ClientMessage,
) -> Result<AcceptedPost, RejectedPost> {
    let mismatch = |text: String| RejectedPost { status: 400, refusal: RpcRefusal::header_mismatch(&text) };
    let versions = &site.server.options.versions;
    let header = request.header("mcp-protocol-version").unwrap_or_default();
    let method = message.method().unwrap_or_default();
    if method == "initialize" {
        let offered = message.text("protocolVersion").unwrap_or_default();
        return Err(RejectedPost {
            status: 400,
            refusal: RpcRefusal::unsupported_version(offered, versions),
        });
    }
    // A notification states its revision in the header only.
    if (message.id().is_some() || message.version().is_some()) && message.version() != Some(header) {
        let stated = message.version().unwrap_or_default();
        return Err(mismatch(format!("MCP-Protocol-Version is '{header}', the body says '{stated}'")));
    }
    if header != NEW {
        return Err(RejectedPost { status: 400, refusal: RpcRefusal::unsupported_version(header, versions) });
    }
    let told = request.header("mcp-method").unwrap_or_default();
    if told != method {
        return Err(mismatch(format!("Mcp-Method is '{told}', the body says '{method}'")));
    }
    let name = request.header("mcp-name").map(decode_header_value);
    match message.target() {
        Some(target) if name.as_ref().and_then(Option::as_deref) != Some(target) => {
            Err(mismatch(format!("Mcp-Name does not match '{target}'")))
        }
        Some("locate") if site.server.options.scripts.has(Name::ParamHeaders) => {
            validate_param_headers(request, message).map_err(mismatch)
        }
        Some(_) | None => Ok(AcceptedPost { session: None, greeted: false, modern: true }),
    }
}

/// Checks that the arguments of `locate` are the same in the headers and in the body.
fn validate_param_headers(request: &HttpRequest, message: &ClientMessage) -> Result<AcceptedPost, String> {
    for (header, path) in [("mcp-param-region", "/region"), ("mcp-param-level", "/deep/level")] {
        let argument = message.param("arguments").and_then(|arguments| arguments.pointer(path));
        let expected = argument.filter(|value| !value.is_null()).map(|value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        if request.header(header).map(|value| decode_header_value(value).unwrap_or_default()) != expected {
            return Err(format!("{header} does not match the body"));
        }
    }
    Ok(AcceptedPost { session: None, greeted: false, modern: true })
}

fn validate_old_era(
    site: &TestSite,
    request: &HttpRequest,
    message: &ClientMessage,
) -> Result<AcceptedPost, RejectedPost> {
    let options = &site.server.options;
    let refused =
        |status, code, text: &str| Err(RejectedPost { status, refusal: RpcRefusal::new(code, text) });
    let header = request.header("mcp-protocol-version");
    if let Some(version) =
        header.filter(|header| !options.old_era_versions().any(|version| version == *header))
    {
        return refused(400, -32000, &format!("Bad Request: unsupported protocol version {version}"));
    }
    if message.method() == Some("initialize") {
        return Ok(AcceptedPost { session: None, greeted: false, modern: false });
    }
    if options.scripts.has(Name::NotFound) {
        return Ok(AcceptedPost { session: None, greeted: true, modern: false });
    }
    let Some(id) = request.header("mcp-session-id") else {
        return refused(400, -32000, "Bad Request: Mcp-Session-Id is missing");
    };
    match site.sessions.version(id) {
        None => Err(unknown_session(site, id)),
        Some(agreed) if header.is_some_and(|header| header != agreed) => {
            refused(400, -32000, &format!("Bad Request: this session speaks {agreed}"))
        }
        Some(_) => Ok(AcceptedPost { session: Some(id.to_owned()), greeted: true, modern: false }),
    }
}

/// The rejection of a request whose session no longer exists.
pub(crate) fn unknown_session(site: &TestSite, id: &str) -> RejectedPost {
    match site.server.options.scripts.has(Name::Expire400) {
        true => {
            let text = format!("Bad Request: no valid session ID provided: {id}");
            RejectedPost { status: 400, refusal: RpcRefusal::new(-32000, text) }
        }
        false => RejectedPost { status: 404, refusal: RpcRefusal::new(-32001, "Session not found") },
    }
}

/// Decodes a header value that is base64-encoded because it is not plain ASCII.
fn decode_header_value(value: &str) -> Option<String> {
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(encoded) => String::from_utf8(from_base64(encoded)?).ok(),
        None => Some(value.to_owned()),
    }
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0_u32);
    for letter in text.trim_end_matches('=').bytes() {
        let value = LETTERS.iter().position(|known| *known == letter)?;
        bits = (bits << 6) | u32::try_from(value).ok()?;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from((bits >> held) & 0xff).ok()?);
        }
    }
    Some(bytes)
}
