//! Reports of commands, as values: text and JSON are rendered from the same value.
//!
//! Pure on purpose: the command line only prints them. [`PlanReport`], [`ListReport`] and [`ServerReport`] are
//! here; the others are in `doctor`, `health`, `pending_approvals`, `sharing`, `sign_in`, `stderr` and
//! `tool_table`.

use std::collections::BTreeMap;

use mcparley::config::plan::{Caution, Enterprise, Plan, PlanStatus, PlannedServer};
use mcparley::config::{ConfigProblem, LoadedConfig, SettingSource};
use mcparley::model::config::{DisplayedServer, EntryHint, SecretVisibility, TransportKind};
use mcparley::model::hook::HookWithStatus;
use mcparley::model::name::ServerName;
use mcparley::model::scope::{ConfigOrigin, Scope};
use mcparley::model::settings::SettingsWarning;
use serde::Serialize;

mod doctor;
mod health;
mod pending_approvals;
mod sharing;
mod sign_in;
mod stderr;
mod tool_table;

pub use doctor::DoctorReport;
pub use health::{HealthReport, health_summary};
pub use pending_approvals::WaitingReport;
pub use sharing::SharingNotes;
pub use sign_in::{PendingSignIn, SignInTarget, login_command, sign_in_hint, sign_in_hint_after_check};
pub use tool_table::{RowNames, TableTerminal, render_tool_table};

/// The report of `plan`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanReport<'l> {
    servers: Vec<ServerReport<'l>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hooks: Vec<HookWithStatus>,
    #[serde(skip_serializing_if = "WaitingReport::is_empty")]
    waiting: WaitingReport<'l>,
    problems: &'l [ConfigProblem],
    warnings: &'l [SettingsWarning],
    managed: ManagedReport<'l>,
    left_out: &'l [SettingSource],
}

impl<'l> PlanReport<'l> {
    /// Reports all entries, highest precedence first, with these notes about sharing.
    pub fn from_loaded(loaded: &'l LoadedConfig, sharing: &SharingNotes) -> Self {
        let report = |server| ServerReport {
            sharing: sharing.explain_server(server),
            ..ServerReport::from_planned(server, SecretVisibility::Masked)
        };
        Self {
            servers: loaded.plan.servers.iter().rev().map(report).collect(),
            hooks: loaded.settings.hooks.hooks_with_status(loaded.session),
            waiting: WaitingReport::from_items(&loaded.settings.waiting),
            problems: &loaded.problems,
            warnings: &loaded.settings.warnings,
            managed: ManagedReport::from_enterprise(&loaded.enterprise),
            left_out: &loaded.left_out,
        }
    }
}

/// The report of `list`: one server per name.
#[derive(Debug, Serialize)]
pub struct ListReport<'l> {
    servers: Vec<ListedReport<'l>>,
    problems: &'l [ConfigProblem],
    managed: ManagedReport<'l>,
}

/// A server and, if it was checked, its health.
#[derive(Debug, Serialize)]
pub struct ListedReport<'l> {
    #[serde(flatten)]
    server: ServerReport<'l>,
    #[serde(skip_serializing_if = "Option::is_none")]
    health: Option<&'l HealthReport>,
}

impl<'l> ListReport<'l> {
    /// Reports one server per name, with the health of those that were checked.
    pub fn from_loaded(loaded: &'l LoadedConfig, health: &'l BTreeMap<ServerName, HealthReport>) -> Self {
        let listed = |server: &'l PlannedServer| ListedReport::from_planned(server, health.get(&server.name));
        Self {
            servers: effective_servers(&loaded.plan).into_iter().map(listed).collect(),
            problems: &loaded.problems,
            managed: ManagedReport::from_enterprise(&loaded.enterprise),
        }
    }
}

impl<'l> ListedReport<'l> {
    /// Reports one server as `list` does.
    pub fn from_planned(server: &'l PlannedServer, health: Option<&'l HealthReport>) -> Self {
        Self { server: ServerReport::from_planned(server, SecretVisibility::Masked), health }
    }
}

