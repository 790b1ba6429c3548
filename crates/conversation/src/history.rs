//! The messages of a conversation so far, always in an order that every API accepts.
//!
//! A turn may be canceled at any point. Calls without a result then get one that says so, because an API
//! rejects a call without a result in all later requests.

use mcparley::ContentBlock;

use crate::message::{AnswerPart, Message, ModelToolCall, ToolReply};

/// The result of a call that was canceled.
const CANCELED: &str = "the user canceled the call before it finished; whether it took effect is unknown";

/// The note behind a message of the user that was never answered.
const INTERRUPTED: &str = "[The user interrupted the answer to this message.]";

/// The messages so far.
#[derive(Debug, Default)]
pub(crate) struct History {
    messages: Vec<Message>,
    /// The calls of the last answer and their results so far.
    pending: Vec<(ModelToolCall, Option<ToolReply>)>,
    /// Whether the last message of the user waits for an answer.
    is_unanswered: bool,
}

impl History {
    pub(crate) fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Adds a message of the user, after a turn that may have been canceled.
    pub(crate) fn add_user_message(&mut self, blocks: Vec<ContentBlock>) {
        self.close_calls();
        if std::mem::take(&mut self.is_unanswered)
            && let Some(Message::User(before)) = self.messages.last_mut()
        {
            before.push(ContentBlock::Text(INTERRUPTED.to_owned()));
        }
        match self.messages.last_mut() {
            Some(Message::User(before)) => before.extend(blocks),
            Some(Message::Assistant(_) | Message::Results(_)) | None => {
                self.messages.push(Message::User(blocks));
            }
        }
        self.is_unanswered = true;
    }

    /// Adds an answer of the model. Its calls wait for their results; with `runs_calls` false they are left
    /// out, because they are incomplete.
    ///
    /// Private parts at the end are left out too: an API rejects an answer that ends with thinking, in all later
    /// requests.
    pub(crate) fn add_answer(&mut self, mut parts: Vec<AnswerPart>, runs_calls: bool) {
        self.is_unanswered = false;
        if !runs_calls {
            parts.retain(|part| !matches!(part, AnswerPart::Call(_)));
        }
        while matches!(parts.last(), Some(AnswerPart::Private { .. })) {
            parts.pop();
        }
        if parts.is_empty() {
            return;
        }
        let calls = parts.iter().filter_map(|part| match part {
            AnswerPart::Call(call) => Some((call.clone(), None)),
            AnswerPart::Text { .. } | AnswerPart::Private { .. } => None,
        });
        self.pending = calls.collect();
        self.messages.push(Message::Assistant(parts));
    }

    /// Sets the result of a call by its index in the last answer.
    pub(crate) fn set_result(&mut self, index: usize, answer: ToolReply) {
        if let Some((_, result)) = self.pending.get_mut(index) {
            *result = Some(answer);
        }
    }

    /// Adds the results of the last answer's calls; a call without a result was canceled.
    pub(crate) fn close_calls(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let close = |(call, result): (ModelToolCall, Option<ToolReply>)| {
            let ModelToolCall { id, is_own_id, name, .. } = call;
            let canceled = ToolReply { id, is_own_id, name, answer: Err(CANCELED.to_owned()) };
            result.unwrap_or(canceled)
        };
        let results = std::mem::take(&mut self.pending).into_iter().map(close).collect();
        self.messages.push(Message::Results(results));
    }

    /// Removes the last message of the user, which could not be sent.
    pub(crate) fn remove_unanswered(&mut self) {
        if std::mem::take(&mut self.is_unanswered) && matches!(self.messages.last(), Some(Message::User(_))) {
            self.messages.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Provider;
    use serde_json::json;

    fn call(id: &str) -> ModelToolCall {
        ModelToolCall {
            id: id.into(),
            is_own_id: false,
            name: "t".into(),
            arguments: json!({}),
            signature: None,
        }
    }

    fn answer(id: &str, answer: &str) -> ToolReply {
        ToolReply { id: id.into(), is_own_id: false, name: "t".into(), answer: Err(answer.into()) }
    }

    fn text(text: &str) -> Vec<ContentBlock> {
        vec![ContentBlock::Text(text.into())]
    }

    // U4 K5
    #[test]
    fn canceled_calls_get_a_result_and_finished_ones_keep_theirs() {
        let mut history = History::default();
        history.add_user_message(text("do it"));
        let parts = vec![AnswerPart::Call(call("1")), AnswerPart::Call(call("2"))];
        history.add_answer(parts.clone(), true);
        history.set_result(1, answer("2", "done"));
        history.add_user_message(text("and now?"));
        assert_eq!(
            history.messages(),
            [
                Message::User(text("do it")),
                Message::Assistant(parts),
                Message::Results(vec![answer("1", CANCELED), answer("2", "done")]),
                Message::User(text("and now?")),
            ]
        );
    }

    // U4
    #[test]
    fn interrupted_message_stays_and_says_so_but_a_failed_one_is_removed() {
        let mut history = History::default();
        history.add_user_message(text("first"));
        history.add_user_message(text("second"));
        let all = [text("first"), text(INTERRUPTED), text("second")].concat();
        assert_eq!(history.messages(), [Message::User(all)]);
        let mut failed = History::default();
        failed.add_user_message(text("first"));
        failed.remove_unanswered();
        assert!(failed.is_empty());
    }

    // U4
    #[test]
    fn calls_of_a_cut_answer_are_left_out() {
        let mut history = History::default();
        history.add_user_message(text("go"));
        let said = AnswerPart::Text { text: "I will".into(), signature: None };
        history.add_answer(vec![said.clone(), AnswerPart::Call(call("1"))], false);
        history.close_calls();
        assert_eq!(history.messages(), [Message::User(text("go")), Message::Assistant(vec![said])]);
    }

    // U4
    #[test]
    fn answer_that_ends_with_thinking_is_kept_without_it() {
        let thinking = || AnswerPart::Private { provider: Provider::Anthropic, block: json!({}) };
        let said = AnswerPart::Text { text: "so far".into(), signature: None };
        let mut history = History::default();
        history.add_user_message(text("go"));
        history.add_answer(vec![thinking()], false);
        assert_eq!(history.messages(), [Message::User(text("go"))]);
        history.add_answer(vec![thinking(), said.clone(), thinking(), AnswerPart::Call(call("1"))], false);
        let kept = Message::Assistant(vec![thinking(), said]);
        assert_eq!(history.messages(), [Message::User(text("go")), kept]);
    }
}
