//! A whole agent loop around a host: ask the model, make its calls, return the results, until it is done.

use std::error::Error;

use mcparley::catalog::{Budget, Dialect, ModelCallError, ModelTools};
use mcparley::{Call, CallError, CallOutcome, Host};
use serde_json::{Value, json};

/// The maximum number of requests to the model.
const TURNS: usize = 30;

/// A model behind Anthropic's Messages API.
pub(crate) struct Model {
    pub(crate) http: reqwest::Client,
    /// Where the API is: `https://api.anthropic.com`.
    pub(crate) base: String,
    pub(crate) key: String,
    pub(crate) name: String,
}

/// One conversation.
pub(crate) struct Agent {
    pub(crate) host: Host,
    pub(crate) model: Model,
    pub(crate) budget: Budget,
    /// The tools that the model has been shown, in their order, so that the list only grows at its end.
    pub(crate) listed: Vec<String>,
}

impl Agent {
    /// Does a task; returns the final text of the model.
    pub(crate) async fn work_on(&mut self, task: &str) -> Result<String, Box<dyn Error>> {
        let mut messages = vec![json!({ "role": "user", "content": task })];
        let mut found: Vec<String> = Vec::new();
        for _ in 0..TURNS {
            let offer = self
                .host
                .publish_catalog()
                .model_offer(&self.budget)
                .with_earlier(&self.listed)
                .with_found(&found);
            self.listed = offer.listed.iter().map(|entry| entry.name.to_string()).collect();
            let tools = offer.for_model(Dialect::Anthropic);
            let answer = self.model.answer(&tools, &messages).await?;
            let content = answer["content"].as_array().cloned().unwrap_or_default();
            messages.push(json!({ "role": "assistant", "content": content }));
            if answer["stop_reason"] != "tool_use" {
                return Ok(content.iter().filter_map(|block| block["text"].as_str()).collect());
            }
            let wishes: Vec<&Value> = content.iter().filter(|block| block["type"] == "tool_use").collect();
            let results = self.run(&tools, &wishes, &mut found).await;
            messages.push(json!({ "role": "user", "content": results }));
        }
        Err("the model does not come to an end".into())
    }

    /// Makes the calls of one turn: read-only ones concurrently, the rest in order.
    async fn run(&self, tools: &ModelTools, wishes: &[&Value], found: &mut Vec<String>) -> Vec<Value> {
        let name = |wish: &Value| wish["name"].as_str().unwrap_or_default().to_owned();
        let (mut misread, mut made): (Vec<Option<ModelCallError>>, Vec<Call>) = (Vec::new(), Vec::new());
        for wish in wishes {
            match tools.call(&name(wish), wish["input"].clone()) {
                Ok(call) => {
                    misread.push(None);
                    made.push(call.into());
                }
                Err(error) => misread.push(Some(error)),
            }
        }
        let mut outcomes = self.host.call_all(made).await.into_iter();
        let mut results = Vec::new();
        for (wish, misread) in wishes.iter().zip(misread) {
            let outcome = if misread.is_none() { outcomes.next() } else { None };
            if let ("ToolSearch", Some(Ok(outcome))) = (name(wish).as_str(), &outcome) {
                found.extend(names_in(outcome));
            }
            let (text, is_error) = told(misread, outcome);
            results.push(json!({
                "type": "tool_result", "tool_use_id": wish["id"], "content": text, "is_error": is_error,
            }));
        }
        results
    }
}

/// The result of a call for the model. Errors are in words it can act on.
fn told(misread: Option<ModelCallError>, outcome: Option<Result<CallOutcome, CallError>>) -> (String, bool) {
    match (misread, outcome) {
        (Some(error), _) => (error.to_string(), true),
        (None, Some(Ok(outcome))) => (outcome.to_text(), outcome.is_error),
        (None, Some(Err(error))) => (error.to_string(), true),
        (None, None) => ("the call was not made".to_owned(), true),
    }
}

/// The tools that a search found.
fn names_in(outcome: &CallOutcome) -> Vec<String> {
    let found =
        outcome.structured.as_ref().and_then(|json| serde_json::from_str::<Value>(json.as_str()).ok());
    let tools = found.as_ref().and_then(|found| found["tools"].as_array()).cloned().unwrap_or_default();
    tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
}

impl Model {
    async fn answer(&self, tools: &ModelTools, messages: &[Value]) -> Result<Value, Box<dyn Error>> {
        let body =
            json!({ "model": self.name, "max_tokens": 4096, "tools": tools.tools, "messages": messages });
        let request = self.http.post(format!("{}/v1/messages", self.base)).header("x-api-key", &self.key);
        let request =
            request.header("anthropic-version", "2023-06-01").header("content-type", "application/json");
        let response = request.body(body.to_string()).send().await?;
        let (status, text) = (response.status(), response.text().await?);
        if !status.is_success() {
            return Err(format!("the model's API answers {status}: {text}").into());
        }
        Ok(serde_json::from_str(&text)?)
    }
}