/// One configuration entry of a server.
#[derive(Debug, Serialize)]
pub struct ServerReport<'l> {
    name: &'l ServerName,
    scope: Scope,
    #[serde(rename = "standing")]
    status: &'l PlanStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    origin: &'l ConfigOrigin,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<TransportKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<DisplayedServer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    definition: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cautions: Vec<&'l str>,
    #[serde(skip_serializing_if = "<[Caution]>::is_empty")]
    risks: &'l [Caution],
    #[serde(skip_serializing_if = "<[EntryHint]>::is_empty")]
    notes: &'l [EntryHint],
    /// What keeps clients of the server apart, where the daemon shares servers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sharing: Vec<String>,
}

impl<'l> ServerReport<'l> {
    /// Reports one entry.
    #[must_use]
    pub fn from_planned(server: &'l PlannedServer, reveal: SecretVisibility) -> Self {
        let needs_approval = matches!(server.status, PlanStatus::NeedsApproval(_));
        Self {
            name: &server.name,
            scope: server.scope,
            status: &server.status,
            hint: server.status.hint(&server.name),
            origin: &server.origin,
            kind: server.kind,
            entry: server
                .raw
                .as_ref()
                .map(|raw| raw.to_displayed(server.kind, self::effective_reveal(server, reveal))),
            definition: server.definition.filter(|_| needs_approval).map(|definition| definition.to_string()),
            cautions: server.dangerous_variables().collect(),
            risks: &server.cautions,
            notes: &server.hints,
            sharing: Vec::new(),
        }
    }
}

/// Whether managed files exclude other servers.
#[derive(Debug, Serialize)]
struct ManagedReport<'l> {
    is: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'l str>,
}

impl<'l> ManagedReport<'l> {
    fn from_enterprise(enterprise: &'l Enterprise) -> Self {
        match enterprise {
            Enterprise::Absent => Self { is: "absent", file: None, reason: None },
            Enterprise::Exclusive(file) => {
                Self { is: "exclusive", file: Some(file.to_string()), reason: None }
            }
            Enterprise::Broken { source, reason } => {
                Self { is: "broken", file: Some(source.to_string()), reason: Some(reason) }
            }
        }
    }
}

/// The effective entry of each server name, sorted by name.
pub fn effective_servers(plan: &Plan) -> Vec<&PlannedServer> {
    let mut by_name: BTreeMap<&ServerName, &PlannedServer> = BTreeMap::new();
    for server in &plan.servers {
        let better = by_name.get(&server.name).is_none_or(|known| plan_rank(server) >= plan_rank(known));
        if better {
            by_name.insert(&server.name, server);
        }
    }
    by_name.into_values().collect()
}

/// The rank of an entry, by how close it is to running; among equals the scope of higher precedence wins.
fn plan_rank(server: &PlannedServer) -> u8 {
    match server.status {
        PlanStatus::Ready => 3,
        PlanStatus::NeedsApproval(_) => 2,
        PlanStatus::Disabled { .. }
        | PlanStatus::Rejected { .. }
        | PlanStatus::Blocked(_)
        | PlanStatus::Invalid(_)
        | PlanStatus::Skipped(_) => 1,
        PlanStatus::Shadowed { .. } | PlanStatus::Duplicate { .. } => 0,
    }
}

/// The masking of a server's fields. A server that needs approval is shown in full, because another person
/// wrote it.
pub fn effective_reveal(server: &PlannedServer, otherwise: SecretVisibility) -> SecretVisibility {
    match server.status {
        PlanStatus::NeedsApproval(_) => SecretVisibility::AsWritten,
        PlanStatus::Ready
        | PlanStatus::Disabled { .. }
        | PlanStatus::Rejected { .. }
        | PlanStatus::Blocked(_)
        | PlanStatus::Invalid(_)
        | PlanStatus::Skipped(_)
        | PlanStatus::Shadowed { .. }
        | PlanStatus::Duplicate { .. } => otherwise,
    }
}

/// The command or URL of the server on one line, with secrets masked.
pub fn target_line(server: &PlannedServer) -> String {
    let Some(raw) = &server.raw else { return String::new() };
    let shown = raw.to_displayed(server.kind, effective_reveal(server, SecretVisibility::Masked));
    match (shown.url, shown.command) {
        (Some(url), _) => url,
        (None, Some(command)) => std::iter::once(command).chain(shown.args).collect::<Vec<_>>().join(" "),
        (None, None) => String::new(),
    }
}
