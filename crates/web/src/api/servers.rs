//! The servers with their states, as the left column shows them.

use std::collections::HashMap;

use mcparley::Host;
use mcparley::config::plan::{PlanStatus, PlannedServer};
use mcparley::host::HostServer;
use mcparley::model::config::TransportKind;
use mcparley::model::name::ServerName;
use mcparley::pool::connection::ServerStatus;
use mcparley_model::text::truncate_text;
use serde::Serialize;

/// The scope of servers that no file declares.
const BUILT_IN: &str = "built-in";
/// The number of characters of standard error that are shown.
const STDERR_CHARS: usize = 4000;

/// A configured server, as the page shows it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerCard {
    name: String,
    scope: &'static str,
    transport: &'static str,
    /// The file and line of the entry.
    origin: String,
    /// The state in one word, which decides the color.
    state: &'static str,
    /// The state in words for people.
    words: String,
    reason: Option<String>,
    stderr: Option<String>,
    protocol: Option<&'static str>,
    tools: usize,
    prompts: usize,
    resources: usize,
    /// The duration of the last attempt to connect.
    milliseconds: u128,
    /// The number of calls that run now.
    running: usize,
    actions: Vec<&'static str>,
}

/// Every configured server of a host, then those of the program itself.
pub(crate) fn list_servers(host: &Host) -> Vec<ServerCard> {
    let (servers, loaded) = (host.servers(), host.loaded_config());
    let by_name: HashMap<&ServerName, &HostServer> =
        servers.iter().map(|server| (&server.name, server)).collect();
    let mut running: HashMap<ServerName, usize> = HashMap::new();
    for call in host.running_calls() {
        *running.entry(call.server).or_default() += 1;
    }
    let planned = loaded.plan.servers.iter().map(|planned| {
        let card = ServerCard::from_plan(planned);
        match (&planned.status, by_name.get(&planned.name)) {
            (PlanStatus::Ready, Some(server)) => card.with_connection(server),
            _ => card,
        }
    });
    let is_planned = |name: &ServerName| loaded.plan.ready_servers().any(|planned| planned.name == *name);
    let built_in = servers.iter().filter(|server| !is_planned(&server.name)).map(ServerCard::from_built_in);
    let count = |card: ServerCard| ServerCard {
        running: running.get(&ServerName::new(&card.name)).copied().unwrap_or_default(),
        ..card
    };
    planned.chain(built_in).map(count).collect()
}

impl ServerCard {
    fn from_plan(planned: &PlannedServer) -> Self {
        let (state, words, actions) = describe_plan(&planned.status);
        Self {
            name: planned.name.as_str().to_owned(),
            scope: planned.scope.as_str(),
            transport: planned.kind.map_or("?", TransportKind::as_str),
            origin: planned.origin.to_string(),
            state,
            words: words.to_owned(),
            reason: planned.status.reason(),
            stderr: None,
            protocol: None,
            tools: 0,
            prompts: 0,
            resources: 0,
            milliseconds: 0,
            running: 0,
            actions,
        }
    }

    fn from_built_in(server: &HostServer) -> Self {
        let blank = Self {
            name: server.name.as_str().to_owned(),
            scope: BUILT_IN,
            transport: server.kind.as_str(),
            origin: BUILT_IN.to_owned(),
            state: "idle",
            words: String::new(),
            reason: None,
            stderr: None,
            protocol: None,
            tools: 0,
            prompts: 0,
            resources: 0,
            milliseconds: 0,
            running: 0,
            actions: Vec::new(),
        };
        blank.with_connection(server)
    }

    fn with_connection(self, server: &HostServer) -> Self {
        let (status, surface) = (&server.state.status, &server.state.surface);
        let (state, words) = describe_status(status);
        let (protocol, stderr) = match status {
            ServerStatus::Connected { protocol, .. } => (Some(protocol.version().as_str()), None),
            ServerStatus::Failed(error) => (None, Some(error.stderr.clean_text().trim().to_owned())),
            _ => (None, None),
        };
        Self {
            state,
            words,
            reason: status.reason().filter(|_| !matches!(status, ServerStatus::Dormant)),
            stderr: stderr
                .filter(|text| !text.is_empty())
                .map(|text| truncate_text(&text, STDERR_CHARS).into()),
            protocol,
            tools: surface.tools.len(),
            prompts: surface.prompts.len(),
            resources: surface.resources.len() + surface.templates.len(),
            milliseconds: server.state.connect_time.as_millis(),
            actions: match status {
                ServerStatus::NeedsAuth => vec!["sign-in", "reconnect", "disable"],
                ServerStatus::Disabled | ServerStatus::Stopped => vec!["enable"],
                _ => vec!["reconnect", "disable"],
            },
            ..self
        }
    }
}

/// The state of a server by its plan: the word for the color, the words for people, and the actions.
fn describe_plan(status: &PlanStatus) -> (&'static str, &'static str, Vec<&'static str>) {
    match status {
        PlanStatus::Ready => ("idle", "not started", vec!["reconnect", "disable"]),
        PlanStatus::NeedsApproval(_) => ("waiting", "waits for approval", vec!["approve"]),
        PlanStatus::Disabled { .. } => ("off", "disabled", vec!["enable"]),
        PlanStatus::Rejected { .. } => ("off", "rejected", Vec::new()),
        PlanStatus::Blocked(_)
        | PlanStatus::Shadowed { .. }
        | PlanStatus::Duplicate { .. }
        | PlanStatus::Skipped(_) => ("off", status.as_str(), Vec::new()),
        PlanStatus::Invalid(_) => ("failed", status.as_str(), Vec::new()),
    }
}

fn describe_status(status: &ServerStatus) -> (&'static str, String) {
    match status {
        ServerStatus::Dormant => ("idle", "starts on demand".to_owned()),
        ServerStatus::Pending { attempt: 0, .. } => ("waiting", "connecting".to_owned()),
        ServerStatus::Pending { attempt, .. } => ("waiting", format!("reconnecting, attempt {attempt}")),
        ServerStatus::Connected { .. } => ("connected", "connected".to_owned()),
        ServerStatus::Failed(_) => ("failed", "failed".to_owned()),
        ServerStatus::NeedsAuth => ("sign-in", "needs sign-in".to_owned()),
        ServerStatus::Disabled => ("off", "disabled".to_owned()),
        ServerStatus::Stopped => ("off", "stopped".to_owned()),
        other => ("waiting", other.as_str().to_owned()),
    }
}
