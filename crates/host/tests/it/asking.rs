//! People and servers for tests of questions: whoever is asked, and a server inside the test that follows a list.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock};

use mcparley::elicit::{Ask, Elicitation, Elicitor, Page, Reply};
use mcparley::{Boxed, Host, HostBuilder};
use mcparley_wire::peer::{CallOptions, Handler, Peer};
use mcparley_wire::{RawJson, RpcError};
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};

use crate::world::World;

/// Answers everything in one way, and remembers what it was asked.
#[derive(Clone)]
pub(crate) struct Person {
    answer: fn(&Ask) -> Reply,
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
    pub(crate) fn new(answer: fn(&Ask) -> Reply) -> Self {
        let (came, withdrawn) = (Arc::default(), Arc::default());
        Self { answer, asked: Arc::default(), leave: None, came, withdrawn, is_quick: true }
    }

    /// Takes what is suggested, and visits every page.
    pub(crate) fn agreeable() -> Self {
        Self::new(|ask| match ask {
            Ask::Form(form) => Reply::Accept(form.defaults()),
            _ => Reply::Accept(Value::Null),
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
    fn ask<'q>(&'q self, question: Elicitation<'q>) -> Boxed<'q, Reply> {
        let what = match question.ask {
            Ask::Form(form) => format!("form of {}", form.fields.len()),
            Ask::Page(page) => page.url().to_owned(),
            _ => "something else".to_owned(),
        };
        self.asked.lock().unwrap().push(format!("{}: {} ({what})", question.server, question.message));
        self.came.notify_one();
        let withdrawal = Withdrawal(Some(Arc::clone(&self.withdrawn)));
        Box::pin(async move {
            if let Some(leave) = &self.leave {
                leave.acquire().await.unwrap().forget();
            }
            withdrawal.answered();
            (self.answer)(question.ask)
        })
    }

    fn done<'q>(&'q self, _page: &'q Page) -> Boxed<'q, ()> {
        match self.is_quick {
            true => Box::pin(std::future::ready(())),
            false => Box::pin(std::future::pending()),
        }
    }
}

/// What a server does with a call.
#[derive(Clone)]
pub(crate) enum Answer {
    /// Answers with this result.
    Result(&'static str),
    /// Refuses with this error.
    Error(i64, &'static str),
    /// Asks its client this first, and answers with what it was told.
    Asks(&'static str, Value),
    /// Asks its client this for as long as it gets answers.
    AsksForEver(&'static str, Value),
    /// Never answers.
    Silence,
}

/// A server inside the test. It answers calls by a list, whose last line counts for all further ones.
#[derive(Clone)]
pub(crate) struct Inside {
    version: &'static str,
    answers: Arc<Mutex<VecDeque<Answer>>>,
    tool: Arc<Value>,
    /// What it was told unasked.
    pub(crate) noted: Arc<Mutex<Vec<String>>>,
    /// Tells that there is more of it.
    pub(crate) news: Arc<Notify>,
    /// How it was greeted, and with what parameters.
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

    /// Tells its client something.
    pub(crate) async fn tell(&self, method: &str, params: Value) {
        let params = RawJson::of(&params).unwrap();
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
                let params = RawJson::of(&params).unwrap();
                let told = client.call(method, Some(&params), CallOptions::default()).await;
                let text = told.map_or_else(|failure| failure.to_string(), |told| told.as_str().to_owned());
                Ok(RawJson::of(&json!({ "content": [{ "type": "text", "text": text }] })).unwrap())
            }
            Answer::AsksForEver(method, params) => {
                let (client, params) = (self.client.get().unwrap(), RawJson::of(&params).unwrap());
                while client.call(method, Some(&params), CallOptions::default()).await.is_ok() {}
                std::future::pending().await
            }
            Answer::Silence => std::future::pending().await,
        }
    }
}

impl Handler for Inside {
    fn request(&self, method: &str, params: Option<RawJson>) -> Boxed<'static, Result<RawJson, RpcError>> {
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
        Box::pin(std::future::ready(Ok(RawJson::of(&answer).unwrap())))
    }

    fn notification(&self, method: &str, _params: Option<RawJson>) {
        self.noted.lock().unwrap().push(method.to_owned());
        self.news.notify_one();
    }

    fn joined(&self, peer: &Peer) {
        drop(self.client.set(peer.clone()));
    }
}

/// A host with this server inside, and with this person or with nobody.
pub(crate) fn host(server: &Inside, person: Option<&Person>) -> (Host, World) {
    host_as(server, |builder| match person {
        Some(person) => builder.elicitor(person.clone()),
        None => builder,
    })
}

/// A host with this server inside, and with whoever else is wanted.
pub(crate) fn host_as(server: &Inside, change: impl FnOnce(HostBuilder) -> HostBuilder) -> (Host, World) {
    let mut world = World::new();
    world.run_options.allowed_tools.push("mcp__inside".to_owned());
    world.run_options.allowed_tools.push("ReadMcpResource".to_owned());
    let builder = HostBuilder::new(&world.paths(), world.load()).without_own_server();
    let builder = builder.server("inside", Arc::new(server.clone()));
    (change(builder).start(), world)
}

/// A form with one field, as a server of either era asks for it.
pub(crate) fn form() -> Value {
    let name = json!({ "type": "string", "default": "Ada" });
    let schema = json!({ "type": "object", "properties": { "name": name }, "required": ["name"] });
    json!({ "message": "Who\u{202e} are you?", "requestedSchema": schema })
}
