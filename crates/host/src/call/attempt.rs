//! Makes the request: on a leased connection, within its limits, repeated where [`super::recovery`] says so.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use mcparley_model::config::Kind;
use mcparley_model::limits::TOOL_TIME;
use mcparley_model::tool::{self, TaskSupport, Tool};
use mcparley_wire::peer::{CallOptions, Progress};
use mcparley_wire::{Answered, Failure, Params, Phase, RawJson, Spoken};
use tokio::sync::watch;

use super::bind::Bound;
use super::deadline::{Clock, Deadline};
use super::error::CallError;
use super::person::Person as Owner;
use super::recovery::{Nature, Person, Spent, Step, next_step};
use super::rounds::{self, Halt, Rounds};
use super::task::{self, Following, Lost, Task};
use super::wish::Call;
use crate::connection::{Connection, Epoch, Live, Unavailable};
use crate::elicit::{InFlight, ServerRequests};
use crate::host::Host;
use crate::surface::{Lists, Surface};

impl Host {
    /// Calls the tool and gives the server's answer as it came.
    pub(super) async fn attempt(&self, bound: &Bound, call: &mut Call) -> Result<RawJson, CallError> {
        let Some(connection) = &bound.connection else { return Err(bound.unavailable(Unavailable::Stopped)) };
        let mut deadline = Deadline::of(call, connection);
        let mut request = Request::new(bound, call)?;
        let hints = bound.entry.tool.hints;
        let harmless = hints.read_only || hints.idempotent;
        let (mut connection, mut spent, mut stale) =
            (Arc::clone(connection), Spent::default(), Epoch::default());
        loop {
            let live = match deadline.lease_after(&connection, stale).await {
                Ok(live) => live,
                Err(why) => {
                    // Its entry changed: the call goes to the server that has its name now.
                    connection = self.successor(&connection, &why).ok_or_else(|| bound.unavailable(why))?;
                    stale = Epoch::default();
                    continue;
                }
            };
            if spent.repeats > 0 && !self.is_unchanged(bound) {
                return Err(bound.restless());
            }
            let failure = match request.run(&live, &mut deadline, connection.server_requests()).await {
                Ok(Reached::Answer(answer)) => {
                    live.served();
                    return Ok(answer);
                }
                Ok(Reached::Task(task)) => {
                    // Rare and large: it would make every call's future as large.
                    return Box::pin(request.follow(bound, &connection, (live, task), deadline)).await;
                }
                Err(Halt::Unanswered(why)) => return Err(bound.unanswered(why)),
                Err(Halt::Failed(failure)) => failure,
            };
            let has_headers = live.session.spoken() == Spoken::New;
            let nature = Nature { harmless, has_headers, person: self.person(&connection) };
            let goes_on = match next_step(&failure, spent, nature) {
                Step::Reopen => {
                    stale = live.epoch;
                    true
                }
                Step::Repeat => true,
                Step::Wait(pause) => {
                    drop(live);
                    deadline.wait(pause).await
                }
                // Rare and large: it would make every call's future as large.
                Step::Relist => Box::pin(request.look_up(bound, &live, deadline)).await,
                Step::SignIn => {
                    connection.needs_auth(live.epoch).await;
                    return Err(bound.unavailable(Unavailable::NeedsAuth));
                }
                Step::AskMore => {
                    drop(live);
                    deadline.aside(Box::pin(self.step_up(&connection))).await
                }
                Step::GiveUp => false,
            };
            if !goes_on {
                return Err(bound.gave_up(&connection, failure));
            }
            spent.repeats += 1;
        }
    }

    /// Whether somebody can sign in to a server.
    pub(super) fn person(&self, connection: &Connection) -> Person {
        match connection.account() {
            Some(account) if account.is_spoken_for() => Person::Nobody,
            Some(account) if account.takes_a_person() && self.has_page_opener() => Person::There,
            Some(_) => Person::Away,
            // One signs in to connectors at the organisation.
            None if connection.config.kind() == Kind::ClaudeAiProxy => Person::Away,
            None => Person::Nobody,
        }
    }

    /// Asks the person for the rights the server wants besides those there are; says whether they were given.
    pub(super) async fn step_up(&self, connection: &Connection) -> bool {
        connection.log().event("the server wants more rights");
        match self.sign_in_with_page(&connection.name).await {
            Ok(()) => true,
            Err(error) => {
                connection.log().trouble(&error.in_one_line());
                false
            }
        }
    }

