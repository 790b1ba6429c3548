//! The state of the host as one serializable value. Secrets are masked, so it may be pasted anywhere.

use std::sync::Arc;

use mcparley_config::plan::{PlanStatus, PlannedServer};
use mcparley_model::config::{DisplayedServer, SecretVisibility, TransportKind};
use mcparley_model::hook::HookWithStatus;
use mcparley_model::name::{PublicNames, ServerName};
use mcparley_model::text::{Untrusted, clean_json};
use mcparley_model::time::whole_milliseconds;
use mcparley_wire::RawJson;
use serde::Serialize;
use serde_json::Value;

use super::{Host, HostServer};
use mcparley_catalog::{CatalogEntry, ChangedTool, Mention};
use mcparley_pool::connection::ServerStatus;

/// The state of a host: servers, tools, resources, prompts and hooks.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HostState {
    /// Every server that may run, with its state.
    pub clients: Vec<ServerStateReport>,
    /// Every other configured server, with the reason why it does not run.
    pub others: Vec<InactiveServer>,
    /// Every tool, in the order a model is shown them.
    pub tools: Vec<Arc<CatalogEntry>>,
    /// Tools whose descriptions mention another server's tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Mention>,
    /// Tools that have changed since they were first seen or last reviewed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed_tools: Vec<ChangedTool>,
    /// Every resource.
    pub resources: Vec<ListedItem>,
    /// Every resource template.
    pub resource_templates: Vec<ListedItem>,
    /// Every prompt.
    pub prompts: Vec<ListedItem>,
    /// Every hook in the settings, with its status.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<HookWithStatus>,
    /// The public names of tools, and the original names behind them.
    pub normalized_names: PublicNames,
}

/// A server that may run, with its state.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerStateReport {
    /// The server's name.
    pub name: ServerName,
    /// The kind of transport.
    #[serde(rename = "type")]
    pub kind: TransportKind,
    /// `pending`, `connected`, `failed`, `needs-auth` or `disabled`.
    pub state: &'static str,
    /// The reason for the state, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The end of standard error of a server that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// The negotiated protocol version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<&'static str>,
    /// The name that the server reports for itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The server's instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The duration of the connect.
    pub milliseconds: u64,
    /// Lists that are incomplete and tools that are withheld, with the reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What keeps clients of the server apart, where the daemon shares servers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sharing: Vec<String>,
    /// The server's entry, without secrets. In-process servers have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<DisplayedServer>,
}

/// A configured server that does not run.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct InactiveServer {
    /// The server's name.
    pub name: ServerName,
    /// Its plan status, with the reason.
    #[serde(rename = "standing")]
    pub status: PlanStatus,
}

/// An item that a server lists: a resource, a template or a prompt.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct ListedItem {
    /// The server.
    pub server: ServerName,
    /// The item, sanitized.
    #[serde(flatten)]
    pub listed: serde_json::Map<String, Value>,
}

impl Host {
    /// The current state of the host.
    #[must_use]
    pub fn state(&self) -> HostState {
        let servers = self.servers();
        let catalog = self.catalog();
        let loaded = self.loaded_config();
        let plan = &loaded.plan;
        let ready = |name: &ServerName| plan.ready_servers().find(|server| server.name == *name);
        let listed = |list: fn(&HostServer) -> &[RawJson]| -> Vec<ListedItem> {
            servers
                .iter()
                .flat_map(|server| list(server).iter().filter_map(|raw| parse_listed_item(&server.name, raw)))
                .collect()
        };
        HostState {
            clients: servers
                .iter()
                .map(|server| ServerStateReport::from_server(server, ready(&server.name)))
                .collect(),
            others: plan
                .servers
                .iter()
                .filter(|server| server.status != PlanStatus::Ready)
                .map(inactive_server)
                .collect(),
            tools: catalog.iter().cloned().collect(),
            mentions: catalog.mentions(),
            changed_tools: catalog.changed_tools().to_vec(),
            resources: listed(|server| &server.state.surface.resources),
            resource_templates: listed(|server| &server.state.surface.templates),
            prompts: listed(|server| &server.state.surface.prompts),
            hooks: loaded.settings.hooks.hooks_with_status(loaded.session),
            normalized_names: catalog.names().clone(),
        }
    }
}

impl ServerStateReport {
    fn from_server(server: &HostServer, planned: Option<&PlannedServer>) -> Self {
        let status = &server.state.status;
        let (protocol, description) = match status {
            ServerStatus::Connected { protocol, server } => (Some(*protocol), Some(server)),
            _ => (None, None),
        };
        let stderr = match status {
            ServerStatus::Failed(error) => Some(error.stderr.clean_text().trim().to_owned()),
            _ => None,
        };
        let text = |text: Option<&Untrusted>| text.map(|text| text.clean_text().into_owned());
        Self {
            name: server.name.clone(),
            kind: server.kind,
            state: status.as_str(),
            reason: status.reason(),
            stderr: stderr.filter(|text| !text.is_empty()),
            protocol: protocol.map(|agreed| agreed.version().as_str()),
            server: text(description.and_then(|server| server.name.as_ref())),
            instructions: text(server.state.surface.instructions.as_ref()),
            milliseconds: whole_milliseconds(server.state.connect_time),
            notes: server.state.surface.notes(),
            sharing: Vec::new(),
            config: planned.and_then(|planned| {
                planned.raw.as_ref().map(|raw| raw.to_displayed(planned.kind, SecretVisibility::Masked))
            }),
        }
    }
}

fn inactive_server(server: &PlannedServer) -> InactiveServer {
    InactiveServer { name: server.name.clone(), status: server.status.clone() }
}

fn parse_listed_item(server: &ServerName, raw: &RawJson) -> Option<ListedItem> {
    let listed = serde_json::from_str(&clean_json(raw.as_str())).ok()?;
    Some(ListedItem { server: server.clone(), listed })
}
