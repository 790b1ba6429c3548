//! Answers the requests of one server, in both eras: its roots, and what it asks a person or a model (X5, X6).
//!
//! A call has one question at a time, and no call waits for another one's answer. While a question is open, the clock of
//! its call stands still (K2).

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::config::ServerConfig;
use mcparley_model::hook::Event;
use mcparley_model::limits::{QUESTION_CHARS, QUESTION_TIME};
use mcparley_model::name::ServerName;
use mcparley_model::text::{Untrusted, clean, cut};
use mcparley_wire::{INTERNAL, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, RawJson, RpcError};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};

use super::askers::{Askers, InFlight, Owner};
use super::form::Form;
use super::page::Page;
use super::visits::Visits;
use super::{Ask, Elicitation, Elicitor, Reply, Unanswered};
use crate::call::{Misfit, Person};
use crate::connect::Surroundings;
use crate::hooks::HookRunner;
use crate::log::Log;
use crate::roots::ServerRoots;
use crate::sample::{Unsampled, Window};

/// The requests of one server that wait for an answer, and the means to answer them.
pub(crate) struct ServerRequests {
    server: ServerName,
    elicitor: Option<Arc<dyn Elicitor>>,
    askers: Askers,
    roots: ServerRoots,
    models: Window,
    hooks: Arc<HookRunner>,
    log: Arc<Log>,
    /// Questions that belong to no call for certain come one after the other.
    turn: Semaphore,
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
    /// Its call has had all the questions it may have.
    Excess(Unanswered),
    /// The person did not answer in time, and other questions wait.
    Late,
}

/// A page that a call needs, as the server asks for it.
#[derive(Debug)]
pub(crate) struct RequestedPage {
    /// Its address, by which it is known when the server asks for it again.
    pub(crate) url: String,
    asked: Asked,
}

/// What is asked, as it was read.
#[derive(Debug)]
struct Asked {
    message: String,
    ask: Ask,
}

impl ServerRequests {
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

    /// Fulfils what a result of the new era wants, for the call that it is the result of.
    pub(crate) async fn fulfil(
        &self,
        call: &InFlight<'_>,
        method: &str,
        params: Option<&RawJson>,
    ) -> Result<Value, Unanswered> {
        let call = Arc::clone(call.call());
        let answer = self.respond_to(&Owner::Call(call), method, params).await;
        answer.map_err(|trouble| trouble.into_unanswered(method))
    }

    /// Reads a page that a call needs.
    pub(crate) fn read_page(&self, params: &RawJson) -> Result<RequestedPage, Unanswered> {
        let unaskable = |trouble: Trouble| trouble.into_unanswered("elicitation/create");
        let Asked { message, ask } = Asked::read(Some(params)).map_err(unaskable)?;
        match ask {
            Ask::Page(page) => Ok(RequestedPage {
                url: page.url().to_owned(),
                asked: Asked { message, ask: Ask::Page(page) },
            }),
            Ask::Form(_) => Err(Unanswered::Unaskable { reason: "it is no page".into() }),
        }
    }

    /// Asks whether the page is visited that a call needs; a hook may answer for the person (K3).
    pub(crate) async fn ask_for_visit(
        &self,
        call: &InFlight<'_>,
        page: &RequestedPage,
    ) -> Result<(), Unanswered> {
        let elicitor = call.call().elicitor(self.elicitor.as_ref());
        let _open = call.call().open_question();
        match self.ask(&page.asked, elicitor.as_deref(), true).await {
            Some(Reply::Accept(_)) => Ok(()),
            Some(Reply::Decline | Reply::Cancel) => Err(Unanswered::Declined),
            None => Err(Unanswered::Nobody { url: page.url.clone() }),
        }
    }

