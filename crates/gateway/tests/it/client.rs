//! A client that speaks raw bytes: it can send any message, and accepts only valid ones.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use mcparley_gateway::Gateway;
use mcparley_testkit::{MessageRecord, server_message_violation};
use serde_json::{Value, json};

use crate::link::ClientLink;

/// A timeout longer than any step takes on a loaded machine.
pub(crate) const LONG: Duration = Duration::from_secs(30);

pub(crate) const NEW: &str = "2026-07-28";

pub(crate) const OLD: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// One end of a conversation with the gateway.
pub(crate) struct Client {
    link: ClientLink,
    pub(crate) version: String,
    capabilities: Value,
    next: u64,
    /// Which method a request was of.
    asked: HashMap<String, String>,
    /// Messages that came while another one was awaited.
    pub(crate) heard: VecDeque<Value>,
    /// Counts the messages for the check after a test run.
    record: MessageRecord,
}

impl Client {
    /// A client that has said nothing yet, on two byte streams.
    pub(crate) fn silent(gateway: &Gateway, version: &str) -> Self {
        Self::over(ClientLink::over_streams(gateway), version)
    }

    /// A client that has said nothing yet, on any link.
    pub(crate) fn over(link: ClientLink, version: &str) -> Self {
        Self {
            link,
            version: version.to_owned(),
            capabilities: json!({}),
            next: 1,
            asked: HashMap::new(),
            heard: VecDeque::new(),
            record: MessageRecord::open(),
        }
    }

    /// A client of this revision, which has greeted if its era does so.
    pub(crate) async fn greeting(gateway: &Gateway, version: &str, capabilities: Value) -> Self {
        let mut client = Self::silent(gateway, version);
        client.greet(capabilities).await;
        client
    }

    /// Greets, as the era of the client does it, and returns the capabilities of the gateway.
    pub(crate) async fn greet(&mut self, capabilities: Value) -> Value {
        self.capabilities = capabilities;
        if self.version == NEW {
            return json!(null);
        }
        let params = json!({
            "protocolVersion": self.version, "capabilities": self.capabilities.clone(),
            "clientInfo": { "name": "raw", "version": "1" },
        });
        let answer = self.ask("initialize", params).await;
        assert_eq!(answer["result"]["protocolVersion"], self.version, "{answer}");
        self.tell("notifications/initialized", None).await;
        answer["result"]["capabilities"].clone()
    }

    pub(crate) async fn new(gateway: &Gateway, version: &str) -> Self {
        Self::greeting(gateway, version, json!({})).await
    }

    /// Sends a line as it is.
    pub(crate) async fn say(&mut self, line: impl AsRef<[u8]>) {
        self.link.send(line.as_ref()).await;
    }

    pub(crate) async fn tell(&mut self, method: &str, params: Option<Value>) {
        let mut message = json!({ "jsonrpc": "2.0", "method": method });
        if let Some(params) = params {
            message["params"] = params;
        }
        self.say(message.to_string()).await;
    }

    /// Makes a request and gives its id.
    pub(crate) async fn begin(&mut self, method: &str, params: Value) -> Value {
        let id = json!(self.next);
        self.next += 1;
        self.begin_as(&id, method, params).await;
        id
    }

    pub(crate) async fn begin_as(&mut self, id: &Value, method: &str, mut params: Value) {
        if self.version == NEW {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(NEW);
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        self.asked.insert(id.to_string(), method.to_owned());
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.say(message.to_string()).await;
    }

    /// The answer to a request; earlier messages are kept.
    pub(crate) async fn answer(&mut self, id: &Value) -> Value {
        loop {
            let message = self.next().await;
            if message.get("method").is_none() && message.get("id") == Some(id) {
                return message;
            }
            self.heard.push_back(message);
        }
    }

    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.answer(&id).await
    }

    /// Calls a tool and gives its result.
    pub(crate) async fn call(&mut self, name: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({ "name": name, "arguments": arguments })).await;
        assert!(answer.get("result").is_some(), "{answer}");
        answer["result"].clone()
    }

    /// The names of the tools.
    pub(crate) async fn tools(&mut self) -> Vec<String> {
        let answer = self.ask("tools/list", json!({})).await;
        let tools = answer["result"]["tools"].as_array().cloned().unwrap_or_default();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// The next message, which is of a form that the revision has.
    pub(crate) async fn next(&mut self) -> Value {
        self.next_or_end().await.expect("a message before the end")
    }

    /// The next message that is a request or notification with this method.
    pub(crate) async fn next_of(&mut self, method: &str) -> Value {
        let is_it = |message: &Value| message["method"] == method;
        if let Some(place) = self.heard.iter().position(is_it) {
            return self.heard.remove(place).unwrap();
        }
        loop {
            let message = self.next().await;
            if is_it(&message) {
                return message;
            }
            self.heard.push_back(message);
        }
    }

    /// Answers a request of the gateway.
    pub(crate) async fn reply(&mut self, id: &Value, result: Value) {
        self.say(json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()).await;
    }

    /// Says that nothing more comes.
    pub(crate) fn end_input(&mut self) {
        self.link.end_input();
    }

    /// The next message, or nothing at the end.
    pub(crate) async fn next_or_end(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(LONG, self.link.next_message()).await.expect("a message in time")?;
        let message: Value = serde_json::from_str(&line).unwrap();
        self.check(&message);
        Some(message)
    }

    /// Takes a request back: by a notification, or by closing its stream in the new era of HTTP.
    pub(crate) async fn cancel(&mut self, id: &Value) {
        if !self.link.close_stream(id) {
            self.tell("notifications/cancelled", Some(json!({ "requestId": id }))).await;
        }
    }

    /// Hangs up, and waits until the gateway has understood.
    pub(crate) async fn hang_up(self) {
        tokio::time::timeout(LONG, self.link.hang_up()).await.expect("the gateway lets go");
    }

    /// Fails unless a message of the gateway is of a form that the revision has.
    fn check(&self, message: &Value) {
        // The schemas have no extensions.
        if message["method"].as_str().is_some_and(|method| method.starts_with("notifications/vendor/")) {
            return;
        }
        let method = message.get("id").and_then(|id| self.asked.get(&id.to_string())).map(String::as_str);
        let violation = server_message_violation(&self.version, method, message);
        assert_eq!(violation, None);
        self.record.add_to_client(&self.version);
    }
}
