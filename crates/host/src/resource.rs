//! Resources of servers, as typed values with sanitized texts.
//!
//! | part | module |
//! |---|---|
//! | resources and templates as servers list them | `listed` |
//! | URI templates and their expansion | `template` |
//! | reading a resource | `contents` |
//! | subscriptions to changes | `subscription` |
//! | `@server:uri` mentions in a user's message | `mention` |
//! | the built-in tools for models | `tools` |

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
use crate::host::{Host, HostServer};
use mcparley_catalog::is_skill_address;
use mcparley_pool::sample::Role;

pub use contents::ResourceContents;
pub use error::ResourceError;
pub use mention::{MentionedResource, MentionedResources};
pub use subscription::Subscription;
pub use template::{ResourceTemplate, TemplateError};

/// A resource, ready for display.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListedResource {
    /// The server of the resource.
    pub server: ServerName,
    /// The URI.
    pub uri: String,
    /// The name; the URI when the server gave none.
    pub name: String,
    /// A display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The MIME type.
    #[serde(rename = "mimeType", skip_serializing_if = "Option::is_none")]
    pub mime: Option<String>,
    /// The size in bytes, as the server reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// The intended audience and the importance.
    #[serde(skip_serializing_if = "ResourceAnnotations::is_empty")]
    pub annotations: ResourceAnnotations,
    /// The server's exact URI, as it is sent.
    #[serde(skip)]
    raw: String,
}

/// A server's annotations about the use of a resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceAnnotations {
    /// The intended audience; empty for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub audience: Vec<Role>,
    /// The importance, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<f64>,
    /// The time of the last change, as the server writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

impl ResourceAnnotations {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// All resources and templates that are known now.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Resources {
    /// The resources, in plan order and then in the order of the server. Files of skills are excluded.
    pub resources: Vec<ListedResource>,
    /// The templates, in the same order.
    pub templates: Vec<ResourceTemplate>,
}

impl Resources {
    pub(crate) fn from_servers<'s>(servers: impl Iterator<Item = &'s HostServer>) -> Self {
        let mut found = Self::default();
        for server in servers {
            let surface = &server.state.surface;
            let resources = listed::parse_resources(&server.name, &surface.resources).into_iter();
            found.resources.extend(resources.filter(|resource| !is_skill_address(&resource.uri)));
            found.templates.extend(listed::parse_templates(&server.name, &surface.templates));
        }
        found
    }
}

impl Host {
    /// All resources that are known now, of one server or of all; cached lists count, so servers need not be
    /// started.
    ///
    /// # Errors
    /// [`RequestError::UnknownServer`] when there is no server of this name.
    pub fn resources(&self, server: Option<&ServerName>) -> Result<Resources, RequestError> {
        if let Some(server) = server
            && self.connection(server).is_none()
        {
            return Err(self.no_server_error(server.as_str()));
        }
        let servers = self.servers();
        let wanted = servers.iter().filter(|known| server.is_none_or(|server| known.name == *server));
        Ok(Resources::from_servers(wanted))
    }
}
