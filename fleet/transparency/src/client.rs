//! A client of both protocol eras that records the messages of each request. It shares no code with mcparley.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::ServerEndpoint;
use crate::sample::{self, sample_arguments};
use crate::tree::TokenTree;
use crate::wire::{HttpWire, StdioWire, Wire};

/// The newest revision of the old era.
pub(crate) const OLD_REVISION: &str = "2025-11-25";
/// The revision of the new era.
pub(crate) const NEW_REVISION: &str = "2026-07-28";

/// The limit of rounds in which a server may ask for input.
const ROUNDS: usize = 10;

/// A protocol era.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolEra {
    /// Sessions with a handshake: 2024-11-05 to 2025-11-25.
    Old,
    /// Stateless requests: 2026-07-28.
    New,
}

/// A message of a server, without its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RecordedMessage {
    Notification(TokenTree),
    Question(TokenTree),
    Result(TokenTree),
    Error(TokenTree),
}

/// A client that is connected to a server.
pub(crate) struct RecordingClient {
    wire: Box<dyn Wire>,
    pub(crate) era: ProtocolEra,
    last_id: u64,
}

impl RecordingClient {
    /// Connects, and returns the result of the handshake.
    pub(crate) fn connect(endpoint: &ServerEndpoint, era: ProtocolEra) -> io::Result<(Self, TokenTree)> {
        let wire: Box<dyn Wire> = match endpoint {
            ServerEndpoint::Program(program) => Box::new(StdioWire::start(program.to_command())?),
            ServerEndpoint::Url(url) => Box::new(HttpWire::new(url)?),
        };
        let mut client = Self { wire, era, last_id: 0 };
        let greeting = match era {
            ProtocolEra::New => client.request("server/discover", json!({}))?,
            ProtocolEra::Old => client.request("initialize", sample::initialize_params())?,
        };
        let Some(RecordedMessage::Result(result)) = greeting.last() else {
            return Err(io::Error::other(format!("the handshake failed: {greeting:?}")));
        };
        if era == ProtocolEra::Old {
            let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            client.wire.send(&initialized, &[])?;
            let version = result.get("protocolVersion").and_then(TokenTree::as_text);
            client.wire.open_shared_stream(version.as_deref().unwrap_or(OLD_REVISION))?;
        }
        Ok((client, result.clone()))
    }

    /// Sends a request, answers the questions of the server, and returns all messages up to the answer.
    ///
    /// Changes of lists are left out, because they belong to no request; so are requests for roots, which a
    /// gateway asks for once.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> io::Result<Vec<RecordedMessage>> {
        let mut messages = Vec::new();
        let mut params = params;
        for _ in 0..ROUNDS {
            let answer = self.exchange(method, &params, &mut messages)?;
            let Some(input) = self.requested_input(&answer) else {
                messages.push(answer);
                return Ok(messages);
            };
            if let Some(members) = params.as_object_mut() {
                members.remove("requestState");
                members.extend(input);
            }
            messages.push(answer);
        }
        Ok(messages)
    }

    /// The members that answer a result which asks for input; `None` for every other answer.
    fn requested_input(&self, answer: &RecordedMessage) -> Option<Map<String, Value>> {
        let RecordedMessage::Result(result) = answer else { return None };
        let result = result.to_value();
        if self.era == ProtocolEra::Old || result["resultType"] != "input_required" {
            return None;
        }
        let requests = result["inputRequests"].as_object().cloned().unwrap_or_default();
        let respond = |(key, request): (String, Value)| (key, sample::answer_question(&request));
        let responses: Map<String, Value> = requests.into_iter().map(respond).collect();
        let mut input = Map::from_iter([("inputResponses".to_owned(), responses.into())]);
        if let Some(state) = result.get("requestState") {
            input.insert("requestState".to_owned(), state.clone());
        }
        Some(input)
    }

    /// Sends one request and waits for its answer.
    fn exchange(
        &mut self,
        method: &str,
        params: &Value,
        messages: &mut Vec<RecordedMessage>,
    ) -> io::Result<RecordedMessage> {
        self.last_id += 1;
        let id = json!(self.last_id);
        let mut params = params.clone();
        if self.era == ProtocolEra::New {
            params["_meta"] = sample::request_meta();
        }
        if method == "tools/call" {
            params["_meta"]["progressToken"] = json!(format!("progress-{}", params["name"]));
        }
        let headers = if self.era == ProtocolEra::New { mirror_headers(method, &params) } else { Vec::new() };
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.wire.send(&request, &headers)?;
        loop {
            let text = self.wire.receive()?;
            let mut message = TokenTree::parse(&text)
                .ok_or_else(|| io::Error::other(format!("the answer to `{method}` is no message: {text}")))?;
            let its_id = message.get("id").map(TokenTree::to_value);
            let its_method = message.get("method").and_then(TokenTree::as_text);
            message.remove(&["jsonrpc", "id"]);
            match (its_method.as_deref(), its_id) {
                (Some(asked), Some(id)) => {
                    let answer = sample::answer_question(&message.to_value());
                    if asked != "roots/list" && asked != "ping" {
                        messages.push(RecordedMessage::Question(message));
                    }
                    self.wire.send(&json!({ "jsonrpc": "2.0", "id": id, "result": answer }), &[])?;
                }
                (Some("notifications/progress" | "notifications/message"), None) => {
                    messages.push(RecordedMessage::Notification(message));
                }
                (Some(_), None) => {}
                (None, its_id) if its_id.as_ref() == Some(&id) || its_id == Some(Value::Null) => {
                    return Ok(to_answer(&message));
                }
                (None, _) => {}
            }
        }
    }

    /// Calls a tool with sample arguments.
    pub(crate) fn call_tool(
        &mut self,
        tool: &Value,
        given: Option<&Value>,
    ) -> io::Result<Vec<RecordedMessage>> {
        let arguments = given.cloned().unwrap_or_else(|| sample_arguments(&tool["inputSchema"]));
        self.request("tools/call", json!({ "name": tool["name"], "arguments": arguments }))
    }
}

fn to_answer(message: &TokenTree) -> RecordedMessage {
    match (message.get("result"), message.get("error")) {
        (Some(result), None) => RecordedMessage::Result(result.clone()),
        (_, Some(error)) => RecordedMessage::Error(error.clone()),
        (None, None) => RecordedMessage::Error(message.clone()),
    }
}

/// The headers of the new era that repeat parts of a request.
fn mirror_headers(method: &str, params: &Value) -> Vec<(String, String)> {
    let name = match method {
        "tools/call" | "prompts/get" => &params["name"],
        "resources/read" => &params["uri"],
        _ => &Value::Null,
    };
    let mut headers = vec![
        ("MCP-Protocol-Version".to_owned(), NEW_REVISION.to_owned()),
        ("Mcp-Method".to_owned(), method.to_owned()),
    ];
    headers.extend(name.as_str().map(|name| ("Mcp-Name".to_owned(), encode_header(name))));
    // The only mirrored parameter of the servers that are compared.
    let region = params["arguments"]["region"].as_str().filter(|_| params["name"] == "test_x_mcp_header");
    headers.extend(region.map(|region| ("Mcp-Param-Region".to_owned(), encode_header(region))));
    headers
}

fn encode_header(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| (0x20..0x7f).contains(&byte)) && value.trim() == value;
    if is_plain { value.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(value)) }
}
