//! Makes requests that are no calls of tools: they only read, so they are repeated where the connection was the trouble.
//!
//! Prompts and resources are had this way, in as many rounds as their servers want. Who may ask for them is decided
//! elsewhere.

mod error;

use std::sync::Arc;

use mcparley_model::limits::REQUEST_LIMIT;
use mcparley_model::name::ServerName;
use mcparley_wire::peer::CallOptions;
use mcparley_wire::{Answered, Failure, Params, Phase, RawJson};

use super::deadline::{Clock, Deadline};
use super::recovery::{Nature, Spent, Step, next_step};
use super::rounds::{self, Halt, Rounds};
use super::task;
use crate::connection::{Connection, Epoch, Live, Unavailable};
use crate::elicit::{InFlight, ServerRequests};
use crate::host::Host;

pub use error::RequestError;

/// What is asked for.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: &'static str,
    /// What a server must offer to be asked (T9).
    pub(crate) capability: &'static str,
    pub(crate) params: Params,
}

impl Host {
    /// Asks a server, which is reached first if it has to be.
    pub(crate) async fn request(
        &self,
        server: &ServerName,
        request: Request,
    ) -> Result<RawJson, RequestError> {
        let mut connection = self.connection(server).ok_or_else(|| self.no_such_server(server.as_str()))?;
        let mut deadline = Deadline::lasting(connection.config.timeout.unwrap_or(REQUEST_LIMIT));
        let (mut rounds, mut spent, mut stale) = (Rounds::default(), Spent::default(), Epoch::default());
        loop {
            let live = match deadline.lease_after(&connection, stale).await {
                Ok(live) => live,
                Err(why) => {
                    // Its entry changed: the request goes to the server that has its name now.
                    connection = self.successor(&connection, &why).ok_or_else(|| unavailable(server, why))?;
                    stale = Epoch::default();
                    continue;
                }
            };
            if !live.session.about().offers(request.capability) {
                return Err(RequestError::NotOffered { server: server.clone(), what: request.capability });
            }
            let failure =
                match request.run(&live, &mut deadline, &mut rounds, connection.server_requests()).await {
                    Ok(answer) => {
                        live.served();
                        return Ok(answer);
                    }
                    Err(Halt::Unanswered(why)) => {
                        let method = request.method;
                        return Err(RequestError::Unanswered { server: server.clone(), method, why });
                    }
                    Err(Halt::Failed(failure)) => failure,
                };
            let nature = Nature { harmless: true, has_headers: false, person: self.person(&connection) };
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
                Step::SignIn => {
                    connection.needs_auth(live.epoch).await;
                    return Err(unavailable(server, Unavailable::NeedsAuth));
                }
                Step::AskMore => {
                    drop(live);
                    deadline.aside(Box::pin(self.step_up(&connection))).await
                }
                Step::Relist | Step::GiveUp => false,
            };
            if !goes_on {
                return Err(request.failed(&connection, failure));
            }
            spent.repeats += 1;
        }
    }

    /// Why there is nobody to ask.
    pub(crate) fn no_such_server(&self, name: &str) -> RequestError {
        let (similar, because) = (self.servers_like(name), self.loaded().why_not(name));
        RequestError::UnknownServer { name: name.to_owned(), similar, because }
    }
}

impl Request {
    /// Makes the request until it has its result: whatever the server wants first, it gets.
    async fn run(
        &self,
        live: &Live,
        deadline: &mut Deadline,
        rounds: &mut Rounds,
        server_requests: &ServerRequests,
    ) -> Result<RawJson, Halt> {
        let in_flight = server_requests.begin(None);
        loop {
            let went_on = match self.send(live, deadline, rounds, &in_flight).await {
                Ok(Answered::Complete(answer)) => return Ok(answer),
                Ok(Answered::Wants(wanted)) => {
                    deadline.aside(Box::pin(rounds.fulfil(server_requests, &in_flight, wanted))).await
                }
                Ok(Answered::Task(_)) => return Err(Halt::Failed(task::out_of_place())),
                Err(Failure::Answered(error)) => match rounds::pages(&error) {
                    Some(pages) => {
                        deadline.aside(Box::pin(rounds.visit(server_requests, &in_flight, pages))).await
                    }
                    None => return Err(Halt::Failed(Failure::Answered(error))),
                },
                Err(failure) => return Err(Halt::Failed(failure)),
            };
            went_on.map_err(Halt::Unanswered)?;
        }
    }

    /// One request. Its clock stands still while a person is asked (K2).
    async fn send(
        &self,
        live: &Live,
        deadline: &mut Deadline,
        rounds: &Rounds,
        in_flight: &InFlight<'_>,
    ) -> Result<Answered, Failure> {
        let params = rounds.params(&self.params);
        let mut clock = Clock::new(deadline, in_flight.open_questions());
        let outcome = tokio::select! {
            biased;
            answer = live.session.round(self.method, &params, CallOptions::default()) => answer,
            () = clock.over() => Err(Failure::TimedOut { phase: Phase::Answering, after: deadline.limit }),
        };
        clock.give_back(deadline);
        outcome
    }

    fn failed(&self, connection: &Arc<Connection>, failure: Failure) -> RequestError {
        let (server, failure) = (connection.name.clone(), connection.log().tellable(failure));
        RequestError::Failed { server, method: self.method, failure }
    }
}

fn unavailable(server: &ServerName, why: Unavailable) -> RequestError {
    RequestError::Unavailable { server: server.clone(), why }
}
