//! Reads the detail of a server from the host.

use std::sync::Arc;

use mcparley::Host;
use mcparley::catalog::ToolSwitches;
use mcparley::config::LoadedConfig;
use mcparley::config::plan::PlannedServer;
use mcparley::host::HostServer;
use mcparley::model::config::SecretVisibility;
use mcparley::model::text::{display_block, display_line};
use mcparley::pool::connection::ServerStatus;
use mcparley::pool::log::{LogLine, LogSource};
use tokio::time::Instant;

use super::super::server_row::{RowId, ServerRow, format_seconds};
use super::{LogRow, ServerDetail, SurfaceLists, ToolStates};

/// The number of newest log lines that are shown.
const LOG_LINES: usize = 1_000;

impl ServerDetail {
    /// Reads the detail of a row from the host. Lists that have not changed since `before` are not parsed
    /// again.
    pub(in super::super) fn read(host: &Host, row: &ServerRow, before: &Self) -> Self {
        let loaded = host.loaded_config();
        let planned = find_planned(&loaded, &row.id);
        let home = host.paths().home.to_string_lossy().into_owned();
        let name = &row.id.server;
        let is_running = planned.is_none_or(|planned| planned.status.reason().is_none());
        let server = host.servers().into_iter().find(|server| is_running && server.name == *name);
        let log = server.as_ref().and_then(|_| host.server_log(name));
        let lists = match &server {
            Some(server) if Arc::ptr_eq(&before.lists.surface, &server.state.surface) => {
                Arc::clone(&before.lists)
            }
            Some(server) => Arc::new(SurfaceLists::from_surface(&server.state.surface)),
            None => Arc::default(),
        };
        let switches = planned.and_then(|planned| planned.config.as_ref()).map(ToolSwitches::from_config);
        Self {
            facts: facts_line(planned, server.as_ref())
                .into_iter()
                .map(|fact| shorten_home(&fact, &home))
                .collect(),
            tools: ToolStates {
                server: Some(name.clone()),
                switches: switches.unwrap_or_default(),
                catalog: host.catalog(),
                counts: host.call_counts(name),
            },
            running: host.running_calls().into_iter().filter(|call| call.server == *name).collect(),
            errors: error_texts(row, planned, server.as_ref(), log.as_ref().map(|(_, stderr)| stderr.raw())),
            about: about_text(row, planned, server.as_ref()),
            log: log.map(|(lines, stderr)| log_rows(&lines, stderr.raw())).unwrap_or_default(),
            lists,
        }
    }
}

/// The declaration of a row.
pub(in super::super) fn find_planned<'l>(loaded: &'l LoadedConfig, id: &RowId) -> Option<&'l PlannedServer> {
    let mut named = loaded.plan.servers.iter().filter(|planned| planned.name == id.server);
    named.find(|planned| planned.origin.to_string() == id.origin)
}

/// The facts above the tabs, the most useful first.
fn facts_line(planned: Option<&PlannedServer>, server: Option<&HostServer>) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some(planned) = planned {
        facts.extend(launch_text(planned));
        facts.push(planned.origin.to_string());
    }
    let Some(server) = server else { return facts };
    if let ServerStatus::Connected { protocol, .. } = &server.state.status {
        facts.push(protocol.version().as_str().to_owned());
    }
    let process = server.state.live.as_ref().and_then(|live| live.process_id);
    facts.extend(process.map(|id| format!("pid {id}")));
    if server.users > 1 {
        facts.push(format!("shared by {}", server.users));
    }
    facts
}

/// The text with `~` in place of the home directory.
fn shorten_home(text: &str, home: &str) -> String {
    if home.len() < 2 { text.to_owned() } else { text.replace(&format!("{home}/"), "~/") }
}

/// The command line or the URL of a server, with secrets masked.
fn launch_text(planned: &PlannedServer) -> Option<String> {
    let shown = planned.raw.as_ref()?.to_displayed(planned.kind, SecretVisibility::Masked);
    let words = shown.command.into_iter().chain(shown.args).collect::<Vec<_>>().join(" ");
    shown.url.or(Some(words)).filter(|text| !text.is_empty())
}

