//! What a call goes through before its server answers: rounds of wishes, and pages that a person has to visit (K3, H31).
//!
//! A server of the new era answers with what it wants, and the request is made again with that (SEP-2322); one of
//! 2025-11-25 refuses with the pages to visit. Both end after [`ROUNDS`]. What a server wants to be told again stands in
//! that one repetition, as it was written, and nowhere else (B115).

use std::borrow::Cow;

use mcparley_model::limits::{INPUT_REQUESTS, ROUNDS};
use mcparley_wire::{Failure, Params, RawJson, RpcError, URL_REQUIRED, Want, Wanted};
use serde_json::{Map, Value};

use crate::elicit::{Desk, Unanswered};

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
    pages: u32,
    /// What the next request has to say besides.
    given: Option<Given>,
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
    pub(super) async fn fulfil(&mut self, desk: &Desk, wanted: Wanted) -> Result<(), Unanswered> {
        let Wanted { requests, state } = wanted;
        let is_asked = !requests.is_empty();
        let responses = self.answers(desk, requests).await?;
        self.given = Some(Given { responses: is_asked.then_some(responses), state });
        Ok(())
    }

    /// What the server is told, by what it calls its wishes.
    pub(super) async fn answers(&mut self, desk: &Desk, requests: Vec<Want>) -> Result<RawJson, Unanswered> {
        count(&mut self.wishes)?;
        let mut responses = Map::new();
        for want in requests {
            let response = desk.fulfil(&want.method, want.params.as_ref()).await?;
            responses.insert(want.key, response);
        }
        let unwritten = |_| Unanswered::Unaskable { reason: "the answer cannot be written".into() };
        RawJson::of(&Value::Object(responses)).map_err(unwritten)
    }

    /// Has the pages visited, one after the other.
    pub(super) async fn visit(&mut self, desk: &Desk, pages: Vec<RawJson>) -> Result<(), Unanswered> {
        count(&mut self.pages)?;
        for page in pages {
            desk.visit(&page).await?;
        }
        Ok(())
    }
}

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
