//! One client of the misrouting test: its calls, one after the other, with ids from 0.

use std::io;
use std::time::Duration;

use mcparley_gateway::Gateway;
use serde_json::{Value, json};

use super::check::{CurrentCall, MessageCheck, write_nonce};
use super::http_link::{DoorPlace, HttpAnswer, HttpLink};
use super::line_link::LineLink;
use super::report::MessageCounts;
use super::servers::NAMES;
use crate::soak::chance::SeededRandom;

const NEW: &str = "2026-07-28";
const OLD: &str = "2025-11-25";
/// A call without an answer after this time is lost.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time that a canceled call would work.
const WORK_MS: u64 = 50;
/// The pause before a call is canceled, so that it can reach its server.
const CANCEL_PAUSE: Duration = Duration::from_millis(2);

/// The course of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallKind {
    Echo,
    Ask,
    Cancel,
    Drop,
}

/// One client.
pub(crate) struct LoadClient {
    is_new: bool,
    door: ClientDoor,
    check: MessageCheck,
    chance: SeededRandom,
    /// The id of the next request of the session.
    next: u64,
    /// The name of the tool that is called now.
    tool: String,
    /// The ids of canceled requests of the session.
    canceled: Vec<u64>,
}

enum ClientDoor {
    Line(Gateway, Option<LineLink>),
    Http { main: HttpLink, side: HttpLink, session: Option<String> },
}

/// The end of one call.
enum CallEnd {
    Answered,
    Canceled,
    Dropped,
}

impl LoadClient {
    pub(crate) fn new(number: u64, gateway: &Gateway, places: &[DoorPlace; 2], is_under_kills: bool) -> Self {
        let [tcp, unix] = places;
        let http = |place: &DoorPlace| ClientDoor::Http {
            main: HttpLink::new(place.clone()),
            side: HttpLink::new(place.clone()),
            session: None,
        };
        let door = match number / 2 % 3 {
            0 => ClientDoor::Line(gateway.clone(), None),
            1 => http(tcp),
            _ => http(unix),
        };
        Self {
            is_new: number % 2 == 1,
            door,
            check: MessageCheck { client: number, is_under_kills, ..MessageCheck::default() },
            chance: SeededRandom::new(number),
            next: 0,
            tool: String::new(),
            canceled: Vec::new(),
        }
    }

    /// Calls every tool of every server to its end once, as a client that has nothing to cancel.
    pub(crate) async fn warm_up(&mut self) -> io::Result<()> {
        for (number, server) in NAMES.iter().enumerate() {
            let nonce = write_nonce(self.check.client, number as u64, 0);
            let text = format!("{server} work {nonce}");
            self.call_on_line(CallKind::Echo, &format!("{server}__work"), (nonce, text)).await?;
        }
        self.hang_up().await;
        match self.check.counts.answered == NAMES.len() as u64 {
            true => Ok(()),
            false => Err(io::Error::other(format!("the servers do not answer: {:?}", self.check.counts))),
        }
    }

    /// Makes calls, and returns what came of them.
    pub(crate) async fn run_calls(&mut self, calls: u64) -> MessageCounts {
        for call in 0..calls {
            self.check.counts.calls += 1;
            let end = tokio::time::timeout(PATIENCE, self.run_call(call)).await;
            match end {
                Ok(Ok(CallEnd::Answered)) => {}
                Ok(Ok(CallEnd::Canceled)) => self.check.counts.canceled += 1,
                Ok(Ok(CallEnd::Dropped)) => self.check.counts.dropped += 1,
                Ok(Err(error)) => {
                    self.check.counts.note_lost(&format!("{} {error}", self.describe()));
                    self.hang_up().await;
                }
                Err(_) => {
                    self.check.counts.note_lost(&format!("{} no answer in time", self.describe()));
                    self.hang_up().await;
                }
            }
        }
        self.hang_up().await;
        std::mem::take(&mut self.check.counts)
    }

