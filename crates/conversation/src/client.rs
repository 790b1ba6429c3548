//! The HTTP client of a model's API: sends a request, reads the answer stream, and retries.
//!
//! Proxies, certificates and time limits are those of all requests of this program, through [`Network`].

use std::sync::Arc;

use mcparley_model::limits::ERROR_BODY_BYTES;
use mcparley_model::limits::conversation::{ANSWER_EVENT_BYTES, ANSWER_SILENCE, ANSWER_STREAM_BYTES};
use mcparley_wire::Failure;
use mcparley_wire::transport::http::Network;
use mcparley_wire::transport::http::event::EventDecoder;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, Response};

use crate::answer::ModelAnswer;
use crate::api::{self, AnswerReader, ApiErrorResponse, ApiRequest};
use crate::choice::ModelChoice;
use crate::error::{ModelError, ModelErrorKind, StreamProblem};
use crate::event::{ConversationEvent, EventSink};
use crate::request::ModelRequest;
use crate::retry::retry_pause;

/// A client of a model's API. Cheap to clone; clones share their connections.
#[derive(Clone, Debug)]
pub struct ModelClient {
    choice: Arc<ModelChoice>,
    network: Network,
}

impl ModelClient {
    /// A client for the chosen model, which sends its requests through this network.
    #[must_use]
    pub fn new(choice: ModelChoice, network: Network) -> Self {
        Self { choice: Arc::new(choice), network }
    }

    /// The chosen model.
    #[must_use]
    pub fn choice(&self) -> &ModelChoice {
        &self.choice
    }

    /// A client for another model, on the same network.
    #[must_use]
    pub fn with_choice(&self, choice: ModelChoice) -> Self {
        Self { choice: Arc::new(choice), network: self.network.clone() }
    }

    /// Asks the model, and sends its text to `sink` as it arrives. Failed requests are repeated where that
    /// may help. Dropping the future cancels the request.
    pub(crate) async fn request_answer(
        &self,
        request: &ModelRequest<'_>,
        sink: &EventSink,
    ) -> Result<ModelAnswer, ModelError> {
        let api_request = api::write_request(&self.choice, request);
        let mut tries = 1;
        loop {
            let mut reader = StreamedAnswer::new(&self.choice, request.messages.len());
            let error = match self.try_request(&api_request, &mut reader, sink).await {
                Ok(()) => match reader.reader.finish() {
                    Ok(answer) => return Ok(answer),
                    Err(problem) => self.wrap_error(problem.into(), reader.has_begun),
                },
                Err(kind) => self.wrap_error(kind, reader.has_begun),
            };
            let Some(pause) = retry_pause(&error, tries) else { return Err(error) };
            sink.send(ConversationEvent::Retrying { reason: error.to_string(), pause }).await;
            tokio::time::sleep(pause).await;
            tries += 1;
        }
    }

    fn wrap_error(&self, kind: ModelErrorKind, has_begun: bool) -> ModelError {
        ModelError { provider: self.choice.provider(), kind, has_begun }
    }

    async fn try_request(
        &self,
        request: &ApiRequest,
        answer: &mut StreamedAnswer,
        sink: &EventSink,
    ) -> Result<(), ModelErrorKind> {
        let response = self.send_request(request).await?;
        if !response.status().is_success() {
            return Err(self.read_error(response).await);
        }
        answer.read_stream(response, sink).await
    }

    async fn send_request(&self, request: &ApiRequest) -> Result<Response, ModelErrorKind> {
        let unreachable = |failure: Failure| ModelErrorKind::Unreachable { failure };
        let client = self.network.client_for(&request.url).await.map_err(unreachable)?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        for (name, value) in &request.headers {
            // Keys were checked when they were chosen, so that all are valid here.
            if let Ok(mut value) = HeaderValue::from_str(value.expose()) {
                value.set_sensitive(true);
                headers.insert(*name, value);
            }
        }
        let builder = client.request(Method::POST, request.url.clone()).headers(headers);
        let sent = tokio::time::timeout(ANSWER_SILENCE, builder.body(request.body.clone()).send()).await;
        let sent = sent.map_err(|_| StreamProblem::Silent)?;
        sent.map_err(|error| unreachable(self.network.classify_error(&error, &request.url)))
    }

    async fn read_error(&self, mut response: Response) -> ModelErrorKind {
        let header = |name: &str| {
            let value = response.headers().get(name)?;
            value.to_str().ok().map(str::to_owned)
        };
        let (retry_after, retry_after_ms) = (header("retry-after"), header("retry-after-ms"));
        let status = response.status().as_u16();
        let mut body = Vec::new();
        // An error without a readable body is still an error.
        while let Ok(Ok(Some(chunk))) = tokio::time::timeout(ANSWER_SILENCE, response.chunk()).await {
            let room = ERROR_BODY_BYTES.saturating_sub(body.len());
            body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
            if room <= chunk.len() {
                break;
            }
        }
        api::classify_error_response(&ApiErrorResponse {
            status,
            retry_after: retry_after.as_deref(),
            retry_after_ms: retry_after_ms.as_deref(),
            body: &body,
            model: self.choice.model(),
        })
    }
}

/// An answer that is being received.
struct StreamedAnswer {
    reader: AnswerReader,
    /// Whether text of the answer was shown.
    has_begun: bool,
    received: usize,
}

impl StreamedAnswer {
    fn new(choice: &ModelChoice, number: usize) -> Self {
        Self { reader: AnswerReader::new(choice.provider(), number), has_begun: false, received: 0 }
    }

    /// Reads the stream to the end of the answer.
    async fn read_stream(&mut self, mut response: Response, sink: &EventSink) -> Result<(), ModelErrorKind> {
        let media = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if !media.is_some_and(|media| media.trim_start().starts_with("text/event-stream")) {
            return Err(StreamProblem::Malformed("it is not an event stream").into());
        }
        let mut decoder = EventDecoder::with_limit(ANSWER_EVENT_BYTES);
        while !self.reader.is_complete() {
            let chunk = tokio::time::timeout(ANSWER_SILENCE, response.chunk()).await;
            let chunk = chunk.map_err(|_| StreamProblem::Silent)?.map_err(|_| StreamProblem::BrokeOff)?;
            let Some(chunk) = chunk else { break };
            self.received = self.received.saturating_add(chunk.len());
            if self.received > ANSWER_STREAM_BYTES {
                return Err(StreamProblem::TooLarge { limit: ANSWER_STREAM_BYTES }.into());
            }
            self.read_chunk(&mut decoder, &chunk, sink).await?;
        }
        Ok(())
    }

    async fn read_chunk(
        &mut self,
        decoder: &mut EventDecoder,
        chunk: &[u8],
        sink: &EventSink,
    ) -> Result<(), ModelErrorKind> {
        let mut events = Vec::new();
        let fed = decoder.feed(chunk, &mut events);
        for event in &events {
            if let Some(text) = self.reader.read_event(event)?.filter(|text| !text.is_empty()) {
                self.has_begun = true;
                sink.send(ConversationEvent::TextDelta(text)).await;
            }
        }
        fed.map_err(|_| StreamProblem::TooLarge { limit: ANSWER_EVENT_BYTES }.into())
    }
}
