//! Prompts: what servers offer people as commands, under names that are looked up and never taken apart (X3).
//!
//! | what | where |
//! |---|---|
//! | a prompt as its server lists it | `listed` |
//! | `/mcp__server__prompt a "b c" key=value` | `command` |
//! | which value is which argument | `given` |
//! | what a server makes of it | `messages` |

mod command;
mod error;
mod given;
mod listed;
mod messages;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use mcparley_model::name::{Names, PublicName, ServerName, ToolName};
use mcparley_wire::Params;
use serde::Serialize;

use crate::call::Request;
use crate::catalog::name_all;
use crate::host::{Host, Remembered};
use crate::sources::similar_names;
use crate::surface::Surface;

pub use command::PromptCall;
pub use error::PromptError;
pub(crate) use listed::is_usable;
pub use messages::{PromptMessage, PromptMessages};

/// A prompt, ready to be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Prompt {
    /// Its name as a command, without the slash.
    pub name: PublicName,
    /// The server that offers it.
    pub server: ServerName,
    /// Its name as the server has it.
    #[serde(rename = "prompt")]
    pub original: ToolName,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does.
    pub description: String,
    /// What it takes, in the order of the server.
    pub arguments: Vec<PromptArgument>,
}

/// An argument of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether the prompt cannot do without it.
    pub required: bool,
    /// Its name as the server has it, which it must be told.
    #[serde(skip)]
    raw: String,
}

/// Every prompt there is now.
#[derive(Clone, Debug, Default)]
pub struct Prompts {
    entries: Vec<Arc<Prompt>>,
    by_name: HashMap<PublicName, usize>,
    names: Names,
}

impl Prompts {
    /// The prompts of these servers, with the names they have and new ones for those that have none yet.
    pub(crate) fn of<'s>(names: &mut Names, servers: impl Iterator<Item = Offering<'s>>) -> Self {
        let found: Vec<(ServerName, Vec<listed::Listed>)> =
            servers.map(|(server, surface)| (server.clone(), listed::all(&surface.prompts))).collect();
        let pairs = || {
            let pair = |server: &ServerName, prompt: &listed::Listed| (server.clone(), prompt.name.clone());
            found.iter().flat_map(move |(server, prompts)| prompts.iter().map(move |it| pair(server, it)))
        };
        name_all(names, pairs);
        let entries: Vec<Arc<Prompt>> = found
            .iter()
            .flat_map(|(server, prompts)| prompts.iter().map(move |prompt| (server, prompt)))
            .filter_map(|(server, prompt)| {
                let name = names.public(server, &prompt.name)?.clone();
                Some(Arc::new(prompt.clone().into_prompt(name, server.clone())))
            })
            .collect();
        let by_name = entries.iter().zip(0..).map(|(prompt, place)| (prompt.name.clone(), place)).collect();
        Self { entries, by_name, names: names.clone() }
    }

    /// Every prompt, in the order of the plan and of the servers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<Prompt>> {
        self.entries.iter()
    }

    /// The prompt of a command; the slash may stand in front.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Prompt>> {
        let name = name.strip_prefix('/').unwrap_or(name);
        self.by_name.get(name).and_then(|place| self.entries.get(*place))
    }

    /// The prompt that a server calls so.
    #[must_use]
    pub fn find(&self, server: &ServerName, prompt: &str) -> Option<&Arc<Prompt>> {
        self.names.public(server, &ToolName::new(prompt)).and_then(|name| self.get(name.as_str()))
    }

    /// Commands that look like this one, the nearest first.
    #[must_use]
    pub fn similar(&self, name: &str) -> Vec<String> {
        let name = name.strip_prefix('/').unwrap_or(name);
        similar_names(name, self.entries.iter().map(|prompt| prompt.name.as_str()))
    }
}

/// A server and what it offers.
pub(crate) type Offering<'s> = (&'s ServerName, &'s Surface);

impl Host {
    /// Every prompt that is known now; servers need not have been started for that (L12). A name once given stays.
    #[must_use]
    pub fn prompts(&self) -> Prompts {
        let servers = self.servers();
        let offering = servers.iter().map(|server| (&server.name, server.state.surface.as_ref()));
        self.told(|told| Prompts::of(&mut told.prompts, offering))
    }

    /// Has a server make messages of a prompt. Arguments that do not fit are told before anything is sent.
    ///
    /// # Errors
    /// A [`PromptError`].
    pub async fn prompt(&self, call: &PromptCall) -> Result<PromptMessages, PromptError> {
        let prompt = match self.prompts().get(call.name()) {
            Some(prompt) => Arc::clone(prompt),
            None => self.late_prompt(call.name()).await?,
        };
        let arguments = given::arguments(&prompt, call.given())?;
        let params = Params::new().with("name", &prompt.original).with("arguments", &arguments);
        let request = Request { method: "prompts/get", capability: "prompts", params };
        let answer = self.request(&prompt.server, request).await?;
        messages::read(&prompt, &answer)
    }

    /// A name nobody has: perhaps its server is only on its way.
    async fn late_prompt(&self, name: &str) -> Result<Arc<Prompt>, PromptError> {
        self.settled().await;
        let prompts = self.prompts();
        prompts.get(name).cloned().ok_or_else(|| PromptError::Unknown {
            name: name.strip_prefix('/').unwrap_or(name).to_owned(),
            similar: prompts.similar(name),
        })
    }
}

impl Remembered {
    /// Every prompt, as it is remembered.
    #[must_use]
    pub fn prompts(&self) -> Prompts {
        let offering = self.servers.iter().map(|server| (&server.name, server.state.surface.as_ref()));
        let mut names = Names::default().with_bare(self.bare.iter().cloned());
        Prompts::of(&mut names, offering)
    }
}