    fn describe(&self) -> String {
        let door = match &self.door {
            ClientDoor::Line(..) => "pipes",
            ClientDoor::Http { .. } => "http",
        };
        format!("client {} on {door}, new: {}, {}:", self.check.client, self.is_new, self.tool)
    }

    async fn run_call(&mut self, number: u64) -> io::Result<CallEnd> {
        let kind = match self.chance.number_below(100) {
            0..80 => CallKind::Echo,
            80..90 => CallKind::Ask,
            90..95 => CallKind::Cancel,
            _ => CallKind::Drop,
        };
        let server = NAMES[self.chance.random_index(NAMES.len())];
        let nonce = write_nonce(self.check.client, number, self.chance.number_below(u64::MAX));
        let (tool, suffix) = match kind {
            CallKind::Echo => ("echo", String::new()),
            CallKind::Ask => ("ask", format!(" {nonce}")),
            CallKind::Cancel | CallKind::Drop => ("work", String::new()),
        };
        let text = format!("{server} {tool} {nonce}{suffix}");
        let name = format!("{server}__{tool}");
        self.tool.clone_from(&name);
        match &self.door {
            ClientDoor::Line(..) => self.call_on_line(kind, &name, (nonce, text)).await,
            ClientDoor::Http { .. } => self.call_over_http(kind, &name, (nonce, text)).await,
        }
    }

    /// The request of a call, with the next id.
    fn start_call(&mut self, name: &str, (nonce, text): (String, String)) -> (CurrentCall, Value) {
        let id = self.next_id();
        let arguments = json!({ "nonce": nonce, "ms": WORK_MS });
        let request = self.request(id, "tools/call", json!({ "name": name, "arguments": arguments }));
        (CurrentCall { id, nonce, text }, request)
    }

    fn next_id(&mut self) -> u64 {
        let id = self.next;
        self.next += 1;
        id
    }

    /// A request of the client's era. All clients use the same progress tokens.
    fn request(&self, id: u64, method: &str, mut params: Value) -> Value {
        if method == "tools/call" {
            params["_meta"]["progressToken"] = json!(id);
        }
        if self.is_new {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(NEW);
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities();
            params["_meta"]["io.modelcontextprotocol/logLevel"] = json!("debug");
        }
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
    }

    fn greeting(&mut self) -> Value {
        let params = json!({
            "protocolVersion": OLD, "capabilities": capabilities(),
            "clientInfo": { "name": "load", "version": "1" },
        });
        self.request(self.next, "initialize", params)
    }

    /// The request with the answer to the question in a result, with a new id; `None` if there is no question.
    fn repeat_request(&mut self, response: &Value, call: &mut CurrentCall, request: &Value) -> Option<Value> {
        let result = response.get("result")?;
        if result.get("resultType")? != "input_required" {
            return None;
        }
        self.check.counts.questions += 1;
        let asked = result.get("inputRequests").and_then(Value::as_object)?;
        for question in asked.values() {
            self.check.check_nonce(&question.to_string(), Some(call));
        }
        let answers: Value = asked.keys().map(|key| (key.clone(), answer(&call.nonce))).collect();
        let mut again = request.clone();
        call.id = self.next_id();
        again["id"] = json!(call.id);
        again["params"]["_meta"]["progressToken"] = json!(call.id);
        again["params"]["inputResponses"] = answers;
        again["params"]["requestState"] = result.get("requestState").cloned().unwrap_or_default();
        Some(again)
    }

