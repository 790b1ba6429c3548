//! One call of a client: begun or gone on with, its progress told, its questions asked.
//!
//! The call itself is [`mcparley::Host::call`]. While it runs, its questions reach the person behind the client: in the
//! old era by requests to the client, in the new one by ending this request with what is wanted; the call then waits for
//! the client to come back ([`crate::parked`]).

use std::sync::Arc;

use mcparley::model::permission::Why;
use mcparley::{Boxed, Call, CallError, Host, Outcome, Person, Progress};
use mcparley_wire::{INVALID_PARAMS, RawJson, RpcError};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use crate::answer;
use crate::asker::{Asker, Open};
use crate::caller::Caller;
use crate::item::CALL_TOOL;
use crate::parked::Ticket;
use crate::session::Session;

/// The tool that finds others.
const TOOL_SEARCH: &str = "ToolSearch";

/// A call under way.
pub(crate) struct Running {
    call: Boxed<'static, Result<Outcome, CallError>>,
    /// What it has to know first, from clients that have to come back with it.
    questions: mpsc::Receiver<Open>,
    progress: Option<watch::Receiver<Option<Progress>>>,
    /// The progress that was told last.
    told: Option<Progress>,
}

/// What a request wants.
pub(crate) struct Wanted {
    pub(crate) name: String,
    pub(crate) arguments: RawJson,
    /// What a client comes back with.
    responses: Option<RawJson>,
    state: Option<RawJson>,
    /// Whether the model named it as an argument of the tool that calls others.
    is_inner: bool,
}

impl Session {
    /// Answers `tools/call`.
    pub(crate) async fn call(
        &self,
        caller: Caller,
        params: Option<&RawJson>,
        token: Option<Value>,
    ) -> Result<RawJson, RpcError> {
        let wanted = Wanted::read(params)?;
        let is_meta = wanted.name == CALL_TOOL && self.host().catalog().get(CALL_TOOL).is_none();
        let wanted = match is_meta {
            true => match wanted.inner() {
                Some(inner) => inner,
                None => {
                    return answer::failed(
                        "`name` says which tool is called; `arguments` is an object",
                        &caller,
                    );
                }
            },
            false => wanted,
        };
        let token = token.filter(|token| token.is_string() || token.is_number());
        if self.is_out_of_sight(&wanted.name, &caller) {
            return self.finish(&wanted, Err(unknown(&wanted.name)), &caller);
        }
        let running = match &wanted.state {
            Some(state) => self.shared.parked.go_on(&wanted, state, wanted.responses.as_ref())?,
            None => {
                self.know_roots().await;
                self.begin(caller, &wanted, token.is_some())?
            }
        };
        self.drive(caller, &wanted, running, token.as_ref()).await
    }

    fn begin(&self, caller: Caller, wanted: &Wanted, with_progress: bool) -> Result<Running, RpcError> {
        let unreadable = |_| RpcError::new(INVALID_PARAMS, "`arguments` cannot be read");
        let call = Call::new(&wanted.name, Value::Null);
        let mut call = call.with_json(wanted.arguments.as_str()).map_err(unreadable)?;
        let progress = with_progress.then(|| watch::channel(None));
        let progress = progress.map(|(newest, seen)| {
            call = std::mem::replace(&mut call, Call::new("", Value::Null)).with_progress(newest);
            seen
        });
        // One at a time: a call asks, and waits.
        let (ask, questions) = mpsc::channel(1);
        let asker = Arc::new(Asker::new(caller, self.peer().cloned(), ask));
        let person =
            Person { number: self.shared.number, approver: Arc::<Asker>::clone(&asker), elicitor: asker };
        let (host, call): (Host, Call) = (self.host().clone(), call.with_person(person));
        Ok(Running { call: Box::pin(async move { host.call(call).await }), questions, progress, told: None })
    }

    /// Waits for the call, or for a question that its client has to come back with.
    async fn drive(
        &self,
        caller: Caller,
        wanted: &Wanted,
        mut running: Running,
        token: Option<&Value>,
    ) -> Result<RawJson, RpcError> {
        let question = loop {
            tokio::select! {
                biased;
                done = &mut running.call => {
                    self.tell_progress(&mut running, token).await;
                    return self.finish(wanted, done, &caller);
                }
                Some(question) = running.questions.recv() => break question,
                Some(()) = next(running.progress.as_mut()) => self.tell_progress(&mut running, token).await,
            }
        };
        let ticket = Ticket { question: question.params, reply: question.reply, running };
        self.shared.parked.park(wanted, ticket)
    }

