//! Resources: what servers have to read, as typed values with clean texts (X1).
//!
//! | what | where |
//! |---|---|
//! | an entry as its server lists it | `listed` |
//! | patterns of addresses, and how they are filled in | `template` |
//! | reading one | `contents` |
//! | being told when one changes | `subscription` |
//! | `@server:uri` in what a person writes | `mention` |
//! | the tools that models have for all this | `tools` |

mod contents;
mod error;
mod listed;
mod mention;
mod subscription;
mod template;
#[cfg(test)]
mod tests;
mod tools;

use mcparley_model::name::ServerName;
use serde::Serialize;

use crate::call::RequestError;
use crate::host::{Host, Remembered, Server};
use crate::sample::Role;
use crate::skill::is_skill_address;

pub use contents::ResourceContents;
pub use error::ResourceError;
pub use mention::{Mentioned, MentionedResource};
pub use subscription::Subscription;
pub use template::{ResourceTemplate, TemplateError};

/// A resource, ready to be shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Resource {
    /// The server that has it.
    pub server: ServerName,
    /// Its address.
    pub uri: String,
    /// Its name; the address when the server gave none.
    pub name: String,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its type.
    #[serde(rename = "mimeType", skip_serializing_if = "Option::is_none")]
    pub mime: Option<String>,
    /// How many bytes it has, as the server says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// For whom it is, and how much it matters.
    #[serde(skip_serializing_if = "Annotations::is_empty")]
    pub annotations: Annotations,
    /// Its address as the server has it, which it must be told.
    #[serde(skip)]
    raw: String,
}

/// What a server says about the use of a resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Annotations {
    /// For whom it is; everybody if it says nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub audience: Vec<Role>,
    /// How much it matters, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<f64>,
    /// When it was changed last, as the server writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

impl Annotations {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Every resource and every template there is now.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Resources {
    /// The resources, in the order of the plan and of the servers. Files of skills are none of them (X2).
    pub resources: Vec<Resource>,
    /// The templates, in the same order.
    pub templates: Vec<ResourceTemplate>,
}

impl Resources {
    pub(crate) fn of<'s>(servers: impl Iterator<Item = &'s Server>) -> Self {
        let mut found = Self::default();
        for server in servers {
            let surface = &server.state.surface;
            let resources = listed::resources(&server.name, &surface.resources).into_iter();
            found.resources.extend(resources.filter(|resource| !is_skill_address(&resource.uri)));
            found.templates.extend(listed::templates(&server.name, &surface.templates));
        }
        found
    }
}

impl Host {
    /// Every resource that is known now, of one server or of all; servers need not have been started for that (L12).
    ///
    /// # Errors
    /// [`RequestError::UnknownServer`] when there is no server of this name.
    pub fn resources(&self, server: Option<&ServerName>) -> Result<Resources, RequestError> {
        if let Some(server) = server
            && self.connection(server).is_none()
        {
            return Err(self.no_such_server(server.as_str()));
        }
        let servers = self.servers();
        let wanted = servers.iter().filter(|known| server.is_none_or(|server| known.name == *server));
        Ok(Resources::of(wanted))
    }
}

impl Remembered {
    /// Every resource, as it is remembered.
    #[must_use]
    pub fn resources(&self) -> Resources {
        Resources::of(self.servers.iter())
    }
}
