//! Selects the servers of a command, and reports servers that do not work.

use std::sync::Arc;
use std::time::Duration;

use mcparley::catalog::BuiltIn;
use mcparley::config::LoadedConfig;
use mcparley::config::plan::PlanStatus;
use mcparley::host::HostServer;
use mcparley::model::limits::PUBLIC_NAME_LIMIT;
use mcparley::model::name::{ServerName, normalize_server};
use mcparley::model::text::Untrusted;
use mcparley::pool::connection::{ServerStatus, Unavailable};
use mcparley::{CallError, Host};
use serde::Serialize;

use super::print_problems;
use super::waiting::show_progress_during;
use crate::error::CommandError;
use crate::out::TerminalOutput;
use mcparley_report::{SignInTarget, effective_servers, sign_in_hint};

/// The upper limit of waiting. Connecting has timeouts of its own, so it is never reached in practice.
const PATIENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// The name of the built-in server, which is in no configuration file.
pub(super) const BUILT_IN: &str = "mcparley";

/// The number of last stderr lines printed for a server that fails.
const SHOWN_STDERR_LINES: usize = 5;

/// Whether a word is the full name of a tool, and not of a server.
pub(super) fn is_tool_name(loaded: &LoadedConfig, word: &str) -> bool {
    let own = [BuiltIn::ListResources, BuiltIn::ReadResource, BuiltIn::ReadResult, BuiltIn::ToolSearch];
    let built_in = own.iter().any(|tool| tool.as_str() == word);
    (built_in || word.starts_with("mcp__")) && loaded.plan.servers_by_name(word).is_empty()
}

/// The servers that may have the tool of this full name; `None` if any server may have it.
///
/// A name at the length limit may be shortened, so its prefix does not identify the server.
pub(super) fn owning_servers(loaded: &LoadedConfig, tool: &str) -> Option<Vec<ServerName>> {
    let ready = loaded.plan.ready_servers().map(|server| server.name.clone());
    let all = ready.chain([ServerName::new(BUILT_IN)]);
    let fits = |name: &ServerName| tool.starts_with(&format!("mcp__{}__", normalize_server(name)));
    let owners: Vec<ServerName> = all.filter(fits).collect();
    (!owners.is_empty() && tool.len() < PUBLIC_NAME_LIMIT).then_some(owners)
}

/// The one configured server that may have the tool or prompt of this full name; `None` if several may.
pub(super) fn owning_server(loaded: &LoadedConfig, name: &str) -> Option<ServerName> {
    let owners = owning_servers(loaded, name)?;
    let mut owners = owners.into_iter().filter(|owner| owner.as_str() != BUILT_IN);
    owners.next().filter(|_| owners.next().is_none())
}

/// Waits until every started server is ready, has failed or has timed out.
pub(super) async fn wait_until_settled(host: &Host, out: &mut TerminalOutput) -> Vec<HostServer> {
    show_progress_during(host, out, |_| true, host.wait_until_ready(PATIENCE)).await.servers
}

/// Waits until the server works. On a terminal the user can sign in to a server that needs it.
///
/// # Errors
/// The server does not work, or the user did not sign in.
pub(super) async fn wait_until_usable(
    host: &Host,
    server: &ServerName,
    out: &mut TerminalOutput,
) -> Result<Vec<HostServer>, CommandError> {
    let servers = settle_with_sign_in(host, server, out).await?;
    require_usable(&servers, server, out)?;
    Ok(servers)
}

/// Waits until every started server is settled. On a terminal the user can sign in to `server` if it needs
/// that.
///
/// # Errors
/// The user did not sign in.
pub(super) async fn settle_with_sign_in(
    host: &Host,
    server: &ServerName,
    out: &mut TerminalOutput,
) -> Result<Vec<HostServer>, CommandError> {
    let servers = wait_until_settled(host, out).await;
    let needs_sign_in =
        |known: &HostServer| known.name == *server && matches!(known.state.status, ServerStatus::NeedsAuth);
    if !servers.iter().any(needs_sign_in) || out.dialogs().is_none() {
        return Ok(servers);
    }
    sign_in_on_terminal(host, server, out).await?;
    Ok(wait_until_settled(host, out).await)
}

/// Shows the sign-in page of a server in a dialog, and waits for the sign-in.
///
/// # Errors
/// The user did not sign in.
pub(super) async fn sign_in_on_terminal(
    host: &Host,
    server: &ServerName,
    out: &mut TerminalOutput,
) -> Result<(), CommandError> {
    out.show_waiting("waiting for the sign-in …");
    let signed_in = host.sign_in_with_page(server).await;
    out.stop_waiting();
    let failure = |error| CommandError::sign_in_failure(SignInTarget::Server(server.as_str()), error);
    signed_in.map_err(failure)?;
    host.reconnect_server(server).await;
    Ok(())
}

/// The server of this name among `servers`.
///
/// # Errors
/// The server is unknown, or may not run.
pub(super) fn find_server(
    loaded: &LoadedConfig,
    servers: &[HostServer],
    name: &str,
    out: &mut TerminalOutput,
) -> Result<ServerName, CommandError> {
    let server = ServerName::new(name);
    if servers.iter().any(|known| known.name == server) {
        return Ok(server);
    }
    let declared = effective_servers(&loaded.plan).into_iter().find(|planned| planned.name == server);
    match declared {
        Some(planned) => {
            Err(CommandError::ServerUnusable { name: server, standing: Box::new(planned.status.clone()) })
        }
        None => {
            // The server may be in a file that could not be read.
            print_problems(loaded, out);
            Err(CommandError::NotFound { name: name.to_owned(), similar: loaded.similar_server_names(name) })
        }
    }
}

