//! Users and servers for tests of questions: a scripted user, and an in-process server that follows a list.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock};

use mcparley::elicit::{Elicitation, ElicitationPage, ElicitationReply, ElicitationRequest, Elicitor};
use mcparley::{BoxedFuture, Host, HostBuilder};
use mcparley_wire::peer::{Handler, Peer, PeerCallOptions};
use mcparley_wire::{Incoming, Notice, RawJson, RpcError};
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};

use crate::world::World;

/// A user that answers every question in one way, and records the questions.
#[derive(Clone)]
pub(crate) struct Person {
    answer: fn(&ElicitationRequest) -> ElicitationReply,
    pub(crate) asked: Arc<Mutex<Vec<String>>>,
    /// Opens once for every answer, unless answers come at once.
    pub(crate) leave: Option<Arc<Semaphore>>,
    /// Tells that a question has come, and that one was withdrawn.
    pub(crate) came: Arc<Notify>,
    pub(crate) withdrawn: Arc<Notify>,
    /// Whether it says at once to be done at a page.
    is_quick: bool,
}

impl Person {
    pub(crate) fn new(answer: fn(&ElicitationRequest) -> ElicitationReply) -> Self {
        let (came, withdrawn) = (Arc::default(), Arc::default());
        Self { answer, asked: Arc::default(), leave: None, came, withdrawn, is_quick: true }
    }

    /// Accepts the suggested values, and visits every page.
    pub(crate) fn agreeable() -> Self {
        Self::new(|ask| match ask {
            ElicitationRequest::Form(form) => ElicitationReply::Accept(form.defaults()),
            _ => ElicitationReply::Accept(Value::Null),
        })
    }

    /// The same, but it never says to be done at a page.
    pub(crate) fn silent() -> Self {
        Self { is_quick: false, ..Self::agreeable() }
    }

