//! Answers the requests of one server, in both eras: its roots, and what it asks a person or a model (X5, X6).
//!
//! One question of a server is asked at a time, however many it has. While one is open, the clocks of its calls stand
//! still (K2).

use std::sync::Arc;

use mcparley_model::config::ServerConfig;
use mcparley_model::hook::Event;
use mcparley_model::limits::{PAGE_TIME, QUESTION_CHARS};
use mcparley_model::name::ServerName;
use mcparley_model::text::{Untrusted, clean, cut};
use mcparley_wire::{INTERNAL, INVALID_PARAMS, METHOD_NOT_FOUND, RawJson, RpcError};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore, watch};

use super::askers::{Askers, InFlight, Whom};
use super::form::Form;
use super::page::Page;
use super::visits::Visits;
use super::{Ask, Elicitation, Elicitor, Reply, Unanswered};
use crate::call::{Misfit, Person};
use crate::connect::Surroundings;
use crate::hooks::Board;
use crate::log::Log;
use crate::roots::ServerRoots;
use crate::sample::{Unsampled, Window};

/// Where the requests of one server are answered.
pub(crate) struct Desk {
    server: ServerName,
    elicitor: Option<Arc<dyn Elicitor>>,
    askers: Askers,
    roots: ServerRoots,
    models: Window,
    hooks: Arc<Board>,
    log: Arc<Log>,
    turn: Semaphore,
    /// How many questions are open.
    open: watch::Sender<usize>,
    visits: Visits,
    /// Tells that a task of the server may stand otherwise than it did.
    tasks: Notify,
}

/// Why a request is not answered as it wants.
#[derive(Debug)]
enum Trouble {
    /// It is of no kind we answer.
    Method,
    /// It is not as it must be.
    Request(String),
    /// The answer we were given does not fit it.
    Answer(Vec<Misfit>),
    /// No model has answered it.
    Model(Unsampled),
}

/// What is asked, as it was read.
struct Asked {
    message: String,
    ask: Ask,
}

impl Desk {
    pub(crate) fn new(
        server: ServerName,
        surroundings: &Surroundings,
        config: &ServerConfig,
        log: Arc<Log>,
    ) -> Self {
        let models = Window::new(server.clone(), surroundings.sampler(), Arc::clone(&log));
        Self {
            server,
            elicitor: surroundings.elicitor(),
            askers: Askers::default(),
            roots: surroundings.server_roots(config),
            models,
            hooks: surroundings.hooks(),
            log,
            turn: Semaphore::new(1),
            open: watch::Sender::new(0),
            visits: Visits::default(),
            tasks: Notify::new(),
        }
    }

    /// The roots of the server.
    pub(crate) fn roots(&self) -> &ServerRoots {
        &self.roots
    }

    /// Answers a request of the old era.
    pub(crate) async fn answer(&self, method: &str, params: Option<RawJson>) -> Result<RawJson, RpcError> {
        let answer = self.respond(method, params.as_ref()).await.map_err(Trouble::into_error)?;
        RawJson::of(&answer).map_err(|_| RpcError::new(INTERNAL, "the answer cannot be written"))
    }

    /// Fulfils what a result of the new era wants.
    pub(crate) async fn fulfil(&self, method: &str, params: Option<&RawJson>) -> Result<Value, Unanswered> {
        self.respond(method, params).await.map_err(|trouble| trouble.into_unanswered(method))
    }

    /// Has a page visited that a call needs, and waits until the person is done there (K3).
    pub(crate) async fn visit(&self, params: &RawJson) -> Result<(), Unanswered> {
        let unaskable = |trouble: Trouble| trouble.into_unanswered("elicitation/create");
        let asked = Asked::read(Some(params)).map_err(unaskable)?;
        let Ask::Page(page) = &asked.ask else {
            return Err(Unanswered::Unaskable { reason: "it is no page".into() });
        };
        let _open = Open::new(&self.open);
        let elicitor = self.elicitor();
        match (self.ask(&asked, elicitor.as_deref()).await, &elicitor) {
            (Some(Reply::Accept(_)), Some(elicitor)) => self.stay(page, elicitor.as_ref()).await,
            (Some(Reply::Accept(_)), None) | (None, _) => return Err(Unanswered::Nobody),
            (Some(Reply::Decline | Reply::Cancel), _) => return Err(Unanswered::Declined),
        }
        Ok(())
    }

    /// Waits until the person is done at a page.
    async fn stay(&self, page: &Page, elicitor: &dyn Elicitor) {
        let told = async {
            match page.id() {
                Some(id) => self.visits.done(id).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = told => {}
            () = elicitor.done(page) => {}
            () = tokio::time::sleep(PAGE_TIME) => self.log.event("nobody said to be done at the page"),
        }
    }

    /// The server tells that a person is done at a page.
    pub(crate) fn visited(&self, params: Option<&RawJson>) {
        self.visits.tell(params);
    }

    /// A call begins, made for this person; it is over when what this gives is dropped.
    pub(crate) fn begin(&self, person: Option<&Person>) -> InFlight<'_> {
        self.askers.begin(person)
    }

    /// Who is to be asked now.
    fn elicitor(&self) -> Option<Arc<dyn Elicitor>> {
        match self.askers.whom() {
            Whom::Host => self.elicitor.clone(),
            Whom::Person(elicitor) => Some(elicitor),
            Whom::Unclear => {
                self.log.event("it asks a person, and its calls are of more than one");
                None
            }
        }
    }

