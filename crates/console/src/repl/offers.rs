//! Prompts and resources of servers: printed, or sent to the model.

use mcparley::prompt::PromptCall;
use mcparley::resource::MentionedResource;
use mcparley_conversation::UserInput;

use super::Console;
use super::result_text::{blocks_text, prompt_text};

impl Console {
    /// Uses a prompt: its messages go to the model if there is one, and are printed otherwise.
    pub(super) async fn use_prompt(&mut self, line: &str) {
        let call = match PromptCall::parse(line) {
            Ok(call) => call,
            Err(error) => {
                self.output.print_error(&error, error.hint().as_deref());
                return;
            }
        };
        let host = self.host.clone();
        let label = format!("getting /{}", call.name());
        match self.wait_for(&label, host.fetch_prompt(&call), None).await {
            Some(Ok(prompt)) if self.conversation.is_some() => {
                let blocks = prompt.messages.into_iter().flat_map(|message| message.content);
                self.send_to_model(UserInput::default().with_blocks(blocks)).await;
            }
            Some(Ok(prompt)) => {
                self.output.print_result(prompt_text(&prompt));
            }
            Some(Err(error)) => {
                self.output.print_error(&error, error.hint().as_deref());
            }
            None => self.report_canceled(),
        }
    }

    /// Reads the resource of a mention and prints it.
    pub(super) async fn read_mention(&mut self, line: &str) {
        let host = self.host.clone();
        let Some(found) = self.wait_for(&format!("reading {line}"), host.read_mentions(line), None).await
        else {
            return self.report_canceled();
        };
        if found.resources.is_empty() {
            let hint = "write @SERVER:URI; /resources lists them";
            self.output.print_failure(&format!("`{line}` names no resource"), Some(hint));
        }
        for MentionedResource { contents, .. } in found.resources {
            match contents {
                Ok(contents) => self.output.print_result(blocks_text(&contents.content)),
                Err(error) => self.output.print_error(&error, error.hint().as_deref()),
            }
        }
    }

    pub(super) fn report_canceled(&mut self) {
        self.output.print_remark("canceled");
    }
}