    /// The connection that has taken the place of one that was stopped.
    pub(super) fn successor(&self, stopped: &Connection, why: &Unavailable) -> Option<Arc<Connection>> {
        let successor = match why {
            Unavailable::Stopped => self.connection(&stopped.name),
            Unavailable::Failed(_)
            | Unavailable::Waiting { .. }
            | Unavailable::Late { .. }
            | Unavailable::NeedsAuth
            | Unavailable::Disabled => None,
        };
        successor.filter(|successor| !successor.is(stopped))
    }

    /// Whether the tool is still the one that was permitted.
    fn is_unchanged(&self, bound: &Bound) -> bool {
        let (catalog, permitted) = (self.current(), &bound.entry);
        let now = permitted.server().and_then(|server| catalog.of(server, &permitted.tool.name));
        now.is_some_and(|now| Arc::ptr_eq(now, permitted) || now.tool.digest() == permitted.tool.digest())
    }
}

/// A request that can be made more than once.
struct Request {
    params: Params,
    arguments: RawJson,
    progress: Option<watch::Sender<Option<Progress>>>,
    /// Arguments that are told in headers too.
    headers: Vec<(String, String)>,
    rounds: Rounds,
    /// Whose call it is.
    person: Option<Owner>,
    /// Whether its tool has to be called as a task, in the era that has that.
    as_task: bool,
}

/// What a request came to.
enum Reached {
    Answer(RawJson),
    /// The server works on it by itself.
    Task(Task),
}

impl Request {
    fn new(bound: &Bound, call: &mut Call) -> Result<Self, CallError> {
        let (progress, person) = (call.progress.take(), call.person.take());
        let arguments = match call.written.take() {
            Some(written) => written,
            None => RawJson::of(&call.arguments)
                .map_err(|error| bound.failed(Failure::Protocol(Arc::from(error.to_string()))))?,
        };
        let headers = told(&bound.entry.tool, &arguments);
        let params = Params::new().with("name", &bound.entry.tool.name).with_raw("arguments", &arguments);
        let as_task = bound.entry.tool.task == TaskSupport::Required;
        Ok(Self { params, arguments, progress, headers, rounds: Rounds::default(), person, as_task })
    }

    /// Asks which arguments the server wants in headers now; says whether it still has the tool. What was permitted is
    /// sent as it was: only where it is told too may change.
    async fn look_up(&mut self, bound: &Bound, live: &Live, deadline: Deadline) -> bool {
        let known = Surface::default();
        let listing = Box::pin(known.refetched(&live.session, Lists::TOOLS));
        let Some(surface) = deadline.within(listing).await else { return false };
        let tool = surface.tools.iter().find(|tool| tool.name == bound.entry.tool.name);
        if let Some(tool) = tool {
            self.headers = told(tool, &self.arguments);
        }
        tool.is_some()
    }

    /// Makes the request until it has its result, or has become a task: whatever the server wants first, it gets.
    async fn run(
        &mut self,
        live: &Live,
        deadline: &mut Deadline,
        server_requests: &ServerRequests,
    ) -> Result<Reached, Halt> {
        let in_flight = server_requests.begin(self.person.as_ref());
        loop {
            // Asking is rare and large: it would make every call's future as large.
            let sent = tokio::select! {
                biased;
                sent = self.send(live, deadline, &in_flight) => sent,
                // Dropping the request takes it back at the server.
                excess = in_flight.too_many_questions() => return Err(Halt::Unanswered(excess)),
            };
            let went_on = match sent {
                Ok(Answered::Complete(answer)) => return self.reached(live, answer).map_err(Halt::Failed),
                Ok(Answered::Task(task)) => {
                    return Task::read(&task).map(Reached::Task).map_err(Halt::Failed);
                }
                Ok(Answered::Wants(wanted)) => {
                    deadline.aside(Box::pin(self.rounds.fulfil(server_requests, &in_flight, wanted))).await
                }
                Err(Failure::Answered(error)) => match rounds::pages(&error) {
                    Some(pages) => {
                        deadline.aside(Box::pin(self.rounds.visit(server_requests, &in_flight, pages))).await
                    }
                    None => return Err(Halt::Failed(Failure::Answered(error))),
                },
                Err(failure) => return Err(Halt::Failed(failure)),
            };
            went_on.map_err(Halt::Unanswered)?;
        }
    }