    async fn call_on_line(
        &mut self,
        kind: CallKind,
        name: &str,
        nonce: (String, String),
    ) -> io::Result<CallEnd> {
        let mut link = self.take_line().await?;
        let (mut call, mut request) = self.start_call(name, nonce);
        link.send_line(&request).await?;
        match kind {
            CallKind::Echo | CallKind::Ask => {}
            CallKind::Drop => {
                tokio::time::sleep(CANCEL_PAUSE).await;
                link.close_line().await;
                self.forget_session();
                return Ok(CallEnd::Dropped);
            }
            CallKind::Cancel => {
                tokio::time::sleep(CANCEL_PAUSE).await;
                link.send_line(&cancellation(call.id)).await?;
                self.check.remember_canceled(&call);
                self.canceled.push(call.id);
                self.keep_line(link);
                return Ok(CallEnd::Canceled);
            }
        }
        loop {
            let message = link.receive_line().await?;
            if message.get("method").is_some() {
                let is_own = self.check.check_message(&message, Some(&call));
                if let Some(id) = message.get("id") {
                    let answer = answer_if_own(&call.nonce, is_own);
                    link.send_line(&json!({ "jsonrpc": "2.0", "id": id, "result": answer })).await?;
                }
                continue;
            }
            let id = message.get("id").and_then(Value::as_u64);
            if id.is_some_and(|id| self.canceled.contains(&id)) {
                self.check.counts.late += 1;
                continue;
            }
            match self.repeat_request(&message, &mut call, &request) {
                Some(again) => {
                    link.send_line(&again).await?;
                    request = again;
                }
                None => {
                    self.check.check_response(&message, &call);
                    self.keep_line(link);
                    return Ok(CallEnd::Answered);
                }
            }
        }
    }

    /// The open connection, or a new one with its handshake.
    async fn take_line(&mut self) -> io::Result<LineLink> {
        let ClientDoor::Line(gateway, link) = &mut self.door else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        if let Some(link) = link.take() {
            return Ok(link);
        }
        let mut link = LineLink::open_line(gateway);
        if !self.is_new {
            let greeting = self.greeting();
            link.send_line(&greeting).await?;
            let _welcome = link.receive_line().await?;
            link.send_line(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await?;
            // The same id again: the request before it is answered.
            link.send_line(&self.request(self.next, "logging/setLevel", json!({ "level": "debug" }))).await?;
            while link.receive_line().await?.get("method").is_some() {}
        }
        Ok(link)
    }

    fn keep_line(&mut self, open: LineLink) {
        if let ClientDoor::Line(_, link) = &mut self.door {
            *link = Some(open);
        }
    }

    fn forget_session(&mut self) {
        self.next = 0;
        self.canceled.clear();
    }

    async fn hang_up(&mut self) {
        match &mut self.door {
            ClientDoor::Line(_, link) => {
                if let Some(link) = link.take() {
                    link.close_line().await;
                }
                self.forget_session();
            }
            ClientDoor::Http { main, side, .. } => {
                main.close_connection();
                side.close_connection();
            }
        }
    }
}

/// Calls over HTTP.
impl LoadClient {
    async fn call_over_http(
        &mut self,
        kind: CallKind,
        name: &str,
        nonce: (String, String),
    ) -> io::Result<CallEnd> {
        self.open_session().await?;
        let (mut call, mut request) = self.start_call(name, nonce);
        self.send_over_http(&request).await?;
        match kind {
            CallKind::Echo | CallKind::Ask => {}
            CallKind::Cancel if !self.is_new => {
                tokio::time::sleep(CANCEL_PAUSE).await;
                self.post_aside(&cancellation(call.id)).await?;
                self.check.remember_canceled(&call);
                self.drain_response(&call).await?;
                return Ok(CallEnd::Canceled);
            }
            CallKind::Cancel | CallKind::Drop => {
                tokio::time::sleep(CANCEL_PAUSE).await;
                if let ClientDoor::Http { main, .. } = &mut self.door {
                    main.close_connection();
                }
                return Ok(if kind == CallKind::Drop { CallEnd::Dropped } else { CallEnd::Canceled });
            }
        }
        loop {
            let response = self.receive_response(&call).await?;
            match self.repeat_request(&response, &mut call, &request) {
                Some(again) => {
                    self.send_over_http(&again).await?;
                    request = again;
                }
                None => {
                    self.check.check_response(&response, &call);
                    return Ok(CallEnd::Answered);
                }
            }
        }
    }

