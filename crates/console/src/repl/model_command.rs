//! The model of the console: its conversation, and `/model`.

use mcparley::Host;
use mcparley::catalog::Budget;
use mcparley::config::LoadedConfig;
use mcparley::model::explain::Explain;
use mcparley_conversation::{Conversation, ModelChoiceError, ModelClient, NO_MODEL_HINT};

use super::Console;
use super::output::ConsoleOutput;

/// Finds a model by the name that the user gives, or the one that the environment names; `None` if no model
/// is configured.
pub type ModelFinder =
    Box<dyn Fn(&LoadedConfig, Option<&str>) -> Result<Option<ModelClient>, ModelChoiceError> + Send + Sync>;

/// Starts a conversation.
pub(super) fn start_conversation(
    host: &Host,
    client: ModelClient,
    output: &mut ConsoleOutput,
) -> Conversation {
    let budget = tool_budget(host, &client, output);
    Conversation::new(host, client).with_budget(budget)
}

/// The token budget for the tools of a model; an invalid one is reported and counts as the default.
fn tool_budget(host: &Host, client: &ModelClient, output: &mut ConsoleOutput) -> Budget {
    let window = client.choice().provider().context_window();
    Budget::from_env(&host.loaded_config().env, Some(window)).unwrap_or_else(|error| {
        output.print_warning(&format!("`ENABLE_TOOL_SEARCH`: {error}"));
        error.hint().iter().for_each(|hint| output.print_hint(hint));
        Budget::for_context(window)
    })
}

impl Console {
    /// The name of the model, as `provider:model`.
    pub(super) fn model_name(&self) -> Option<String> {
        self.conversation.as_ref().map(|conversation| conversation.model().to_string())
    }

    /// Prints the model, or how to configure one.
    pub(super) fn show_model(&mut self) {
        match self.model_name() {
            Some(name) => self.output.print_line(&name),
            None => {
                self.output.print_line("no model is configured");
                self.output.print_hint(&no_model_hint());
            }
        }
    }

    /// Changes the model. The conversation goes on with it, and later requests of servers are answered by it.
    pub(super) fn change_model(&mut self, name: &str) {
        let found = (self.options.find_model)(&self.host.loaded_config(), Some(name));
        match found {
            Ok(Some(client)) => {
                self.options.sampler.iter().for_each(|sampler| sampler.set_client(client.clone()));
                match &mut self.conversation {
                    Some(conversation) => {
                        let budget = tool_budget(&self.host, &client, &mut self.output);
                        conversation.set_model(client.choice().clone(), budget);
                    }
                    None => {
                        let conversation = start_conversation(&self.host, client, &mut self.output);
                        self.conversation = Some(conversation);
                    }
                }
                self.show_model()
            }
            Ok(None) => self.show_model(),
            Err(error) => {
                self.output.print_error(&error, error.hint().as_deref());
            }
        }
    }
}

/// The hint for a console without a model.
pub(super) fn no_model_hint() -> String {
    format!("{NO_MODEL_HINT}; then start the console again. /help shows all that works without a model")
}
