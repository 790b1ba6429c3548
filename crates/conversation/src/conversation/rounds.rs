//! The rounds of a turn: request → answer → calls → results, until the model stops.

use super::Conversation;
use crate::answer::{ModelAnswer, StopReason, TokenUsage};
use crate::error::ModelError;
use crate::event::{ConversationEvent, EventSink, TurnSummary};
use crate::input::UserInput;
use crate::request::{ModelRequest, SamplingSettings};

impl Conversation {
    /// Runs a turn.
    pub(super) async fn run_rounds(
        &mut self,
        input: UserInput,
        sink: &EventSink,
    ) -> Result<TurnSummary, ModelError> {
        let news = self.system_prompt.update(&self.host).await;
        self.history.add_user_message(news.into_iter().chain(input.blocks).collect());
        let mut summary = self.empty_summary();
        while summary.rounds < self.max_rounds {
            summary.rounds += 1;
            let tools =
                self.offered_tools.offer_tools(&self.host, &self.budget, self.client.choice().provider());
            let answer = self.request_answer(&tools, sink).await?;
            summary.usage.add(answer.usage);
            sink.send(ConversationEvent::Usage(answer.usage)).await;
            summary.text = answer.text();
            if !summary.text.is_empty() {
                sink.send(ConversationEvent::TextEnd).await;
            }
            let calls = answer.calls();
            let runs_calls = !calls.is_empty() && answer.stop.is_complete();
            self.history.add_answer(answer.parts, runs_calls);
            if !runs_calls {
                summary.stop_reason = answer.stop;
                return Ok(summary);
            }
            summary.tool_calls.extend(self.run_calls(&tools, calls, sink).await);
        }
        summary.stop_reason = StopReason::RoundLimit;
        Ok(summary)
    }

    /// Sends the conversation so far to the model.
    async fn request_answer(
        &mut self,
        tools: &mcparley::catalog::ModelTools,
        sink: &EventSink,
    ) -> Result<ModelAnswer, ModelError> {
        let request = ModelRequest {
            system: self.system_prompt.text(),
            messages: self.history.messages(),
            tools: Some(&*tools.tools).filter(|tools| tools.get() != "[]"),
            sampling: SamplingSettings::default(),
        };
        let answer = self.client.request_answer(&request, sink).await;
        if answer.is_err() {
            self.history.remove_unanswered();
        }
        answer
    }

    fn empty_summary(&self) -> TurnSummary {
        TurnSummary {
            model: self.client.choice().to_string(),
            text: String::new(),
            tool_calls: Vec::new(),
            usage: TokenUsage::default(),
            rounds: 0,
            stop_reason: StopReason::EndTurn,
        }
    }
}