/// The paragraphs of the page of errors: the reason, the advice, standard error, and remarks.
fn error_texts(
    row: &ServerRow,
    planned: Option<&PlannedServer>,
    server: Option<&HostServer>,
    stderr: Option<&str>,
) -> Vec<String> {
    let mut texts = Vec::new();
    if let Some(reason) = row.state.reason() {
        texts.push(format!("{}: {}", row.state.words(Instant::now()), display_line(reason)));
    }
    texts.extend(advice(row, planned, server).map(|advice| format!("hint: {advice}")));
    let is_down = row.state.reason().is_some();
    if let Some(stderr) = stderr.filter(|text| is_down && !text.trim().is_empty()) {
        texts.push(format!("Standard error of the server:\n{}", display_block(stderr.trim_end())));
    }
    if let Some(server) = server {
        texts.extend(server.state.surface.notes().iter().map(|note| display_line(note).into_owned()));
    }
    if let Some(planned) = planned {
        texts.extend(planned.cautions.iter().map(|caution| format!("caution: {caution}")));
        texts.extend(planned.hints.iter().map(|hint| format!("hint: {}", hint.text)));
    }
    texts
}

/// The way out of a state that is not as the user wants it.
fn advice(row: &ServerRow, planned: Option<&PlannedServer>, server: Option<&HostServer>) -> Option<String> {
    use super::super::row_state::RowState;
    match &row.state {
        RowState::NeedsSignIn => Some("press l to sign in".to_owned()),
        RowState::NeedsApproval { .. } | RowState::Rejected { .. } => {
            Some("press a to look at the entry and approve it".to_owned())
        }
        RowState::Disabled { .. } => Some("press e to enable it".to_owned()),
        RowState::Failed { .. } => {
            let known = match server.map(|server| &server.state.status) {
                Some(ServerStatus::Failed(error)) if error.ago.is_none() => error.hint(),
                _ => None,
            };
            Some(known.unwrap_or_else(|| "press r to try again".to_owned()))
        }
        RowState::Unusable { .. } => planned.and_then(|planned| planned.status.hint(&planned.name)),
        RowState::Connected
        | RowState::Connecting { .. }
        | RowState::Reconnecting { .. }
        | RowState::OnDemand => None,
    }
}

/// The text about a server: its entry, its own name and version, and its instructions.
fn about_text(row: &ServerRow, planned: Option<&PlannedServer>, server: Option<&HostServer>) -> String {
    let mut lines = Vec::new();
    let mut field = |name: &str, value: &str| lines.push(format!("{name:11}{}", display_line(value)));
    if let Some(launch) = planned.and_then(launch_text) {
        field("entry", &launch);
    }
    field("declared", &row.id.origin);
    field("scope", row.scope);
    field("transport", row.transport);
    if let Some(took) = row.took {
        field("connect", &format_seconds(took));
    }
    if let Some(HostServer { state, .. }) = server {
        if let ServerStatus::Connected { protocol, server } = &state.status {
            field("protocol", protocol.version().as_str());
            let name = server.name.as_ref().map(|name| name.clean_text().into_owned());
            field("server", &name.unwrap_or_default());
        }
        if let Some(instructions) = &state.surface.instructions {
            lines.push(format!("\nInstructions of the server:\n\n{}", instructions.display_block()));
        }
    }
    lines.join("\n")
}

fn log_rows(lines: &[LogLine], stderr: &str) -> Vec<LogRow> {
    let from = lines.len().saturating_sub(LOG_LINES);
    let rows = lines.get(from..).unwrap_or_default().iter().map(|line| {
        let source = match &line.from {
            LogSource::Host => "host".to_owned(),
            LogSource::Server { level, .. } => level.clone(),
            LogSource::Stderr => "stderr".to_owned(),
        };
        LogRow { source, text: line.text.display_line().into_owned() }
    });
    let stderr = stderr
        .lines()
        .map(|line| LogRow { source: "stderr".to_owned(), text: display_line(line).into_owned() });
    rows.chain(stderr).collect()
}
