//! A conversation: messages of a user, answers of a model, and tool calls through the host.
//!
//! | step of a turn | module |
//! |---|---|
//! | the tools and instructions that the model is shown | `offered_tools`, `system_prompt` |
//! | request → answer → calls → results, until the model stops | `rounds` |
//! | the calls of one answer | `tool_calls` |
//! | the events of the turn as a stream | `turn` |

mod offered_tools;
mod rounds;
mod system_prompt;
mod tool_calls;
mod turn;

use mcparley::Host;
use mcparley::catalog::Budget;
use mcparley_model::limits::conversation::CONVERSATION_ROUNDS;

use crate::choice::ModelChoice;
use crate::client::ModelClient;
use crate::history::History;
use crate::input::UserInput;
use offered_tools::OfferedTools;
use system_prompt::SystemPrompt;

pub use turn::ConversationTurn;

/// A conversation of a user with a model that uses the tools of a host.
#[derive(Debug)]
pub struct Conversation {
    host: Host,
    client: ModelClient,
    budget: Budget,
    max_rounds: usize,
    history: History,
    offered_tools: OfferedTools,
    system_prompt: SystemPrompt,
}

impl Conversation {
    /// A new conversation. The token budget for tools is a tenth of the context of the provider's models.
    #[must_use]
    pub fn new(host: &Host, client: ModelClient) -> Self {
        let budget = Budget::for_context(client.choice().provider().context_window());
        Self {
            host: host.clone(),
            client,
            budget,
            max_rounds: CONVERSATION_ROUNDS,
            history: History::default(),
            offered_tools: OfferedTools::default(),
            system_prompt: SystemPrompt::default(),
        }
    }

    /// Sets the token budget for the definitions of tools; beyond it they are deferred to `ToolSearch`.
    #[must_use]
    pub fn with_budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Sets the maximum number of requests to the model in one turn.
    #[must_use]
    pub fn with_max_rounds(mut self, rounds: usize) -> Self {
        self.max_rounds = rounds.max(1);
        self
    }

    /// Sends a message of the user. The turn runs while its events are read; dropping it cancels the request
    /// to the model and all calls, at the servers too.
    ///
    /// After a canceled turn the conversation can go on: results of finished calls are kept.
    pub fn send(&mut self, input: impl Into<UserInput>) -> ConversationTurn<'_> {
        ConversationTurn::new(self, input.into())
    }

    /// Forgets all messages.
    pub fn clear(&mut self) {
        self.history = History::default();
        self.offered_tools = OfferedTools::default();
        self.system_prompt = SystemPrompt::default();
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &ModelChoice {
        self.client.choice()
    }

    /// Goes on with another model, which is given all messages so far, and the token budget for its tools.
    pub fn set_model(&mut self, choice: ModelChoice, budget: Budget) {
        self.client = self.client.with_choice(choice);
        self.budget = budget;
    }

    /// Whether there are no messages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.history.is_empty()
    }
}