    /// The answer to a call that is over.
    fn finish(
        &self,
        wanted: &Wanted,
        done: Result<Outcome, CallError>,
        caller: &Caller,
    ) -> Result<RawJson, RpcError> {
        if let (Ok(outcome), TOOL_SEARCH) = (&done, wanted.name.as_str()) {
            self.shared.listing.found(found(outcome));
        }
        let done = match done {
            // A rule means that the tool is not to be known; a mode only that nobody can be asked.
            Err(CallError::Denied { decision, .. })
                if matches!(decision.why, Why::Rule { .. }) && self.is_hidden(&wanted.name) =>
            {
                Err(unknown(&wanted.name))
            }
            done => done,
        };
        match answer::of(done, caller) {
            // The tool that was called does exist; what it was to call does not.
            Err(error) if wanted.is_inner => answer::failed(&error.message.clean(), caller),
            answer => answer,
        }
    }

    /// Tells the newest progress that was not told yet.
    async fn tell_progress(&self, running: &mut Running, token: Option<&Value>) {
        let newest = running.progress.as_mut().and_then(|seen| seen.borrow_and_update().clone());
        if newest == running.told {
            return;
        }
        running.told.clone_from(&newest);
        let (Some(Progress { progress, total, message }), Some(token)) = (newest, token) else { return };
        let mut params = json!({ "progressToken": token, "progress": progress });
        if let Some(total) = total {
            params["total"] = json!(total);
        }
        if let Some(message) = message {
            params["message"] = json!(mcparley::model::text::clean(&message));
        }
        self.notify("notifications/progress", Some(params)).await;
    }
}

/// The error for a tool that the client is not to know of.
fn unknown(name: &str) -> CallError {
    CallError::UnknownTool { name: name.to_owned(), similar: Vec::new(), because: None }
}

/// The tools that a search has found.
fn found(outcome: &Outcome) -> Vec<String> {
    #[derive(Default, Deserialize)]
    struct Found {
        tools: Vec<Hit>,
    }
    #[derive(Deserialize)]
    struct Hit {
        name: String,
    }
    let found = outcome.structured.as_ref().and_then(|it| it.decode::<Found>().ok()).unwrap_or_default();
    found.tools.into_iter().map(|hit| hit.name).collect()
}

/// Waits for progress; nothing when there is none to wait for.
async fn next(progress: Option<&mut watch::Receiver<Option<Progress>>>) -> Option<()> {
    progress?.changed().await.ok()
}

impl Wanted {
    fn read(params: Option<&RawJson>) -> Result<Self, RpcError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Wire<'p> {
            name: String,
            #[serde(borrow, default)]
            arguments: Option<&'p RawValue>,
            #[serde(borrow, default)]
            input_responses: Option<&'p RawValue>,
            #[serde(borrow, default)]
            request_state: Option<&'p RawValue>,
        }
        let invalid = |reason: &str| RpcError::new(INVALID_PARAMS, reason);
        let params = params.ok_or_else(|| invalid("`name` says which tool is called"))?;
        let read: Result<Wire<'_>, _> = serde_json::from_slice(params.as_bytes());
        let wire = read.map_err(|_| invalid("`name` says which tool is called, and is a text"))?;
        let arguments = match wire.arguments.map(|raw| params.part(raw)) {
            Some(arguments) if arguments.as_bytes().first() == Some(&b'{') => arguments,
            Some(_) => return Err(invalid("`arguments` is not an object")),
            None => RawJson::parse("{}").map_err(|_| invalid("`arguments` is not an object"))?,
        };
        let part = |raw: Option<&RawValue>| raw.map(|raw| params.part(raw));
        let (responses, state) = (part(wire.input_responses), part(wire.request_state));
        Ok(Self { name: wire.name, arguments, responses, state, is_inner: false })
    }

    /// The call that the arguments of the tool which calls others describe.
    fn inner(&self) -> Option<Self> {
        let name = self.arguments.member("name")?.decode::<String>().ok()?;
        let arguments = match self.arguments.member("arguments") {
            Some(arguments) => Some(arguments).filter(|it| it.as_bytes().first() == Some(&b'{'))?,
            None => RawJson::parse("{}").ok()?,
        };
        let (responses, state) = (self.responses.clone(), self.state.clone());
        Some(Self { name, arguments, responses, state, is_inner: true })
    }
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").finish_non_exhaustive()
    }
}
