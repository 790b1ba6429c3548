//! Everything the host knows, as one value that can be written down (N12). Masked: it may be pasted anywhere.

use std::sync::Arc;

use mcparley_model::config::{Kind, Reveal, Shown};
use mcparley_model::hook::Judged;
use mcparley_model::name::{Names, ServerName};
use mcparley_model::plan::{Planned, ServerStanding};
use mcparley_model::text::{Untrusted, clean_json};
use mcparley_wire::RawJson;
use serde::Serialize;
use serde_json::Value;

use super::{Host, Server};
use crate::catalog::{ChangedTool, Entry, Mention};
use crate::connection::Status;

/// Everything the host knows.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HostState {
    /// Every server that may run, and how it is.
    pub clients: Vec<Client>,
    /// Every other configured server, and why it does not run.
    pub others: Vec<Other>,
    /// Every tool, in the order a model is shown them.
    pub tools: Vec<Arc<Entry>>,
    /// Tools whose descriptions speak of another server's tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Mention>,
    /// Tools that have changed since they were first met or last reviewed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed_tools: Vec<ChangedTool>,
    /// Every resource.
    pub resources: Vec<Owned>,
    /// Every template of resources.
    pub resource_templates: Vec<Owned>,
    /// Every prompt.
    pub prompts: Vec<Owned>,
    /// Every hook of the settings, and what becomes of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<Judged>,
    /// The public names of tools, and the way back.
    pub normalized_names: Names,
}

/// A server that may run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Client {
    /// Its name.
    pub name: ServerName,
    /// How it is reached.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// `pending`, `connected`, `failed`, `needs-auth` or `disabled`.
    pub state: &'static str,
    /// Why, where there is more to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The end of what a server that failed wrote to its standard error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// The protocol that was agreed on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<&'static str>,
    /// What it calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// How it wants to be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// How long reaching it took.
    pub milliseconds: u64,
    /// Lists that are not whole and tools that are withheld, with the reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Its entry, without secrets. Servers inside the program have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<Shown>,
}

/// A configured server that does not run.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Other {
    /// Its name.
    pub name: ServerName,
    /// Its fate, and why.
    pub standing: ServerStanding,
}

/// Something a server lists.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Owned {
    /// The server.
    pub server: ServerName,
    /// What it lists, cleaned.
    #[serde(flatten)]
    pub listed: serde_json::Map<String, Value>,
}

impl Host {
    /// Everything the host knows now.
    #[must_use]
    pub fn state(&self) -> HostState {
        let servers = self.servers();
        let catalog = self.catalog();
        let loaded = self.loaded();
        let plan = &loaded.plan;
        let ready = |name: &ServerName| plan.ready().find(|server| server.name == *name);
        let listed = |list: fn(&Server) -> &[RawJson]| -> Vec<Owned> {
            servers
                .iter()
                .flat_map(|server| list(server).iter().filter_map(|raw| owned(&server.name, raw)))
                .collect()
        };
        HostState {
            clients: servers.iter().map(|server| Client::of(server, ready(&server.name))).collect(),
            others: plan
                .servers
                .iter()
                .filter(|server| server.standing != ServerStanding::Ready)
                .map(other)
                .collect(),
            tools: catalog.iter().cloned().collect(),
            mentions: catalog.mentions(),
            changed_tools: catalog.changed().to_vec(),
            resources: listed(|server| &server.state.surface.resources),
            resource_templates: listed(|server| &server.state.surface.templates),
            prompts: listed(|server| &server.state.surface.prompts),
            hooks: loaded.settings.hooks.judged(loaded.session),
            normalized_names: catalog.names().clone(),
        }
    }
}

impl Client {
    fn of(server: &Server, planned: Option<&Planned>) -> Self {
        let status = &server.state.status;
        let (spoken, about) = match status {
            Status::Connected { spoken, about } => (Some(*spoken), Some(about)),
            _ => (None, None),
        };
        let stderr = match status {
            Status::Failed(error) => Some(error.stderr.clean().trim().to_owned()),
            _ => None,
        };
        let text = |text: Option<&Untrusted>| text.map(|text| text.clean().into_owned());
        Self {
            name: server.name.clone(),
            kind: server.kind,
            state: status.as_str(),
            reason: status.reason(),
            stderr: stderr.filter(|text| !text.is_empty()),
            protocol: spoken.map(|spoken| spoken.version().as_str()),
            server: text(about.and_then(|about| about.name.as_ref())),
            instructions: text(server.state.surface.instructions.as_ref()),
            milliseconds: u64::try_from(server.state.took.as_millis()).unwrap_or(u64::MAX),
            notes: server.state.surface.notes(),
            config: planned
                .and_then(|planned| planned.raw.as_ref().map(|raw| raw.shown(planned.kind, Reveal::Masked))),
        }
    }
}

fn other(server: &Planned) -> Other {
    Other { name: server.name.clone(), standing: server.standing.clone() }
}

fn owned(server: &ServerName, raw: &RawJson) -> Option<Owned> {
    let listed = serde_json::from_str(&clean_json(raw.as_str())).ok()?;
    Some(Owned { server: server.clone(), listed })
}