    /// Tells that a task of the server may stand otherwise than it did.
    pub(crate) fn task_news(&self) -> &Notify {
        &self.tasks
    }

    /// How many questions are open, as it changes.
    pub(crate) fn open_questions(&self) -> watch::Receiver<usize> {
        self.open.subscribe()
    }

    async fn respond(&self, method: &str, params: Option<&RawJson>) -> Result<Value, Trouble> {
        match method {
            "roots/list" => Ok(self.roots.to_result().await.1),
            "sampling/createMessage" => self.sample(params).await,
            "elicitation/create" => self.elicit(&Asked::read(params)?).await,
            _ => Err(Trouble::Method),
        }
    }

    async fn elicit(&self, asked: &Asked) -> Result<Value, Trouble> {
        let _open = Open::new(&self.open);
        let elicitor = self.elicitor();
        let Some(reply) = self.ask(asked, elicitor.as_deref()).await else {
            self.log.event("it asks a person, and nobody is there to be asked");
            return Ok(json!({ "action": "decline" }));
        };
        let content = match (reply, &asked.ask) {
            (Reply::Decline, _) => return Ok(json!({ "action": "decline" })),
            (Reply::Cancel, _) => return Ok(json!({ "action": "cancel" })),
            (Reply::Accept(_), Ask::Page(_)) => return Ok(json!({ "action": "accept" })),
            (Reply::Accept(content), Ask::Form(form)) => {
                form.check(&content).map_err(Trouble::Answer)?;
                content
            }
        };
        Ok(json!({ "action": "accept", "content": content }))
    }

    async fn sample(&self, params: Option<&RawJson>) -> Result<Value, Trouble> {
        // A person may look at the question and at the answer, and models are no faster.
        let _open = Open::new(&self.open);
        self.models.answer(params).await.map_err(Trouble::Model)
    }

    /// Asks hooks first, then the person; nothing when neither answers (X5).
    async fn ask(&self, asked: &Asked, elicitor: Option<&dyn Elicitor>) -> Option<Reply> {
        // It is never closed; were it so, nobody would have to wait.
        let _turn = self.turn.acquire().await;
        let question = Elicitation { server: &self.server, message: &asked.message, ask: &asked.ask };
        if self.hooks.hears(Event::Elicitation)
            && let Some(reply) = self.hooks.elicited(question).await
        {
            self.log.event(match &reply {
                Reply::Accept(_) => "it asked a person, and a hook accepted",
                Reply::Decline => "it asked a person, and a hook declined",
                Reply::Cancel => "it asked a person, and a hook put it aside",
            });
            return Some(reply);
        }
        let reply = elicitor?.ask(question).await;
        self.log.event(match &reply {
            Reply::Accept(_) => "it asked a person, who accepted",
            Reply::Decline => "it asked a person, who declined",
            Reply::Cancel => "it asked a person, who put it aside",
        });
        Some(reply)
    }
}

impl Asked {
    fn read(params: Option<&RawJson>) -> Result<Self, Trouble> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Wire {
            message: String,
            #[serde(default)]
            mode: Option<String>,
            #[serde(default)]
            url: Option<String>,
            #[serde(default)]
            elicitation_id: Option<String>,
        }
        let trouble = |reason: &dyn ToString| Trouble::Request(reason.to_string());
        let params = params.ok_or_else(|| trouble(&"it has no parameters"))?;
        let wire: Wire = params.decode().map_err(|_| trouble(&"its parameters are of another form"))?;
        let ask = match wire.mode.as_deref() {
            None | Some("form") => {
                Ask::Form(Form::read(params.member("requestedSchema")).map_err(|fault| trouble(&fault))?)
            }
            Some("url") => {
                let page = Page::read(wire.url.as_deref(), wire.elicitation_id);
                Ask::Page(page.map_err(|fault| trouble(&fault))?)
            }
            Some(_) => return Err(trouble(&"its `mode` is neither `form` nor `url`")),
        };
        Ok(Self { message: cut(&clean(&wire.message), QUESTION_CHARS).into_owned(), ask })
    }
}

impl Trouble {
    fn into_error(self) -> RpcError {
        match self {
            Self::Method => RpcError::new(METHOD_NOT_FOUND, "this client does not offer that method"),
            Self::Request(reason) => RpcError::new(INVALID_PARAMS, &reason),
            // What was answered stays here.
            Self::Answer(_) => RpcError::new(INTERNAL, "the answer given does not fit the form"),
            Self::Model(why) => why.into_error(),
        }
    }

    fn into_unanswered(self, method: &str) -> Unanswered {
        match self {
            Self::Method | Self::Model(Unsampled::Nobody) => {
                Unanswered::NotOffered { method: Untrusted::new(cut(method, 64)) }
            }
            Self::Model(why) => Unanswered::Unsampled { reason: why.to_string() },
            Self::Request(reason) => Unanswered::Unaskable { reason },
            Self::Answer(misfits) => {
                let reasons: Vec<String> = misfits.iter().map(ToString::to_string).collect();
                Unanswered::Unfit { reason: reasons.join("; ") }
            }
        }
    }
}

/// A question that is open for as long as this lives.
struct Open<'d>(&'d watch::Sender<usize>);

impl<'d> Open<'d> {
    fn new(open: &'d watch::Sender<usize>) -> Self {
        open.send_modify(|count| *count += 1);
        Self(open)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").field("server", &self.server).finish_non_exhaustive()
    }
}
