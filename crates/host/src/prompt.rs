//! Prompts: the servers' prompts as commands for users, under names that are looked up and never split.
//!
//! | part | module |
//! |---|---|
//! | a prompt as its server lists it | `listed` |
//! | `/mcp__server__prompt a "b c" key=value` | `command` |
//! | the assignment of values to arguments | `argument_values` |
//! | the messages that a server returns | `messages` |

mod argument_values;
mod command;
mod error;
mod listed;
mod messages;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use mcparley_model::name::{PublicName, PublicNames, ServerName, ToolName};
use mcparley_wire::RequestParams;
use serde::Serialize;

use crate::call::Request;
use crate::host::Host;
use mcparley_catalog::assign_public_names;
use mcparley_model::similar::similar_names;
use mcparley_pool::surface::Surface;

pub use command::PromptCall;
pub use error::PromptError;
pub use messages::{PromptMessage, PromptMessages};

/// A prompt, ready for display.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Prompt {
    /// The command name, without the slash.
    pub name: PublicName,
    /// The server that offers it.
    pub server: ServerName,
    /// The server's name for the prompt.
    #[serde(rename = "prompt")]
    pub original: ToolName,
    /// A display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description of the prompt.
    pub description: String,
    /// The arguments, in the order of the server.
    pub arguments: Vec<PromptArgument>,
}

/// An argument of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PromptArgument {
    /// The sanitized name.
    pub name: String,
    /// A display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description of the argument.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether the prompt requires the argument.
    pub required: bool,
    /// The server's exact name for the argument, as it is sent.
    #[serde(skip)]
    raw: String,
}

/// All prompts that are known now.
#[derive(Clone, Debug, Default)]
pub struct Prompts {
    entries: Vec<Arc<Prompt>>,
    by_name: HashMap<PublicName, usize>,
    names: PublicNames,
}

impl Prompts {
    /// The prompts of these servers. Prompts that have a public name keep it, and the others are given one.
    pub(crate) fn from_surfaces<'s>(
        names: &mut PublicNames,
        servers: impl Iterator<Item = OfferedSurface<'s>>,
    ) -> Self {
        let found: Vec<(ServerName, Vec<listed::ListedPrompt>)> = servers
            .map(|(server, surface)| (server.clone(), listed::parse_prompts(&surface.prompts)))
            .collect();
        let pairs = || {
            let pair =
                |server: &ServerName, prompt: &listed::ListedPrompt| (server.clone(), prompt.name.clone());
            found.iter().flat_map(move |(server, prompts)| prompts.iter().map(move |it| pair(server, it)))
        };
        assign_public_names(names, pairs);
        let entries: Vec<Arc<Prompt>> = found
            .iter()
            .flat_map(|(server, prompts)| prompts.iter().map(move |prompt| (server, prompt)))
            .filter_map(|(server, prompt)| {
                let name = names.public_name(server, &prompt.name)?.clone();
                Some(Arc::new(prompt.clone().into_prompt(name, server.clone())))
            })
            .collect();
        let by_name = entries.iter().zip(0..).map(|(prompt, place)| (prompt.name.clone(), place)).collect();
        Self { entries, by_name, names: names.clone() }
    }

    /// Every prompt, in plan order and then in the order of the server.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<Prompt>> {
        self.entries.iter()
    }

    /// The prompt of a command; a leading slash is ignored.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Prompt>> {
        let name = name.strip_prefix('/').unwrap_or(name);
        self.by_name.get(name).and_then(|place| self.entries.get(*place))
    }

    /// The prompt with this name at its server.
    #[must_use]
    pub fn find_on_server(&self, server: &ServerName, prompt: &str) -> Option<&Arc<Prompt>> {
        self.names.public_name(server, &ToolName::new(prompt)).and_then(|name| self.get(name.as_str()))
    }

    /// Commands similar to this one, the nearest first.
    #[must_use]
    pub fn similar_commands(&self, name: &str) -> Vec<String> {
        let name = name.strip_prefix('/').unwrap_or(name);
        similar_names(name, self.entries.iter().map(|prompt| prompt.name.as_str()))
    }
}

/// A server and its surface: the lists it offers.
pub(crate) type OfferedSurface<'s> = (&'s ServerName, &'s Surface);

impl Host {
    /// All prompts that are known now; cached lists count, so servers need not be started. A name once given
    /// stays.
    #[must_use]
    pub fn prompts(&self) -> Prompts {
        let servers = self.servers();
        let offering = servers.iter().map(|server| (&server.name, server.state.surface.as_ref()));
        self.with_shown_order(|shown| Prompts::from_surfaces(&mut shown.prompts, offering))
    }

    /// Fetches the messages of a prompt from its server. Arguments are checked before the request is sent.
    ///
    /// # Errors
    /// A [`PromptError`].
    pub async fn fetch_prompt(&self, call: &PromptCall) -> Result<PromptMessages, PromptError> {
        let prompt = match self.prompts().get(call.name()) {
            Some(prompt) => Arc::clone(prompt),
            None => self.resolve_late_prompt(call.name()).await?,
        };
        let arguments = argument_values::assign_values(&prompt, call.values())?;
        let params =
            RequestParams::new().with_member("name", &prompt.original).with_member("arguments", &arguments);
        let request = Request::for_reading("prompts/get", "prompts", params);
        let answer = self.send_request(&prompt.server, request).await?;
        messages::parse_messages(&prompt, &answer)
    }

    /// Resolves a prompt name that is not known: its server may still be connecting.
    async fn resolve_late_prompt(&self, name: &str) -> Result<Arc<Prompt>, PromptError> {
        self.wait_until_settled().await;
        let prompts = self.prompts();
        prompts.get(name).cloned().ok_or_else(|| PromptError::Unknown {
            name: name.strip_prefix('/').unwrap_or(name).to_owned(),
            similar: prompts.similar_commands(name),
        })
    }
}
