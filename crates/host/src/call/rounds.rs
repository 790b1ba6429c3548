//! Multi round-trip requests: answers the input requests of a server, and has pages visited, until the
//! server answers the call.
//!
//! A server of the new era answers with the input it requires, and the request is sent again with that input
//! (SEP-2322); one of 2025-11-25 fails with the pages to visit. Both end after [`ROUNDS`] rounds. The
//! `requestState` of a server is returned byte for byte in that one repetition, and is stored nowhere else.

use std::borrow::Cow;
use std::time::Duration;

use mcparley_model::limits::{INPUT_REQUESTS, PAGE_PAUSE, PAGE_PAUSE_LONGEST, PAGE_TIME, ROUNDS};
use mcparley_wire::{
    AgreedProtocol, Failure, INVALID_PARAMS, InputRequest, RawJson, RequestParams, RequiredInput, RpcError,
    URL_REQUIRED,
};
use serde_json::{Map, Value};
use tokio::time::Instant;

use mcparley_pool::elicit::UnansweredRequest;
use mcparley_pool::server_requests::{InFlightGuard, RequestedPage, ServerRequests};

/// The reason why a request of several rounds has no result.
#[derive(Debug)]
pub(super) enum RoundTripError {
    /// The request failed.
    Failed(Failure),
    /// The server's input request could not be answered.
    Unanswered(UnansweredRequest),
}

/// The round trips of one call so far.
#[derive(Debug, Default)]
pub(super) struct RoundTrips {
    count: u32,
    /// The pages that the user has agreed to visit.
    pages: Vec<VisitedPage>,
    /// The input for the next request. Boxed: it is rare, and would enlarge the future of every call.
    next_input: Option<Box<RequestedInput>>,
}

/// A page that the user has agreed to visit.
#[derive(Debug)]
struct VisitedPage {
    url: String,
    /// The time at which the user agreed.
    since: Instant,
    /// The length of the next pause before the call is repeated.
    pause: Duration,
    /// Whether the user can still report the visit as done, which ends one pause early.
    can_be_done: bool,
}

/// The input that a server requested, for the one request it belongs to.
#[derive(Debug, Default)]
struct RequestedInput {
    responses: Option<RawJson>,
    state: Option<RawJson>,
}

