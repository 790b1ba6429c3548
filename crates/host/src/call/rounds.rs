//! What a call goes through before its server answers: rounds of wishes, and pages that a person has to visit (K3, H31).
//!
//! A server of the new era answers with what it wants, and the request is made again with that (SEP-2322); one of
//! 2025-11-25 refuses with the pages to visit. Both end after [`ROUNDS`]. What a server wants to be told again stands in
//! that one repetition, as it was written, and nowhere else (B115).

use std::borrow::Cow;
use std::time::Duration;

use mcparley_model::limits::{INPUT_REQUESTS, PAGE_PAUSE, PAGE_PAUSE_LONGEST, PAGE_TIME, ROUNDS};
use mcparley_wire::{Failure, Params, RawJson, RpcError, URL_REQUIRED, Want, Wanted};
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::elicit::{InFlight, RequestedPage, ServerRequests, Unanswered};

/// Why a request that may take several rounds has no result.
#[derive(Debug)]
pub(super) enum Halt {
    /// It failed.
    Failed(Failure),
    /// What its server wanted first was not to be had.
    Unanswered(Unanswered),
}

/// How far a call is.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    wishes: u32,
    /// The pages that the person has agreed to visit.
    pages: Vec<VisitedPage>,
    /// What the next request has to say besides.
    given: Option<Given>,
}

/// A page that the person has agreed to visit.
#[derive(Debug)]
struct VisitedPage {
    url: String,
    /// When the person agreed.
    since: Instant,
    /// How long the next pause is before the call is repeated.
    pause: Duration,
    /// Whether the person can still say to be done there: that cuts one pause short.
    can_be_done: bool,
}

/// What a server wanted, for the one request that it belongs to.
#[derive(Debug)]
struct Given {
    responses: Option<RawJson>,
    state: Option<RawJson>,
}

impl Rounds {
    /// The parameters of the next request.
    pub(super) fn params<'p>(&self, params: &'p Params) -> Cow<'p, Params> {
        let Some(Given { responses, state }) = &self.given else { return Cow::Borrowed(params) };
        let mut params = params.clone();
        if let Some(responses) = responses {
            params = params.with_raw("inputResponses", responses);
        }
        if let Some(state) = state {
            params = params.with_raw("requestState", state);
        }
        Cow::Owned(params)
    }

    /// Fulfils what the server wants, one after the other.
    pub(super) async fn fulfil(
        &mut self,
        server_requests: &ServerRequests,
        call: &InFlight<'_>,
        wanted: Wanted,
    ) -> Result<(), Unanswered> {
        let Wanted { requests, state } = wanted;
        let is_asked = !requests.is_empty();
        let responses = self.answers(server_requests, call, requests).await?;
        self.given = Some(Given { responses: is_asked.then_some(responses), state });
        Ok(())
    }

    /// What the server is told, by what it calls its wishes.
    pub(super) async fn answers(
        &mut self,
        server_requests: &ServerRequests,
        call: &InFlight<'_>,
        requests: Vec<Want>,
    ) -> Result<RawJson, Unanswered> {
        count(&mut self.wishes)?;
        let mut responses = Map::new();
        for want in requests {
            let response = server_requests.fulfil(call, &want.method, want.params.as_ref()).await?;
            responses.insert(want.key, response);
        }
        let unwritten = |_| Unanswered::Unaskable { reason: "the answer cannot be written".into() };
        RawJson::of(&Value::Object(responses)).map_err(unwritten)
    }

    /// Has the pages visited, one after the other. The call is repeated as soon as the person has agreed to the last one;
    /// while its server asks for the same pages again, with growing pauses.
    pub(super) async fn visit(
        &mut self,
        server_requests: &ServerRequests,
        call: &InFlight<'_>,
        pages: Vec<RawJson>,
    ) -> Result<(), Unanswered> {
        let mut known = None;
        let mut has_new = false;
        for page in pages {
            let page = server_requests.read_page(&page)?;
            if self.pages.iter().any(|visited| visited.url == page.url) {
                known = Some(page);
                continue;
            }
            if self.pages.len() >= PAGES {
                return Err(Unanswered::Endless { rounds: ROUNDS });
            }
            server_requests.ask_for_visit(call, &page).await?;
            has_new = true;
            self.pages.push(VisitedPage {
                url: page.url,
                since: Instant::now(),
                pause: PAGE_PAUSE,
                can_be_done: true,
            });
        }
        match known.filter(|_| !has_new) {
            Some(page) => self.pause_for(server_requests, call, &page).await,
            None => Ok(()),
        }
    }

    /// Lets some time pass at a page that the server asks for still.
    async fn pause_for(
        &mut self,
        server_requests: &ServerRequests,
        call: &InFlight<'_>,
        page: &RequestedPage,
    ) -> Result<(), Unanswered> {
        let Some(visited) = self.pages.iter_mut().find(|visited| visited.url == page.url) else {
            return Ok(());
        };
        if visited.since.elapsed() >= PAGE_TIME {
            return Err(Unanswered::PageUnfinished { url: page.url.clone() });
        }
        let pause = visited.pause;
        visited.pause = (pause * 2).min(PAGE_PAUSE_LONGEST);
        let can_be_done = std::mem::replace(&mut visited.can_be_done, false);
        server_requests.await_visit(call, page, (pause, can_be_done)).await;
        Ok(())
    }
}

/// How many pages a person is asked to visit for one call.
const PAGES: usize = ROUNDS as usize;

fn count(rounds: &mut u32) -> Result<(), Unanswered> {
    if *rounds >= ROUNDS {
        return Err(Unanswered::Endless { rounds: ROUNDS });
    }
    *rounds += 1;
    Ok(())
}

/// The pages that have to be visited before a call can be answered, if that is what the error says.
pub(super) fn pages(error: &RpcError) -> Option<Vec<RawJson>> {
    let data = error.data.as_ref().filter(|_| error.code == URL_REQUIRED)?;
    data.elements("elicitations").filter(|pages| !pages.is_empty() && pages.len() <= INPUT_REQUESTS)
}
