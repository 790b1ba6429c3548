//! The calls of one answer: read-only tools concurrently, others in order, each through the host's pipeline.

use std::time::Duration;

use mcparley::call::BatchStep;
use mcparley::catalog::{BuiltIn, ModelTools};
use mcparley::results::RawJson;
use mcparley::{Call, CallError, CallOutcome, ContentBlock};
use serde_json::Value;
use tokio::sync::mpsc;

use super::Conversation;
use crate::call_label::tool_label;
use crate::event::{ConversationEvent, EventSink, FinishedTool, StartedTool, ToolCallStatus};
use crate::message::{ModelToolCall, ToolReply};

/// A step of a running batch. The channel holds two of them for each call, so it needs no limit.
enum CallStep {
    Started(usize),
    Finished { call: usize, result: Result<CallOutcome, CallError>, duration: Duration },
}

/// A call with its name in the catalog.
struct NamedCall {
    request: ModelToolCall,
    started: StartedTool,
}

impl Conversation {
    /// Runs the calls of an answer and adds their results to the history.
    pub(super) async fn run_calls(
        &mut self,
        tools: &ModelTools,
        requests: Vec<ModelToolCall>,
        sink: &EventSink,
    ) -> Vec<FinishedTool> {
        let mut finished = Vec::with_capacity(requests.len());
        let (mut named, mut calls, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for (place, request) in requests.into_iter().enumerate() {
            match tools.call(&request.name, request.arguments.clone()) {
                Ok(call) => {
                    let started = self.describe_call(&request, call.name.as_str(), &call.arguments);
                    calls.push(Call::from(call).with_use_id(&request.id));
                    named.push(NamedCall { request, started });
                    places.push(place);
                }
                Err(error) => finished.push(self.reject_call(place, request, &error.to_string(), sink).await),
            }
        }
        let (sender, mut steps) = mpsc::unbounded_channel();
        let host = self.host.clone();
        let observe = move |call: usize, step: BatchStep<'_>| {
            // The receiver lives as long as the batch.
            let _sent = sender.send(CallStep::from_batch(call, step));
        };
        let mut batch = Box::pin(host.call_all_observed(calls, &observe));
        loop {
            tokio::select! {
                biased;
                Some(step) = steps.recv() => {
                    finished.extend(self.apply_step(step, &named, &places, sink).await);
                }
                // The results have come as steps, too.
                _results = &mut batch => break,
            }
        }
        while let Ok(step) = steps.try_recv() {
            finished.extend(self.apply_step(step, &named, &places, sink).await);
        }
        self.history.close_calls();
        finished
    }

    /// Announces a step, and records the result of a finished call.
    async fn apply_step(
        &mut self,
        step: CallStep,
        named: &[NamedCall],
        places: &[usize],
        sink: &EventSink,
    ) -> Option<FinishedTool> {
        match step {
            CallStep::Started(call) => {
                sink.send(ConversationEvent::ToolStarted(named.get(call)?.started.clone())).await;
                None
            }
            CallStep::Finished { call, result, duration } => {
                let NamedCall { request, started } = named.get(call)?;
                let tool = finish_tool(started, &result, duration);
                if let (true, Ok(outcome)) = (started.name == BuiltIn::ToolSearch.as_str(), &result) {
                    self.offered_tools.add_found(outcome);
                }
                self.history.set_result(*places.get(call)?, answer_call(request, result));
                sink.send(ConversationEvent::ToolFinished(tool.clone())).await;
                Some(tool)
            }
        }
    }

    /// Answers a call that cannot be made, because the tool or its arguments are invalid.
    async fn reject_call(
        &mut self,
        place: usize,
        request: ModelToolCall,
        message: &str,
        sink: &EventSink,
    ) -> FinishedTool {
        let started = StartedTool {
            id: request.id.clone(),
            name: request.name.clone(),
            label: request.name.clone(),
            arguments: request.arguments.clone(),
        };
        let mut tool = FinishedTool::new(&started, ToolCallStatus::Invalid, Duration::ZERO);
        tool.error = Some(message.to_owned());
        tool.text = message.to_owned();
        let ModelToolCall { id, is_own_id, name, .. } = request;
        self.history.set_result(place, ToolReply { id, is_own_id, name, answer: Err(message.to_owned()) });
        sink.send(ConversationEvent::ToolStarted(started)).await;
        sink.send(ConversationEvent::ToolFinished(tool.clone())).await;
        tool
    }

    fn describe_call(&self, request: &ModelToolCall, name: &str, arguments: &Value) -> StartedTool {
        let label = self.host.catalog().get(name).map(|entry| tool_label(entry));
        StartedTool {
            id: request.id.clone(),
            name: name.to_owned(),
            label: label.unwrap_or_else(|| name.to_owned()),
            arguments: arguments.clone(),
        }
    }
}

impl CallStep {
    fn from_batch(call: usize, step: BatchStep<'_>) -> Self {
        match step {
            BatchStep::Finished { result, duration } => {
                Self::Finished { call, result: result.clone(), duration }
            }
            _ => Self::Started(call),
        }
    }
}

impl FinishedTool {
    fn new(started: &StartedTool, outcome: ToolCallStatus, duration: Duration) -> Self {
        Self {
            id: started.id.clone(),
            name: started.name.clone(),
            label: started.label.clone(),
            arguments: started.arguments.clone(),
            outcome,
            error: None,
            duration,
            images: 0,
            stored_bytes: None,
            text: String::new(),
        }
    }
}

fn finish_tool(
    started: &StartedTool,
    result: &Result<CallOutcome, CallError>,
    duration: Duration,
) -> FinishedTool {
    match result {
        Ok(outcome) => {
            let status = if outcome.is_error { ToolCallStatus::ToolError } else { ToolCallStatus::Ok };
            let mut tool = FinishedTool::new(started, status, duration);
            let is_image = |block: &&ContentBlock| matches!(block, ContentBlock::Image { .. });
            tool.images = outcome.content.iter().filter(is_image).count();
            let stored = outcome.stored.iter().map(|stored| stored.bytes);
            tool.stored_bytes = Some(stored.sum()).filter(|bytes| *bytes > 0);
            tool.text = outcome.to_text();
            tool.error = outcome.is_error.then(|| tool.text.clone());
            tool
        }
        Err(error) => {
            let mut tool = FinishedTool::new(started, error_status(error), duration);
            tool.text = error_text(error);
            tool.error = Some(tool.text.clone());
            tool
        }
    }
}

fn error_status(error: &CallError) -> ToolCallStatus {
    match error {
        CallError::Denied { .. } => ToolCallStatus::Denied,
        CallError::UnknownTool { .. } | CallError::UnknownServer { .. } | CallError::Arguments { .. } => {
            ToolCallStatus::Invalid
        }
        _ => ToolCallStatus::Failed,
    }
}

/// The result of a call for the history. The unmodified answer, which may be much larger, is left out.
fn answer_call(request: &ModelToolCall, result: Result<CallOutcome, CallError>) -> ToolReply {
    let answer = match result {
        Ok(mut outcome) => {
            outcome.raw = RawJson::from_text("null");
            outcome.structured = outcome.structured.map(|structured| structured.to_detached());
            Ok(Box::new(outcome))
        }
        Err(error) => Err(error_text(&error)),
    };
    let ModelToolCall { id, is_own_id, name, .. } = request.clone();
    ToolReply { id, is_own_id, name, answer }
}

/// An error in words that a model can act on.
fn error_text(error: &CallError) -> String {
    match error.hint() {
        Some(hint) => format!("{error}\nhint: {hint}"),
        None => error.to_string(),
    }
}