impl RoundTrips {
    /// The parameters of the next request, with the requested input.
    pub(super) fn next_params<'p>(
        &self,
        params: &'p RequestParams,
        protocol: AgreedProtocol,
    ) -> Cow<'p, RequestParams> {
        let (Some(RequestedInput { responses, state }), AgreedProtocol::New) =
            (self.next_input.as_deref(), protocol)
        else {
            return Cow::Borrowed(params);
        };
        let mut params = params.clone();
        if let Some(responses) = responses {
            params = params.with_raw("inputResponses", responses);
        }
        if let Some(state) = state {
            params = params.with_raw("requestState", state);
        }
        Cow::Owned(params)
    }

    /// Sets the input that the client of a gateway has brought with its repeated request.
    pub(super) fn set_responses(&mut self, responses: RawJson) {
        self.next_input.get_or_insert_default().responses = Some(responses);
    }

    /// Sets the state of the server that the client of a gateway has brought back.
    pub(super) fn set_state(&mut self, state: RawJson) {
        self.next_input.get_or_insert_default().state = Some(state);
    }

    /// Checks that a state which the client of a gateway has brought back can be the server's.
    ///
    /// # Errors
    /// When the server is of the old era, which has no such states.
    pub(super) fn check_state(&self, protocol: AgreedProtocol) -> Result<(), Failure> {
        let has_state = self.next_input.as_ref().is_some_and(|input| input.state.is_some());
        match (has_state, protocol) {
            (true, AgreedProtocol::Old(_)) => Err(Failure::ErrorResponse(RpcError::new(
                INVALID_PARAMS,
                "`requestState` is not valid for this request",
            ))),
            (true, AgreedProtocol::New) | (false, _) => Ok(()),
        }
    }

    /// Answers the input requests of the server, in order, and keeps the input for the next request.
    pub(super) async fn fulfill_requests(
        &mut self,
        server_requests: &ServerRequests,
        call: &InFlightGuard<'_>,
        wanted: Box<RequiredInput>,
    ) -> Result<(), UnansweredRequest> {
        let RequiredInput { requests, state, result: _ } = *wanted;
        let is_asked = !requests.is_empty();
        let responses = self.collect_responses(server_requests, call, requests).await?;
        self.next_input = Some(Box::new(RequestedInput { responses: is_asked.then_some(responses), state }));
        Ok(())
    }

    /// Collects the responses to input requests, by the keys that the server gave them.
    pub(super) async fn collect_responses(
        &mut self,
        server_requests: &ServerRequests,
        call: &InFlightGuard<'_>,
        requests: Vec<InputRequest>,
    ) -> Result<RawJson, UnansweredRequest> {
        count_round(&mut self.count)?;
        let keys: Vec<String> = requests.iter().map(|request| request.key.clone()).collect();
        if let Some(answers) = server_requests.relay_input(call, requests.clone()).await {
            return Ok(join_responses(&keys, &answers?));
        }
        let mut responses = Map::new();
        for want in requests {
            let response =
                server_requests.answer_input_request(call, &want.method, want.params.as_ref()).await?;
            responses.insert(want.key, response);
        }
        let unwritten =
            |_| UnansweredRequest::InvalidRequest { reason: "the answer cannot be written".into() };
        RawJson::from_value(&Value::Object(responses)).map_err(unwritten)
    }

    /// Asks the user to visit pages, in order. The call is repeated as soon as the user has agreed to the
    /// last one; while the server asks for the same pages again, it is repeated with exponential backoff.
    pub(super) async fn visit_pages(
        &mut self,
        server_requests: &ServerRequests,
        call: &InFlightGuard<'_>,
        pages: Vec<RawJson>,
    ) -> Result<(), UnansweredRequest> {
        let mut known = None;
        let mut has_new = false;
        for page in pages {
            let page = server_requests.parse_page(&page)?;
            if self.pages.iter().any(|visited| visited.url == page.url) {
                known = Some(page);
                continue;
            }
            if self.pages.len() >= PAGES {
                return Err(UnansweredRequest::TooManyRounds { rounds: ROUNDS });
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
            Some(page) => self.wait_at_page(server_requests, call, &page).await,
            None => Ok(()),
        }
    }

    /// Waits at a page that the server still asks for; the pause doubles each time.
    async fn wait_at_page(
        &mut self,
        server_requests: &ServerRequests,
        call: &InFlightGuard<'_>,
        page: &RequestedPage,
    ) -> Result<(), UnansweredRequest> {
        let Some(visited) = self.pages.iter_mut().find(|visited| visited.url == page.url) else {
            return Ok(());
        };
        if visited.since.elapsed() >= PAGE_TIME {
            return Err(UnansweredRequest::PageUnfinished { url: page.url.clone() });
        }
        let pause = visited.pause;
        visited.pause = (pause * 2).min(PAGE_PAUSE_LONGEST);
        let can_be_done = visited.can_be_done;
        let is_done = server_requests.await_visit(call, page, (pause, can_be_done)).await;
        visited.can_be_done = can_be_done && !is_done;
        Ok(())
    }
}

/// The maximum number of pages that the user is asked to visit for one call.
const PAGES: usize = ROUNDS as usize;

/// The object of responses, each as the client wrote it.
fn join_responses(keys: &[String], answers: &[RawJson]) -> RawJson {
    let members = keys.iter().zip(answers);
    let members: Vec<String> =
        members.map(|(key, answer)| format!("{}:{}", Value::from(key.as_str()), answer.as_str())).collect();
    RawJson::from_text(&format!("{{{}}}", members.join(",")))
}

fn count_round(rounds: &mut u32) -> Result<(), UnansweredRequest> {
    if *rounds >= ROUNDS {
        return Err(UnansweredRequest::TooManyRounds { rounds: ROUNDS });
    }
    *rounds += 1;
    Ok(())
}

/// The pages that must be visited before a call can be answered, if the error names any.
pub(super) fn required_pages(error: &RpcError) -> Option<Vec<RawJson>> {
    let data = error.data.as_ref().filter(|_| error.code == URL_REQUIRED)?;
    data.member_elements("elicitations").filter(|pages| !pages.is_empty() && pages.len() <= INPUT_REQUESTS)
}
