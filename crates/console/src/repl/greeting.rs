//! The greeting: one line with the state of the servers and the model, from cached lists.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use mcparley::Host;
use mcparley::config::plan::PlanStatus;
use mcparley::model::text::display_line;
use mcparley::pool::connection::ServerStatus;
use unicode_width::UnicodeWidthStr;

use super::known_names::is_built_in;

/// The names in one group of the greeting; more are counted only.
const NAMES: usize = 3;

/// The text between two parts of the greeting.
const SEPARATOR: &str = " · ";

/// The names of the configured servers, by state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerSummary {
    /// Connected servers.
    pub(crate) connected: Vec<String>,
    /// Servers that connect on demand, because their lists are cached.
    pub(crate) ready: Vec<String>,
    /// Servers that are connecting.
    pub(crate) connecting: Vec<String>,
    /// Servers that failed.
    pub(crate) failed: Vec<String>,
    /// Servers that need a sign-in.
    pub(crate) needs_sign_in: Vec<String>,
    /// Servers that wait for the user's approval.
    pub(crate) needs_approval: Vec<String>,
    /// Servers that are disabled.
    pub(crate) disabled: Vec<String>,
    /// Servers that may not run for another reason.
    pub(crate) unusable: Vec<String>,
}

impl ServerSummary {
    /// Reads the state of all servers, without waiting for one.
    pub(crate) fn from_host(host: &Host) -> Self {
        let mut summary = Self::default();
        let mut seen = BTreeSet::new();
        for server in host.servers().into_iter().filter(|server| !is_built_in(server.name.as_str())) {
            let group = match server.state.status {
                ServerStatus::Connected { .. } => &mut summary.connected,
                ServerStatus::Dormant => &mut summary.ready,
                ServerStatus::Pending { .. } => &mut summary.connecting,
                ServerStatus::Failed(_) => &mut summary.failed,
                ServerStatus::NeedsAuth => &mut summary.needs_sign_in,
                _ => &mut summary.disabled,
            };
            group.push(server.name.as_str().to_owned());
            seen.insert(server.name);
        }
        for planned in &host.loaded_config().plan.servers {
            let group = match planned.status {
                PlanStatus::NeedsApproval(_) => &mut summary.needs_approval,
                PlanStatus::Disabled { .. } => &mut summary.disabled,
                PlanStatus::Invalid(_)
                | PlanStatus::Blocked(_)
                | PlanStatus::Rejected { .. }
                | PlanStatus::Skipped(_) => &mut summary.unusable,
                PlanStatus::Ready | PlanStatus::Shadowed { .. } | PlanStatus::Duplicate { .. } => continue,
            };
            if seen.insert(planned.name.clone()) {
                group.push(planned.name.as_str().to_owned());
            }
        }
        summary
    }

    /// The groups that have members, such as `1 failed (jira)`.
    fn to_text(&self) -> String {
        let quiet =
            [(&self.connected, "connected"), (&self.ready, "ready"), (&self.connecting, "connecting")];
        let named = [
            (&self.failed, "failed"),
            (&self.needs_sign_in, "needs sign-in"),
            (&self.needs_approval, "waits for approval"),
            (&self.disabled, "disabled"),
            (&self.unusable, "not usable"),
        ];
        let total: usize = quiet.iter().chain(&named).map(|(names, _)| names.len()).sum();
        if total == 0 {
            return "no servers yet: /mcp add NAME COMMAND".to_owned();
        }
        let counts = quiet.iter().map(|(names, state)| (names.len(), format!("{} {state}", names.len())));
        let lists = named
            .iter()
            .map(|(names, state)| (names.len(), format!("{} {state} ({})", names.len(), list_names(names))));
        let groups: Vec<String> =
            counts.chain(lists).filter(|(count, _)| *count > 0).map(|(_, text)| text).collect();
        let word = if total == 1 { "server" } else { "servers" };
        format!("{total} {word}: {}", groups.join(", "))
    }
}

/// The greeting: one line, or several that break between its parts on a narrow terminal.
pub(crate) fn greeting_text(
    version: &str,
    servers: &ServerSummary,
    model: Option<&str>,
    columns: usize,
) -> String {
    // `0.1` of `0.1.0`: patch releases do not matter here.
    let version = version.rsplit_once('.').map_or(version, |(short, _)| short);
    let model = model.map_or_else(|| "none".to_owned(), |name| display_line(name).into_owned());
    let parts =
        [format!("mcparley {version}"), servers.to_text(), format!("model: {model}"), "/help".to_owned()];
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.width() + SEPARATOR.width() + part.width() <= columns => {
                line.push_str(SEPARATOR);
                line.push_str(&part);
            }
            Some(_) | None => lines.push(part),
        }
    }
    lines.join("\n")
}

fn list_names(names: &[String]) -> String {
    let shown: Vec<_> = names.iter().take(NAMES).map(|name| display_line(name)).collect();
    let more = if names.len() > NAMES { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}
