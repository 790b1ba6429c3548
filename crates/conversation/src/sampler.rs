//! Sampling requests of servers, answered by the model of the console.
//!
//! A server's request gets no tools and no part of the user's conversation. The user decides on each request
//! through a [`SamplingApprover`], because the request may contain instructions for the model and costs money.

use std::sync::{Arc, Mutex, PoisonError};

use mcparley::results::read_blocks;
use mcparley::sample::{
    Role, Sampler, SamplingMessage, SamplingPart, SamplingRefusal, SamplingRequest, SamplingResult,
};
use mcparley::{BoxedFuture, ContentBlock};
use mcparley_model::limits::conversation::ANSWER_TOKENS;
use serde_json::value::to_raw_value;

use crate::answer::{ModelAnswer, StopReason};
use crate::client::ModelClient;
use crate::event::EventSink;
use crate::message::{AnswerPart, Message};
use crate::request::{ModelRequest, SamplingSettings};

/// Asks the user about a sampling request.
pub trait SamplingApprover: Send + Sync + 'static {
    /// Whether the request may be sent to the model. All its texts come from the server.
    fn approve_request<'a>(&'a self, request: &'a SamplingRequest) -> BoxedFuture<'a, bool>;

    /// Whether the server may be given this answer.
    fn approve_result<'a>(&'a self, request: &'a SamplingRequest, text: &'a str) -> BoxedFuture<'a, bool> {
        let _unread = (request, text);
        Box::pin(std::future::ready(true))
    }
}

/// Answers sampling requests with a model, after the user approved them. Clones share the model.
#[derive(Clone)]
pub struct ModelSampler {
    client: Arc<Mutex<ModelClient>>,
    approver: Arc<dyn SamplingApprover>,
}

impl ModelSampler {
    /// A sampler that uses this model.
    #[must_use]
    pub fn new(client: ModelClient, approver: Arc<dyn SamplingApprover>) -> Self {
        Self { client: Arc::new(Mutex::new(client)), approver }
    }

    /// Answers later requests with another model.
    pub fn set_client(&self, client: ModelClient) {
        *self.client.lock().unwrap_or_else(PoisonError::into_inner) = client;
    }

    fn client(&self) -> ModelClient {
        // A client stays whole even if another holder of the lock panicked.
        self.client.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn answer(&self, request: &SamplingRequest) -> Result<SamplingResult, SamplingRefusal> {
        if !self.approver.approve_request(request).await {
            return Err(SamplingRefusal::Declined);
        }
        let messages: Vec<Message> = request.messages.iter().map(convert_message).collect();
        let sampling = SamplingSettings {
            max_tokens: request.max_tokens.map(|tokens| tokens.clamp(1, ANSWER_TOKENS)),
            temperature: request.temperature,
            stop_sequences: &request.stop_sequences,
        };
        let system = request.system_prompt.as_deref().unwrap_or_default();
        let model_request = ModelRequest { system, messages: &messages, tools: None, sampling };
        let client = self.client();
        let answer = client.request_answer(&model_request, &EventSink::discarding()).await;
        let answer = answer.map_err(|error| SamplingRefusal::Failed { reason: error.to_string() })?;
        let text = answer.text();
        if !self.approver.approve_result(request, &text).await {
            return Err(SamplingRefusal::Declined);
        }
        Ok(convert_answer(client.choice().model(), &answer, &text))
    }
}

fn convert_answer(model: &str, answer: &ModelAnswer, text: &str) -> SamplingResult {
    let reason = match &answer.stop {
        StopReason::EndTurn => "endTurn",
        StopReason::MaxTokens => "maxTokens",
        StopReason::StopSequence => "stopSequence",
        other => other.as_str(),
    };
    let mut result = SamplingResult::from_text(model, text);
    result.stop_reason = Some(reason.to_owned());
    result
}

impl Sampler for ModelSampler {
    fn sample<'s>(
        &'s self,
        request: &'s SamplingRequest,
    ) -> BoxedFuture<'s, Result<SamplingResult, SamplingRefusal>> {
        Box::pin(self.answer(request))
    }
}

impl std::fmt::Debug for ModelSampler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelSampler").field("client", &self.client).finish_non_exhaustive()
    }
}

fn convert_message(message: &SamplingMessage) -> Message {
    match message.role {
        Role::User => Message::User(message.content.iter().flat_map(convert_part).collect()),
        Role::Assistant => {
            Message::Assistant(vec![AnswerPart::Text { text: message.text(), signature: None }])
        }
    }
}

fn convert_part(part: &SamplingPart) -> Vec<ContentBlock> {
    match part {
        SamplingPart::Text(text) => vec![ContentBlock::Text(text.clone())],
        SamplingPart::Block(block) => match to_raw_value(block) {
            Ok(raw) => read_blocks(&[&raw]),
            Err(_) => Vec::new(),
        },
    }
}
