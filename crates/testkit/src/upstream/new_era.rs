//! The stateless revision over HTTP: checks of headers and `_meta`, answers, subscriptions.

use super::rpc::{RpcFailure, RpcOutcome, answer_message, meta_key, notification};
use super::scope::{ClientChannel, Era, RequestScope};
use super::surface::UpstreamSurface;
use super::{Eras, UpstreamSite};
use crate::http::ConnectionNext;
use crate::http::request::HttpRequest;
use crate::http::wire::{HttpWire, events};
use crate::lock::lock;
use crate::options::{NEW, OLD};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::io;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// The interval at which a subscription checks whether its client is still connected.
const LOOK: Duration = Duration::from_millis(20);
/// The results that a client may cache.
const CACHED: [&str; 8] = [
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "skills/list",
    "skills/get",
];

/// A subscription of the new era.
#[derive(Debug)]
pub(crate) struct Subscription {
    id: Value,
    filter: Value,
    messages: Sender<Value>,
}

impl Subscription {
    /// Sends a change of a list, if the filter wants it; false when the client is gone.
    pub(crate) fn publish(&self, list: &str) -> bool {
        if self.filter[format!("{list}ListChanged")] != true {
            return true;
        }
        let params = json!({ "_meta": { meta_key("subscriptionId"): self.id } });
        self.messages.send(notification(&format!("notifications/{list}/list_changed"), &params)).is_ok()
    }
}

/// Answers one message of the new era.
pub(crate) fn answer_post(
    site: &UpstreamSite,
    request: &HttpRequest,
    message: &Value,
    wire: &HttpWire,
) -> io::Result<ConnectionNext> {
    let (id, method) = (&message["id"], message["method"].as_str().unwrap_or_default());
    let params = &message["params"];
    if let Err(failure) = check_request(site.eras, request, method, params) {
        return wire.write_json(failure.status, &[], &failure.to_answer(id));
    }
    if id.is_null() {
        return wire.write_empty(202);
    }
    if method == "subscriptions/listen" {
        return serve_subscription(site, id, &params["notifications"], wire);
    }
    let stream = AnswerStream { wire, started: Mutex::new(false) };
    let capabilities = &params["_meta"][meta_key("clientCapabilities")];
    let scope = RequestScope { era: Era::New, params, capabilities, channel: &stream };
    let outcome = match method {
        "server/discover" => Ok(json!({
            "supportedVersions": [NEW],
            "capabilities": UpstreamSurface::capabilities(Era::New),
            "instructions": super::INSTRUCTIONS,
        })),
        _ => site.surface.answer(method, &scope),
    };
    site.publish_change(method, params);
    let outcome = outcome.map(|result| complete_result(method, result));
    let status = outcome.as_ref().map_or_else(|failure| failure.status, |_| 200);
    let answer = answer_message(id, &outcome);
    match *lock(&stream.started) {
        true => {
            wire.write_chunk(&events(answer.to_string().as_bytes()))?;
            wire.end_stream()
        }
        false => wire.write_json(status, &[], &answer),
    }
}

/// Adds the members that each result of the new era has.
pub(crate) fn complete_result(method: &str, mut result: Value) -> Value {
    if result["resultType"].is_null() {
        result["resultType"] = json!("complete");
    }
    if CACHED.contains(&method) {
        result["ttlMs"] = json!(0);
        result["cacheScope"] = json!("private");
    }
    result["_meta"] = json!({ meta_key("serverInfo"): super::server_info() });
    result
}

