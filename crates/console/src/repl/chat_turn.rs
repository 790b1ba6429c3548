//! One turn of the conversation: sends the user's text to the model and prints the answer as it comes.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use mcparley::model::explain::Explain;
use mcparley::model::similar::similar_names;
use mcparley_conversation::{Conversation, ConversationEvent, FinishedTool, TurnSummary, UserInput};
use tokio::time::MissedTickBehavior;

use super::Console;
use super::call_log::CallRecord;
use super::input::suggest_names;
use super::known_names::KnownNames;
use super::model_command::no_model_hint;
use super::output::format_duration;
use super::waiting::{PATIENCE, TICK};

/// The longest wait for servers that are still connecting when a question is asked. Their tools are offered
/// to the model in a later request then.
const SERVERS_TIME: Duration = Duration::from_secs(5);

/// The state of an answer on the terminal.
struct AnswerProgress {
    /// The work that is waited for, for the progress line; `None` while text streams in.
    waiting_for: Option<String>,
    /// The start of that work.
    since: Instant,
    /// Whether the last line of the text has no end yet.
    is_line_open: bool,
    /// Events that wait until no dialog is on the screen.
    queue: VecDeque<ConversationEvent>,
}

impl AnswerProgress {
    fn wait_for(&mut self, work: String) {
        (self.waiting_for, self.since) = (Some(work), Instant::now());
    }
}

impl Console {
    /// Sends text to the model, with the resources that it mentions.
    pub(super) async fn send_text(&mut self, text: &str, known: &KnownNames) {
        if self.conversation.is_none() {
            self.output.print_failure("this is no command, and no model is configured to answer", None);
            self.output.print_hint(&text_hint(text, known));
            return;
        }
        let host = self.host.clone();
        let Some(mentioned) = self.wait_for("reading mentions", host.read_mentions(text), None).await else {
            return self.report_canceled();
        };
        for unread in mentioned.resources.iter().filter_map(|resource| resource.contents.as_ref().err()) {
            self.output.print_warning(&unread.to_string());
        }
        self.send_to_model(UserInput::from(text).with_resources(&mentioned)).await;
    }

    /// Sends a message to the model and prints its answer.
    pub(super) async fn send_to_model(&mut self, input: UserInput) {
        let host = self.host.clone();
        let ready = host.wait_until_ready(SERVERS_TIME);
        if self.wait_for("waiting for servers", ready, None).await.is_none() {
            return self.report_canceled();
        }
        let Some(mut conversation) = self.conversation.take() else { return };
        self.print_answer(&mut conversation, input).await;
        self.conversation = Some(conversation);
        self.hook_notes.print_new(&self.host, &mut self.output);
    }

    async fn print_answer(&mut self, conversation: &mut Conversation, input: UserInput) {
        let asking = format!("asking {}", conversation.model());
        let (start, waiting_for) = (Instant::now(), Some(asking.clone()));
        let mut progress =
            AnswerProgress { waiting_for, since: start, is_line_open: false, queue: VecDeque::new() };
        let mut ticks = tokio::time::interval_at((start + PATIENCE).into(), TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut turn = conversation.send(input);
        let is_canceled = loop {
            tokio::select! {
                biased;
                () = self.interrupts.next_press() => break true,
                event = turn.next() => match event {
                    Some(event) => {
                        progress.queue.push_back(event);
                        self.print_queue(&mut progress, &asking);
                    }
                    None => break false,
                },
                _ = ticks.tick() => {
                    self.print_queue(&mut progress, &asking);
                    self.draw_waiting(&progress);
                }
            }
        };
        // Withdraws open dialogs, so that the rest can be printed.
        drop(turn);
        while let Some(event) = progress.queue.pop_front() {
            self.print_event(event, &mut progress, &asking);
        }
        self.end_text(&mut progress);
        if is_canceled {
            self.report_canceled();
        }
    }

    /// Prints the events so far, unless a dialog is on the screen.
    fn print_queue(&mut self, progress: &mut AnswerProgress, asking: &str) {
        let terminal = self.options.terminal.clone();
        terminal.draw_if_free(|| {
            while let Some(event) = progress.queue.pop_front() {
                self.print_event(event, progress, asking);
            }
        });
    }

    fn draw_waiting(&mut self, progress: &AnswerProgress) {
        let Some(work) = progress.waiting_for.as_ref().filter(|_| !progress.is_line_open) else { return };
        let line = format!("{work} … {}", format_duration(progress.since.elapsed()));
        self.options.terminal.draw_if_free(|| self.output.draw_progress(&line));
    }

    fn print_event(&mut self, event: ConversationEvent, progress: &mut AnswerProgress, asking: &str) {
        if let ConversationEvent::TextDelta(text) = event {
            progress.waiting_for = None;
            self.output.print_part(&text);
            progress.is_line_open = !text.ends_with('\n');
            return;
        }
        self.end_text(progress);
        match event {
            ConversationEvent::ToolStarted(tool) => progress.wait_for(format!("calling {}", tool.label)),
            ConversationEvent::ToolFinished(tool) => {
                self.print_tool(tool);
                progress.wait_for(asking.to_owned());
            }
            ConversationEvent::Retrying { reason, pause } => {
                self.output.print_warning(&format!("{reason}; asking again in {}", format_duration(pause)));
            }
            ConversationEvent::Finished(summary) => self.report_incomplete(&summary),
            ConversationEvent::Failed(error) => {
                let hint = error.hint().map(|hint| hint.replace("`--model", "`/model"));
                self.output.print_error(&error, hint.as_deref());
            }
            _ => {}
        }
    }

    /// Ends the line of the text, if it is open.
    fn end_text(&mut self, progress: &mut AnswerProgress) {
        if std::mem::take(&mut progress.is_line_open) {
            self.output.print_line("");
        }
    }

    fn print_tool(&mut self, tool: FinishedTool) {
        self.output.print_remark(&tool.to_line());
        self.output.store_result(tool.text);
        let outcome = tool.outcome.as_str().to_owned();
        self.calls.push_call(CallRecord { tool: tool.label, duration: tool.duration, outcome });
    }

    fn report_incomplete(&mut self, summary: &TurnSummary) {
        if !summary.stop_reason.is_complete() {
            let reason = summary.stop_reason.as_str();
            self.output.print_failure(&format!("the answer is not complete: {reason}"), None);
        }
    }
}

/// The hint for text without a model: a command or server that the first word resembles.
fn text_hint(text: &str, known: &KnownNames) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    if let Some(command) = known.command_names().find(|name| *name == first) {
        return format!("did you mean `/{command}`?");
    }
    let similar = similar_names(first, known.servers.iter().map(String::as_str));
    suggest_names(&similar, &no_model_hint())
}