    /// Waits until the server or, where that counts, the person says to be done at a page, at most this long.
    pub(crate) async fn await_visit(
        &self,
        call: &InFlight<'_>,
        page: &RequestedPage,
        (longest, person_counts): (Duration, bool),
    ) {
        let Ask::Page(page) = &page.asked.ask else { return };
        let server_tells = async {
            match page.id() {
                Some(id) => self.visits.done(id).await,
                None => std::future::pending().await,
            }
        };
        let elicitor = call.call().elicitor(self.elicitor.as_ref());
        let person_tells = async {
            match elicitor.filter(|_| person_counts) {
                Some(elicitor) => elicitor.done(page).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = server_tells => {}
            () = person_tells => {}
            () = tokio::time::sleep(longest) => {}
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

    /// Tells that a task of the server may stand otherwise than it did.
    pub(crate) fn task_news(&self) -> &Notify {
        &self.tasks
    }

    /// Answers a request that does not say which call it is about.
    async fn respond(&self, method: &str, params: Option<&RawJson>) -> Result<Value, Trouble> {
        let owner = self.askers.owner();
        if method == "elicitation/create"
            && let Owner::Call(call) = &owner
        {
            call.count_question().map_err(Trouble::Excess)?;
        }
        self.respond_to(&owner, method, params).await
    }

    async fn respond_to(
        &self,
        owner: &Owner,
        method: &str,
        params: Option<&RawJson>,
    ) -> Result<Value, Trouble> {
        match method {
            "roots/list" => Ok(self.roots.to_result().await.1),
            "sampling/createMessage" => {
                // A person may look at the question and at the answer, and models are no faster.
                let _open = owner.open_question();
                self.models.answer(params).await.map_err(Trouble::Model)
            }
            "elicitation/create" => self.elicit(&Asked::read(params)?, owner).await,
            _ => Err(Trouble::Method),
        }
    }

    async fn elicit(&self, asked: &Asked, owner: &Owner) -> Result<Value, Trouble> {
        let _open = owner.open_question();
        let Some(reply) = self.ask_owner(asked, owner).await? else {
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

    /// Asks the person whose call it is. Questions that could belong to several calls come one after the other, and one
    /// that is not answered ends after a while, so that the next one gets its turn.
    async fn ask_owner(&self, asked: &Asked, owner: &Owner) -> Result<Option<Reply>, Trouble> {
        match owner {
            Owner::Host => {
                let _turn = self.turn.acquire().await;
                Ok(self.ask(asked, self.elicitor.as_deref(), true).await)
            }
            Owner::Call(call) => {
                let _turn = call.turn.acquire().await;
                let elicitor = call.elicitor(self.elicitor.as_ref());
                Ok(self.ask(asked, elicitor.as_deref(), true).await)
            }
            Owner::OneOf(calls) => {
                let _turn = self.turn.acquire().await;
                // Calls may have ended while this question waited for its turn.
                let Some(call) = self.askers.least_asked(calls) else { return Ok(None) };
                call.count_question().map_err(Trouble::Excess)?;
                let _asking = call.begin_asking();
                let elicitor = call.elicitor(self.elicitor.as_ref());
                let asking = self.ask(asked, elicitor.as_deref(), false);
                tokio::time::timeout(QUESTION_TIME, asking).await.map_err(|_| Trouble::Late)
            }
            Owner::Unclear => {
                self.log.event("it asks a person, and its calls are of more than one");
                Ok(self.ask(asked, None, false).await)
            }
        }
    }

    /// Asks hooks first, then the person; nothing when neither answers (X5).
    async fn ask(
        &self,
        asked: &Asked,
        elicitor: Option<&dyn Elicitor>,
        is_call_known: bool,
    ) -> Option<Reply> {
        let Asked { message, ask } = asked;
        let question = Elicitation { server: &self.server, message, ask, is_call_known };
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
            Self::Excess(why) => RpcError::new(INVALID_REQUEST, &why.to_string()),
            Self::Late => RpcError::new(INTERNAL, &late()),
        }
    }

    fn into_unanswered(self, method: &str) -> Unanswered {
        match self {
            Self::Method | Self::Model(Unsampled::Nobody) => {
                Unanswered::NotOffered { method: Untrusted::new(cut(method, 64)) }
            }
            Self::Model(why) => Unanswered::Unsampled { reason: why.to_string() },
            Self::Request(reason) => Unanswered::Unaskable { reason },
            Self::Excess(why) => why,
            Self::Late => Unanswered::Unaskable { reason: late() },
            Self::Answer(misfits) => {
                let reasons: Vec<String> = misfits.iter().map(ToString::to_string).collect();
                Unanswered::Unfit { reason: reasons.join("; ") }
            }
        }
    }
}

fn late() -> String {
    format!("the person did not answer within {} minutes", QUESTION_TIME.as_secs() / 60)
}

impl std::fmt::Debug for ServerRequests {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerRequests").field("server", &self.server).finish_non_exhaustive()
    }
}
