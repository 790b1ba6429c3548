//! Whether a POST may be worked on: headers against body, revision and session, as the eras demand.

use super::Site;
use super::request::HttpRequest;
use crate::message::Message;
use crate::options::NEW;
use crate::server::Refusal;
use mcparley_testkit::Name;
use serde_json::Value;

/// A message that may be worked on.
#[derive(Debug)]
pub(crate) struct Admitted {
    /// The session; none for a first `initialize` and in the new era.
    pub(crate) session: Option<String>,
    /// Whether there has been a handshake.
    pub(crate) greeted: bool,
    pub(crate) modern: bool,
}

/// A message that may not.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) status: u16,
    pub(crate) refusal: Refusal,
}

/// Judges one message.
pub(crate) fn judge(site: &Site, request: &HttpRequest, message: &Message) -> Result<Admitted, Refused> {
    let options = &site.server.options;
    let header = request.header("mcp-protocol-version");
    let only_new = options.old().next().is_none();
    let modern = options.speaks_new() && (header == Some(NEW) || message.version().is_some() || only_new);
    match modern {
        true => judge_modern(site, request, message),
        false => judge_old(site, request, message),
    }
}

fn judge_modern(site: &Site, request: &HttpRequest, message: &Message) -> Result<Admitted, Refused> {
    let mismatch = |text: String| Refused { status: 400, refusal: Refusal::header(&text) };
    let versions = &site.server.options.versions;
    let header = request.header("mcp-protocol-version").unwrap_or_default();
    let method = message.method().unwrap_or_default();
    if method == "initialize" {
        let offered = message.text("protocolVersion").unwrap_or_default();
        return Err(Refused { status: 400, refusal: Refusal::version(offered, versions) });
    }
    // A notification states its revision in the header only.
    if (message.id().is_some() || message.version().is_some()) && message.version() != Some(header) {
        let stated = message.version().unwrap_or_default();
        return Err(mismatch(format!("MCP-Protocol-Version is '{header}', the body says '{stated}'")));
    }
    if header != NEW {
        return Err(Refused { status: 400, refusal: Refusal::version(header, versions) });
    }
    let told = request.header("mcp-method").unwrap_or_default();
    if told != method {
        return Err(mismatch(format!("Mcp-Method is '{told}', the body says '{method}'")));
    }
    let name = request.header("mcp-name").map(decoded);
    match message.target() {
        Some(target) if name.as_ref().and_then(Option::as_deref) != Some(target) => {
            Err(mismatch(format!("Mcp-Name does not match '{target}'")))
        }
        Some("locate") if site.server.options.scripts.has(Name::ParamHeaders) => {
            judge_params(request, message).map_err(mismatch)
        }
        Some(_) | None => Ok(Admitted { session: None, greeted: false, modern: true }),
    }
}

/// The arguments of `locate` stand in headers exactly as they stand in the body.
fn judge_params(request: &HttpRequest, message: &Message) -> Result<Admitted, String> {
    for (header, path) in [("mcp-param-region", "/region"), ("mcp-param-level", "/deep/level")] {
        let argument = message.param("arguments").and_then(|arguments| arguments.pointer(path));
        let expected = argument.filter(|value| !value.is_null()).map(|value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        if request.header(header).map(|value| decoded(value).unwrap_or_default()) != expected {
            return Err(format!("{header} does not match the body"));
        }
    }
    Ok(Admitted { session: None, greeted: false, modern: true })
}

fn judge_old(site: &Site, request: &HttpRequest, message: &Message) -> Result<Admitted, Refused> {
    let options = &site.server.options;
    let refused = |status, code, text: &str| Err(Refused { status, refusal: Refusal::new(code, text) });
    let header = request.header("mcp-protocol-version");
    if let Some(version) = header.filter(|header| !options.old().any(|version| version == *header)) {
        return refused(400, -32000, &format!("Bad Request: unsupported protocol version {version}"));
    }
    if message.method() == Some("initialize") {
        return Ok(Admitted { session: None, greeted: false, modern: false });
    }
    if options.scripts.has(Name::NotFound) {
        return Ok(Admitted { session: None, greeted: true, modern: false });
    }
    let Some(id) = request.header("mcp-session-id") else {
        return refused(400, -32000, "Bad Request: Mcp-Session-Id is missing");
    };
    match site.sessions.version(id) {
        None => Err(unknown_session(site, id)),
        Some(agreed) if header.is_some_and(|header| header != agreed) => {
            refused(400, -32000, &format!("Bad Request: this session speaks {agreed}"))
        }
        Some(_) => Ok(Admitted { session: Some(id.to_owned()), greeted: true, modern: false }),
    }
}

/// How a session that is no more is refused.
pub(crate) fn unknown_session(site: &Site, id: &str) -> Refused {
    match site.server.options.scripts.has(Name::Expire400) {
        true => {
            let text = format!("Bad Request: no valid session ID provided: {id}");
            Refused { status: 400, refusal: Refusal::new(-32000, text) }
        }
        false => Refused { status: 404, refusal: Refusal::new(-32001, "Session not found") },
    }
}

/// Undoes the form that header values have which are no plain ASCII.
fn decoded(value: &str) -> Option<String> {
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