fn check_request(eras: Eras, request: &HttpRequest, method: &str, params: &Value) -> Result<(), RpcFailure> {
    let meta = &params["_meta"];
    let header = request.header("mcp-protocol-version");
    let version = &meta[meta_key("protocolVersion")];
    let Some(header) = header else {
        return Err(RpcFailure::new(-32020, "`MCP-Protocol-Version` is missing"));
    };
    if version.is_null() || meta[meta_key("clientCapabilities")].is_null() {
        return Err(RpcFailure::new(-32602, "`_meta` is not complete").with_status(400));
    }
    if version != header {
        return Err(RpcFailure::new(-32020, "`MCP-Protocol-Version` differs from `_meta`"));
    }
    if header != NEW || eras == Eras::Old {
        let supported = if eras == Eras::Old { OLD.to_vec() } else { vec![NEW] };
        let data = json!({ "supported": supported, "requested": version });
        return Err(RpcFailure::new(-32022, "unsupported protocol version").with_data(data));
    }
    check_routing_headers(request, method, params)
}

/// Compares the headers that mirror parts of the body.
fn check_routing_headers(request: &HttpRequest, method: &str, params: &Value) -> Result<(), RpcFailure> {
    let differs = |name: &str| Err(RpcFailure::new(-32020, format!("`{name}` differs from the body")));
    if request.header("mcp-method") != Some(method) {
        return differs("Mcp-Method");
    }
    let name = match method {
        "tools/call" | "prompts/get" => &params["name"],
        "resources/read" => &params["uri"],
        "tasks/get" | "tasks/update" | "tasks/cancel" => &params["taskId"],
        _ => &Value::Null,
    };
    let is_mirrored = |header: &str, value: &Value| {
        let text = request.header(header).map(decode_header);
        match value {
            Value::Null => text.is_none(),
            Value::String(value) => text.flatten().as_ref() == Some(value),
            other => text.flatten() == Some(other.to_string()),
        }
    };
    if !name.is_null() && !is_mirrored("mcp-name", name) {
        return differs("Mcp-Name");
    }
    let is_header_tool = method == "tools/call" && params["name"] == "test_x_mcp_header";
    if is_header_tool && !is_mirrored("mcp-param-region", &params["arguments"]["region"]) {
        return differs("Mcp-Param-Region");
    }
    Ok(())
}

/// The text of a header value, which may be in Base64; none if that is broken.
fn decode_header(value: &str) -> Option<String> {
    let coded = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    match coded {
        None => Some(value.to_owned()),
        Some(coded) => STANDARD.decode(coded).ok().and_then(|bytes| String::from_utf8(bytes).ok()),
    }
}

fn serve_subscription(
    site: &UpstreamSite,
    id: &Value,
    filter: &Value,
    wire: &HttpWire,
) -> io::Result<ConnectionNext> {
    let (messages, waiting) = channel();
    wire.begin_stream(&[])?;
    let params = json!({ "notifications": filter, "_meta": { meta_key("subscriptionId"): id } });
    let acknowledged = notification("notifications/subscriptions/acknowledged", &params);
    wire.write_chunk(&events(acknowledged.to_string().as_bytes()))?;
    lock(&site.subscriptions).push(Subscription { id: id.clone(), filter: filter.clone(), messages });
    loop {
        match waiting.recv_timeout(LOOK) {
            Ok(message) => wire.write_chunk(&events(message.to_string().as_bytes()))?,
            Err(RecvTimeoutError::Disconnected) => return wire.end_stream(),
            Err(RecvTimeoutError::Timeout) if wire.is_closed_within(Duration::ZERO) => {
                return Ok(ConnectionNext::Close);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// The response to a POST, which becomes an event stream with its first notification.
struct AnswerStream<'a> {
    wire: &'a HttpWire,
    started: Mutex<bool>,
}

impl ClientChannel for AnswerStream<'_> {
    fn notify(&self, message: &Value) {
        let mut started = lock(&self.started);
        let begun = if *started { Ok(()) } else { self.wire.begin_stream(&[]) };
        *started = true;
        // A client that is gone misses its notifications.
        begun
            .and_then(|()| self.wire.write_chunk(&events(message.to_string().as_bytes())))
            .unwrap_or_default();
    }

    fn ask(&self, _request: &Value) -> RpcOutcome {
        Err(RpcFailure::new(-32603, "servers of the new era send no requests"))
    }

    fn hang_up(&self) {}
}
