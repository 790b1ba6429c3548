//! Sampling requests of servers, answered by the model after the user was asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcparley::BoxedFuture;
use mcparley::model::name::ServerName;
use mcparley::sample::{Sampler as _, SamplingRefusal, SamplingRequest};
use mcparley_conversation::{ModelSampler, SamplingApprover};
use serde_json::json;

use crate::stage::{Stage, server};

/// A user who answers all questions alike, and records that there was one.
#[derive(Default)]
struct User {
    approves: bool,
    was_asked: AtomicBool,
}

impl SamplingApprover for User {
    fn approve_request<'a>(&'a self, request: &'a SamplingRequest) -> BoxedFuture<'a, bool> {
        assert_eq!(request.server, ServerName::new("asks"));
        self.was_asked.store(true, Ordering::SeqCst);
        Box::pin(std::future::ready(self.approves))
    }
}

/// The answer to a scripted server that samples, with this user.
async fn sample(user: Arc<User>, turns: &serde_json::Value) -> (String, Stage) {
    let stage = Stage::new(server(), turns).await;
    let sampler = ModelSampler::new(stage.client("anthropic"), user);
    let answer = match sampler.sample(&request()).await {
        Ok(result) => {
            format!("{} {}", result.content[0]["text"].as_str().unwrap(), result.stop_reason.unwrap())
        }
        Err(SamplingRefusal::Declined) => "declined".to_owned(),
        Err(other) => other.to_string(),
    };
    (answer, stage)
}

/// A request of a server.
fn request() -> SamplingRequest {
    let request = SamplingRequest {
        server: ServerName::new("asks"),
        messages: Vec::new(),
        system_prompt: None,
        max_tokens: Some(50),
        preferences: Default::default(),
        stop_sequences: Vec::new(),
        temperature: None,
        include_context: None,
        tools: Vec::new(),
        tool_choice: Default::default(),
        raw: mcparley::results::RawJson::from_text("{}"),
    };
    let message = mcparley::sample::SamplingMessage {
        role: mcparley::sample::Role::User,
        content: vec![mcparley::sample::SamplingPart::Text("capital of France?".into())],
    };
    SamplingRequest { messages: vec![message], ..request }
}

// X6
#[tokio::test]
async fn sampling_request_goes_to_the_model_after_the_user_approved_it() {
    let user = Arc::new(User { approves: true, ..User::default() });
    let (answer, stage) = sample(Arc::clone(&user), &json!([{ "text": "Paris" }])).await;
    assert_eq!(answer, "Paris endTurn");
    assert!(user.was_asked.load(Ordering::SeqCst));
    let body = &stage.model.bodies()[0];
    // The server's request gets neither the tools nor the instructions of other servers.
    assert_eq!((body.get("tools"), body.get("system"), &body["max_tokens"]), (None, None, &json!(50)));
}

// X6 U4
#[tokio::test]
async fn sampling_requests_go_to_the_model_that_was_set_last() {
    let stage = Stage::new(server(), &json!([{ "text": "Paris" }])).await;
    let user = Arc::new(User { approves: true, ..User::default() });
    let sampler = ModelSampler::new(stage.client("anthropic"), user);
    sampler.clone().set_client(stage.client("openai"));
    sampler.sample(&request()).await.unwrap();
    assert_eq!(stage.model.requests()[0]["path"], "/v1/chat/completions");
}

// X6
#[tokio::test]
async fn declined_sampling_request_never_reaches_the_model() {
    let (answer, stage) = sample(Arc::new(User::default()), &json!([])).await;
    assert_eq!(answer, "declined");
    assert_eq!(stage.model.requests(), Vec::<serde_json::Value>::new());
}