    /// The same, but each answer needs leave.
    pub(crate) fn slow() -> Self {
        Self { leave: Some(Arc::new(Semaphore::new(0))), ..Self::agreeable() }
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// Tells when a question is dropped before its answer.
struct Withdrawal(Option<Arc<Notify>>);

impl Withdrawal {
    fn answered(mut self) {
        self.0 = None;
    }
}

impl Drop for Withdrawal {
    fn drop(&mut self) {
        if let Some(withdrawn) = &self.0 {
            withdrawn.notify_one();
        }
    }
}

impl Elicitor for Person {
    fn ask<'q>(&'q self, question: Elicitation<'q>) -> BoxedFuture<'q, ElicitationReply> {
        let what = match question.request {
            ElicitationRequest::Form(form) => format!("form of {}", form.fields.len()),
            ElicitationRequest::Page(page) => page.url().to_owned(),
        };
        self.asked.lock().unwrap().push(format!("{}: {} ({what})", question.server, question.message));
        self.came.notify_one();
        let withdrawal = Withdrawal(Some(Arc::clone(&self.withdrawn)));
        Box::pin(async move {
            if let Some(leave) = &self.leave {
                leave.acquire().await.unwrap().forget();
            }
            withdrawal.answered();
            (self.answer)(question.request)
        })
    }

    fn wait_for_visit<'q>(&'q self, _page: &'q ElicitationPage) -> BoxedFuture<'q, ()> {
        match self.is_quick {
            true => Box::pin(std::future::ready(())),
            false => Box::pin(std::future::pending()),
        }
    }
}

/// The response of a server to a call.
#[derive(Clone)]
pub(crate) enum Answer {
    /// Answers with this result.
    Result(&'static str),
    /// Refuses with this error.
    Error(i64, &'static str),
    /// Asks its client this first, and answers with the client's reply.
    Asks(&'static str, Value),
    /// Asks its client this for as long as it gets answers.
    AsksForEver(&'static str, Value),
    /// Never answers.
    Silence,
}

/// An in-process server of the test. It answers calls by a list, whose last line counts for all further
/// ones.
#[derive(Clone)]
pub(crate) struct Inside {
    version: &'static str,
    answers: Arc<Mutex<VecDeque<Answer>>>,
    tool: Arc<Value>,
    /// The notifications it received.
    pub(crate) noted: Arc<Mutex<Vec<String>>>,
    /// Tells that there is more of it.
    pub(crate) news: Arc<Notify>,
    /// The parameters of its handshakes.
    pub(crate) greeted: Arc<Mutex<Vec<String>>>,
    /// The parameters of every call, as they came.
    pub(crate) heard: Arc<Mutex<Vec<String>>>,
    client: Arc<OnceLock<Peer>>,
}

pub(crate) const DONE: &str = r#"{"content":[{"type":"text","text":"done"}]}"#;

impl Inside {
    pub(crate) fn new(version: &'static str, answers: impl IntoIterator<Item = Answer>) -> Self {
        let answers = Arc::new(Mutex::new(answers.into_iter().collect()));
        let (heard, client) = (Arc::default(), Arc::default());
        let (noted, news, greeted) = (Arc::default(), Arc::default(), Arc::default());
        let tool = Arc::new(json!({ "name": "it", "inputSchema": { "type": "object" } }));
        Self { version, answers, tool, noted, news, greeted, heard, client }
    }

    /// The same with this tool instead of its own.
    pub(crate) fn with_tool(mut self, tool: Value) -> Self {
        self.tool = Arc::new(tool);
        self
    }

    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }

    /// Sends a notification to its client.
    pub(crate) async fn tell(&self, method: &str, params: Value) {
        let params = RawJson::from_value(&params).unwrap();
        self.client.get().unwrap().notify(method, Some(&params)).await.unwrap();
    }

    fn next(&self) -> Answer {
        let mut answers = self.answers.lock().unwrap();
        if answers.len() > 1 { answers.pop_front().unwrap() } else { answers.front().unwrap().clone() }
    }

    async fn work(self) -> Result<RawJson, RpcError> {
        match self.next() {
            Answer::Result(result) => Ok(RawJson::parse(result).unwrap()),
            Answer::Error(code, data) => {
                Err(RpcError::new(code, "no").with_data(RawJson::parse(data).unwrap()))
            }
            Answer::Asks(method, params) => {
                let client = self.client.get().unwrap();
                let params = RawJson::from_value(&params).unwrap();
                let told = client.call(method, Some(&params), PeerCallOptions::default()).await;
                let text = told.map_or_else(|failure| failure.to_string(), |told| told.as_str().to_owned());
                Ok(RawJson::from_value(&json!({ "content": [{ "type": "text", "text": text }] })).unwrap())
            }
            Answer::AsksForEver(method, params) => {
                let (client, params) = (self.client.get().unwrap(), RawJson::from_value(&params).unwrap());
                while client.call(method, Some(&params), PeerCallOptions::default()).await.is_ok() {}
                std::future::pending().await
            }
            Answer::Silence => std::future::pending().await,
        }
    }
}

impl Handler for Inside {
    fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        let (method, params) = (&*incoming.method, incoming.params);
        let capabilities = json!({ "tools": {}, "resources": {} });
        if matches!(method, "server/discover" | "initialize") {
            self.greeted.lock().unwrap().push(params.as_ref().unwrap().as_str().to_owned());
        }
        let answer = match method {
            "server/discover" if self.version == "2026-07-28" => {
                json!({ "supportedVersions": [self.version], "capabilities": capabilities })
            }
            "initialize" => json!({ "protocolVersion": self.version, "capabilities": capabilities }),
            "tools/list" => json!({ "tools": [*self.tool] }),
            "resources/list" => json!({ "resources": [{ "uri": "a:b", "name": "a" }] }),
            "tools/call" | "resources/read" | "tasks/get" | "tasks/update" | "tasks/cancel" => {
                let params = params.map(|params| params.as_str().to_owned()).unwrap_or_default();
                self.heard.lock().unwrap().push(params);
                return Box::pin(self.clone().work());
            }
            _ => return Box::pin(std::future::ready(Err(RpcError::new(-32601, "no such method")))),
        };
        Box::pin(std::future::ready(Ok(RawJson::from_value(&answer).unwrap())))
    }

    fn handle_notice(&self, notice: Notice) {
        self.noted.lock().unwrap().push(notice.method.into());
        self.news.notify_one();
    }

    fn on_connect(&self, peer: &Peer) {
        drop(self.client.set(peer.clone()));
    }
}

/// A host with this in-process server, and with this user or without one.
pub(crate) fn host(server: &Inside, person: Option<&Person>) -> (Host, World) {
    host_as(server, |builder| match person {
        Some(person) => builder.elicitor(person.clone()),
        None => builder,
    })
}

/// A host with this in-process server, and with other handlers.
pub(crate) fn host_as(server: &Inside, change: impl FnOnce(HostBuilder) -> HostBuilder) -> (Host, World) {
    let mut world = World::new();
    world.run_options.allowed_tools.push("mcp__inside".to_owned());
    world.run_options.allowed_tools.push("ReadMcpResource".to_owned());
    let builder = HostBuilder::new(&world.paths(), world.load()).without_built_in_server();
    let builder = builder.in_process_handler("inside", Arc::new(server.clone()));
    (change(builder).start(), world)
}

/// A form with one field, as a server of either era asks for it.
pub(crate) fn form() -> Value {
    let name = json!({ "type": "string", "default": "Ada" });
    let schema = json!({ "type": "object", "properties": { "name": name }, "required": ["name"] });
    json!({ "message": "Who\u{202e} are you?", "requestedSchema": schema })
}