    /// Reads the response to the current call; questions before it are answered.
    async fn receive_response(&mut self, call: &CurrentCall) -> io::Result<Value> {
        let ClientDoor::Http { main, .. } = &mut self.door else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let mut events = match main.receive_answer().await?.0 {
            HttpAnswer::Message(message) => return Ok(message),
            HttpAnswer::Empty(status) => return Err(io::Error::other(format!("status {status}"))),
            HttpAnswer::Events(events) => events,
        };
        let mut response = None;
        while let ClientDoor::Http { main, .. } = &mut self.door {
            let Some(message) = main.next_event(&mut events).await? else { break };
            if message.get("method").is_none() {
                response = Some(message);
                continue;
            }
            let is_own = self.check.check_message(&message, Some(call));
            if let Some(id) = message.get("id") {
                let answer = answer_if_own(&call.nonce, is_own);
                self.post_aside(&json!({ "jsonrpc": "2.0", "id": id, "result": answer })).await?;
            }
        }
        response.ok_or_else(|| io::Error::other("the stream ended without a response"))
    }

    /// Reads what comes for a canceled call.
    async fn drain_response(&mut self, call: &CurrentCall) -> io::Result<()> {
        let ClientDoor::Http { main, .. } = &mut self.door else { return Ok(()) };
        let mut events = match main.receive_answer().await?.0 {
            HttpAnswer::Message(_) | HttpAnswer::Empty(_) => return Ok(()),
            HttpAnswer::Events(events) => events,
        };
        while let Some(message) = main.next_event(&mut events).await? {
            if message.get("method").is_some() {
                self.check.check_message(&message, Some(call));
            }
        }
        Ok(())
    }

    /// Opens a session of the old era, if there is none.
    async fn open_session(&mut self) -> io::Result<()> {
        if self.is_new || matches!(&self.door, ClientDoor::Http { session: Some(_), .. }) {
            return Ok(());
        }
        let greeting = self.greeting();
        self.send_over_http(&greeting).await?;
        if let ClientDoor::Http { main, session, .. } = &mut self.door {
            *session = main.receive_answer().await?.1;
        }
        self.post_aside(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await?;
        let level = self.request(self.next, "logging/setLevel", json!({ "level": "debug" }));
        self.post_aside(&level).await
    }

    async fn send_over_http(&mut self, message: &Value) -> io::Result<()> {
        let headers = self.headers(message);
        let ClientDoor::Http { main, .. } = &mut self.door else { return Ok(()) };
        main.send_post(&headers, message).await
    }

    /// Posts a message on the other connection, and reads its response.
    async fn post_aside(&mut self, message: &Value) -> io::Result<()> {
        let headers = self.headers(message);
        let ClientDoor::Http { side, .. } = &mut self.door else { return Ok(()) };
        side.send_post(&headers, message).await?;
        side.receive_answer().await.map(drop)
    }

    fn headers(&self, message: &Value) -> String {
        let text = |place: &str| message.pointer(place).and_then(Value::as_str).unwrap_or_default();
        let ClientDoor::Http { session, .. } = &self.door else { return String::new() };
        match (self.is_new, session) {
            (true, _) => format!(
                "MCP-Protocol-Version: {NEW}\r\nMcp-Method: {}\r\nMcp-Name: {}\r\n",
                text("/method"),
                text("/params/name")
            ),
            (false, Some(session)) => {
                format!("MCP-Protocol-Version: {OLD}\r\nMcp-Session-Id: {session}\r\n")
            }
            (false, None) => String::new(),
        }
    }
}

fn capabilities() -> Value {
    json!({ "elicitation": { "form": {} } })
}

fn answer(nonce: &str) -> Value {
    json!({ "action": "accept", "content": { "nonce": nonce } })
}

/// The answer to a question; one of another call is canceled.
fn answer_if_own(nonce: &str, is_own: bool) -> Value {
    if is_own { answer(nonce) } else { json!({ "action": "cancel" }) }
}

fn cancellation(id: u64) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } })
}
