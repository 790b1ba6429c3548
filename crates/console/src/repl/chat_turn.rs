//! One turn of the conversation: sends the user's text to the model and prints the answer as it comes.

use mcparley::ContentBlock;
use mcparley::model::similar::similar_names;
use mcparley::model::text::{display_line, truncate_text};
use serde_json::Value;
use tokio::sync::mpsc;

use super::call_log::CallRecord;
use super::input::suggest_names;
use super::known_names::KnownNames;
use super::model_chat::{ChatEvent, ModelChat};
use super::output::format_duration;
use super::{Console, LineEnd};

/// The length of the arguments of a call on its line, in characters.
const ARGUMENT_CHARS: usize = 60;

/// The hint for a console without a model.
const MODEL_HINT: &str = "set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY and start the console again; /help shows all that works without a model";

impl Console {
    /// Sends text to the model, with the resources that it mentions.
    pub(super) async fn send_text(&mut self, text: &str, known: &KnownNames) -> LineEnd {
        if self.options.model.is_none() {
            self.output.print_failure("this is no command, and no model is configured to answer", None);
            self.output.print_hint(&text_hint(text, known));
            return LineEnd::Finished;
        }
        let host = self.host.clone();
        let Some(mentioned) = self.wait_for("reading mentions", host.read_mentions(text), None).await else {
            return self.report_canceled();
        };
        for unread in mentioned.resources.iter().filter_map(|resource| resource.contents.as_ref().err()) {
            self.output.print_warning(&unread.to_string());
        }
        let blocks = mentioned.resources.iter().flat_map(|resource| resource.to_blocks());
        self.send_to_model([ContentBlock::Text(text.to_owned())].into_iter().chain(blocks).collect()).await
    }

    /// Sends a message to the model and prints its answer.
    pub(super) async fn send_to_model(&mut self, message: Vec<ContentBlock>) -> LineEnd {
        let Some(mut model) = self.options.model.take() else { return LineEnd::Finished };
        let end = self.print_answer(model.as_mut(), message).await;
        self.options.model = Some(model);
        end
    }

    async fn print_answer(&mut self, model: &mut dyn ModelChat, message: Vec<ContentBlock>) -> LineEnd {
        // Unbounded: the terminal is faster than a model, and the answer has a limit.
        let (sender, mut events) = mpsc::unbounded_channel();
        let mut answer = model.send_message(message, sender);
        let done = loop {
            tokio::select! {
                biased;
                () = self.interrupts.next_press() => break None,
                Some(event) = events.recv() => self.print_event(event),
                done = &mut answer => break Some(done),
            }
        };
        drop(answer);
        while let Ok(event) = events.try_recv() {
            self.print_event(event);
        }
        match done {
            Some(Ok(())) => LineEnd::Finished,
            Some(Err(failure)) => {
                self.output.print_failure(&failure.message, failure.hint.as_deref());
                LineEnd::Finished
            }
            None => {
                self.output.print_line("");
                self.report_canceled()
            }
        }
    }

    fn print_event(&mut self, event: ChatEvent) {
        match event {
            ChatEvent::TextDelta(text) => self.output.print_part(&text),
            ChatEvent::TextEnd => self.output.print_line(""),
            ChatEvent::ToolStarted { label, arguments } => {
                let line = call_line(&label, &arguments);
                self.options.terminal.draw_if_free(|| self.output.draw_progress(&line));
            }
            ChatEvent::ToolFinished { label, arguments, duration, outcome, remark, text } => {
                let state = if outcome == "ok" { String::new() } else { format!("  {outcome}") };
                let remark = remark.map(|remark| format!("  ▸ {remark}")).unwrap_or_default();
                let line = call_line(&label, &arguments);
                self.output.print_remark(&format!("{line}  {}{state}{remark}", format_duration(duration)));
                self.output.store_result(text);
                self.calls.push_call(CallRecord { tool: label, duration, outcome });
            }
            ChatEvent::Notice(notice) => self.output.print_remark(&notice),
        }
    }

    /// Prints the model, or how to configure one.
    pub(super) fn show_model(&mut self) -> LineEnd {
        match self.options.model.as_ref().map(|model| model.model_name()) {
            Some(name) => self.output.print_line(&display_line(&name)),
            None => {
                self.output.print_line("no model is configured");
                self.output.print_hint(MODEL_HINT);
            }
        }
        LineEnd::Finished
    }
}

/// The call of a model in one line: `● git.log(since="yesterday")`.
fn call_line(label: &str, arguments: &Value) -> String {
    let pairs = arguments.as_object().into_iter().flatten();
    let pairs: Vec<String> = pairs.map(|(name, value)| format!("{name}={value}")).collect();
    format!("● {label}({})", truncate_text(&display_line(&pairs.join(", ")), ARGUMENT_CHARS))
}

/// The hint for text without a model: a command or server that the first word resembles.
fn text_hint(text: &str, known: &KnownNames) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    if let Some(command) = known.command_names().find(|name| *name == first) {
        return format!("did you mean `/{command}`?");
    }
    let similar = similar_names(first, known.servers.iter().map(String::as_str));
    suggest_names(&similar, MODEL_HINT)
}