    async fn send(
        &self,
        live: &Live,
        deadline: &mut Deadline,
        in_flight: &InFlight<'_>,
    ) -> Result<Answered, Failure> {
        let (method, mut params) = ("tools/call", self.rounds.params(&self.params));
        if self.is_task(live) {
            params = Cow::Owned(task::augmented(params.into_owned(), deadline.limit));
        }
        let headers = self.headers.clone();
        // A limit that no server reaches needs no watching, and its progress no asking for.
        if deadline.limit >= TOOL_TIME && self.progress.is_none() {
            let options = CallOptions { limit: Some(deadline.limit), headers, ..CallOptions::default() };
            return live.session.round(method, &params, options).await;
        }
        let (newest, seen) = watch::channel(None);
        let options = CallOptions { progress: Some(newest), headers, ..CallOptions::default() };
        let late = |limit| Failure::TimedOut { phase: Phase::Answering, after: limit };
        // Large: it would make every call's future as large.
        let answer = Box::pin(live.session.round(method, &params, options));
        let watched = Box::pin(self.watched(deadline, in_flight, seen, answer));
        watched.await.unwrap_or_else(|limit| Err(late(limit)))
    }

    /// Follows the task that the call has become.
    async fn follow(
        &mut self,
        bound: &Bound,
        connection: &Connection,
        (live, task): (Arc<Live>, Task),
        mut deadline: Deadline,
    ) -> Result<RawJson, CallError> {
        live.served();
        // It may be long, and outlives a connection.
        drop(live);
        let in_flight = connection.server_requests().begin(self.person.as_ref());
        let mut rounds = std::mem::take(&mut self.rounds);
        let (newest, seen) = watch::channel(None);
        let mut following = Following::new(connection, (&in_flight, &mut rounds), task);
        let result = following.result(&newest);
        let late = |limit| Lost::Failed(Failure::TimedOut { phase: Phase::Answering, after: limit });
        let result = self.watched(&mut deadline, &in_flight, seen, result).await;
        result.unwrap_or_else(|limit| Err(late(limit))).map_err(|lost| task::failed(bound, lost))
    }

    /// Whether the call is made as a task: where its tool has to be, and the server says that it can.
    fn is_task(&self, live: &Live) -> bool {
        self.as_task
            && matches!(live.session.spoken(), Spoken::Old(_))
            && task::is_offered(live.session.about())
    }

    fn reached(&self, live: &Live, answer: RawJson) -> Result<Reached, Failure> {
        let task = if self.is_task(live) { Task::created(&answer) } else { None };
        task.map_or(Ok(Reached::Answer(answer)), |task| task.map(Reached::Task))
    }

    /// What comes of some work, under the clock of the call: progress is passed on, and winds it up. Else the limit.
    async fn watched<T>(
        &self,
        deadline: &mut Deadline,
        in_flight: &InFlight<'_>,
        mut seen: watch::Receiver<Option<Progress>>,
        work: impl Future<Output = T>,
    ) -> Result<T, Duration> {
        let mut work = std::pin::pin!(work);
        let mut clock = Clock::new(deadline, in_flight.open_questions());
        let mut listening = true;
        let outcome = loop {
            tokio::select! {
                biased;
                done = &mut work => break Ok(done),
                changed = seen.changed(), if listening => {
                    listening = changed.is_ok();
                    self.forward(&mut seen);
                    // Who reports progress is at work (K2).
                    clock.wind_up();
                }
                () = clock.over() => break Err(deadline.limit),
            }
        };
        // The last progress may have come together with the answer.
        self.forward(&mut seen);
        clock.give_back(deadline);
        outcome
    }

    fn forward(&self, seen: &mut watch::Receiver<Option<Progress>>) {
        let newest = seen.borrow_and_update().clone();
        if let (Some(progress), Some(_)) = (&self.progress, &newest) {
            progress.send_replace(newest);
        }
    }
}

/// The arguments that a tool wants in headers too. Most tools mark none, and then nobody has to read them once more.
fn told(tool: &Tool, arguments: &RawJson) -> Vec<(String, String)> {
    let marked = &tool.header_params;
    let read = if marked.is_empty() { None } else { arguments.as_raw_value() };
    read.map(|arguments| tool::headers(marked, arguments)).unwrap_or_default()
}