/// Requires that the server works; if not, prints its last stderr lines and returns the error.
pub(super) fn require_usable(
    servers: &[HostServer],
    name: &ServerName,
    out: &mut TerminalOutput,
) -> Result<(), CommandError> {
    let server = servers.iter().find(|server| server.name == *name);
    if let Err(error) = require_working(servers, name) {
        if let Some(ServerStatus::Failed(failure)) = server.map(|server| &server.state.status) {
            print_last_stderr(&failure.stderr, out);
        }
        return Err(error);
    }
    Ok(())
}

/// Requires that the server works. A server with a cached offer counts as working without being started, even
/// if it failed recently.
pub(super) fn require_working(servers: &[HostServer], name: &ServerName) -> Result<(), CommandError> {
    let server = servers.iter().find(|server| server.name == *name);
    let why = match server.map(|server| &server.state.status) {
        Some(ServerStatus::Connected { .. } | ServerStatus::Dormant) => return Ok(()),
        Some(ServerStatus::Failed(error)) if error.ago.is_some() && offers_something(server) => return Ok(()),
        Some(ServerStatus::Failed(error)) => Unavailable::Failed(Arc::clone(error)),
        Some(ServerStatus::NeedsAuth) => Unavailable::NeedsAuth,
        Some(ServerStatus::Disabled) => Unavailable::Disabled,
        _ => Unavailable::Stopped,
    };
    Err(CallError::Unavailable { server: name.clone(), why }.into())
}

fn offers_something(server: Option<&HostServer>) -> bool {
    server.is_some_and(|server| {
        let surface = &server.state.surface;
        !(surface.tools.is_empty() && surface.prompts.is_empty() && surface.resources.is_empty())
    })
}

/// Prints the last stderr lines of a server, except in JSON mode.
pub(super) fn print_last_stderr(stderr: &Untrusted, out: &mut TerminalOutput) {
    if out.json {
        return;
    }
    let said = stderr.clean_text();
    let lines: Vec<&str> = said.trim().lines().collect();
    for line in lines.iter().skip(lines.len().saturating_sub(SHOWN_STDERR_LINES)) {
        out.print_remark(&format!("stderr: {line}"));
    }
}

/// A server that does not work, or whose lists are incomplete, with the reason.
#[derive(Serialize)]
pub(super) struct IncompleteServer {
    server: ServerName,
    /// The connection status, or the plan status of a server that may not run.
    is: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// The reason why the tool list is incomplete; also included in the notes.
    #[serde(skip)]
    gap: Option<String>,
    /// Whether the server works, apart from the notes.
    #[serde(skip)]
    is_fine: bool,
}

/// The servers that do not work or are incomplete, among the selected ones.
pub(super) fn find_incomplete_servers(
    loaded: &LoadedConfig,
    servers: &[HostServer],
    only: Option<&ServerName>,
) -> Vec<IncompleteServer> {
    let wanted = |name: &ServerName| only.is_none_or(|only| only == name);
    let running = servers.iter().filter(|server| wanted(&server.name)).filter_map(incomplete_server);
    let plan = effective_servers(&loaded.plan);
    let resting = plan.into_iter().filter(|planned| planned.status != PlanStatus::Ready).map(|planned| {
        IncompleteServer {
            server: planned.name.clone(),
            is: planned.status.as_str(),
            reason: planned.status.reason(),
            hint: planned.status.hint(&planned.name),
            notes: Vec::new(),
            gap: None,
            is_fine: false,
        }
    });
    running.chain(resting.filter(|resting| wanted(&resting.server))).collect()
}

/// Prints a warning for each started server that does not work or is incomplete.
pub(super) fn print_server_warnings(servers: &[HostServer], out: &mut TerminalOutput) {
    servers.iter().filter_map(incomplete_server).for_each(|server| server.print_warnings(out));
}

fn incomplete_server(server: &HostServer) -> Option<IncompleteServer> {
    let status = &server.state.status;
    let hint = match status {
        ServerStatus::Failed(error) => error.hint(),
        ServerStatus::NeedsAuth => Some(sign_in_hint(&server.name)),
        _ => None,
    };
    let notes = server.state.surface.notes();
    let is_fine = matches!(status, ServerStatus::Connected { .. } | ServerStatus::Dormant);
    let is_whole = notes.is_empty() && is_fine;
    let gap = server.state.surface.gaps.iter().find(|gap| gap.method == "tools/list");
    (!is_whole).then(|| IncompleteServer {
        server: server.name.clone(),
        is: status.as_str(),
        reason: status.reason(),
        hint,
        notes,
        gap: gap.map(ToString::to_string),
        is_fine,
    })
}

impl IncompleteServer {
    /// The reason in one sentence; `None` if the tool list is complete.
    pub(super) fn reason_text(&self) -> Option<String> {
        let reason = match self.is_fine {
            true => self.gap.as_deref()?,
            false => self.reason.as_deref().unwrap_or(self.is),
        };
        Some(format!("server `{}`: {reason}", self.server))
    }

    pub(super) fn print_warnings(&self, out: &mut TerminalOutput) {
        if !self.is_fine {
            let reason = self.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            out.warn(&format!("server `{}`: {}{reason}", self.server, self.is));
        }
        for note in &self.notes {
            out.warn(&format!("server `{}`: {note}", self.server));
        }
        if let Some(hint) = &self.hint {
            out.hint(hint);
        }
    }
}
