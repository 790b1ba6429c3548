//! What commands show, as values: text and JSON come from the same ones.

use std::collections::BTreeMap;

use mcparley::model::config::{Hint, Kind, Reveal, Shown};
use mcparley::model::hook::Judged;
use mcparley::model::name::ServerName;
use mcparley::model::plan::{Caution, Enterprise, Plan, Planned, ServerStanding};
use mcparley::model::scope::{Origin, Scope};
use mcparley::model::settings::Warning;
use mcparley::{Loaded, Problem, SettingSource};
use serde::Serialize;

mod doctor;
mod health;
mod stderr;
mod waiting;

pub(crate) use doctor::DoctorReport;
pub(crate) use health::{HealthReport, summary};
pub(crate) use waiting::WaitingReport;

/// Everything `plan` knows.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlanReport<'l> {
    servers: Vec<ServerReport<'l>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hooks: Vec<Judged>,
    #[serde(skip_serializing_if = "WaitingReport::is_empty")]
    waiting: WaitingReport<'l>,
    problems: &'l [Problem],
    warnings: &'l [Warning],
    managed: ManagedReport<'l>,
    left_out: &'l [SettingSource],
}

impl<'l> PlanReport<'l> {
    /// All declarations, strongest first.
    pub(crate) fn of(loaded: &'l Loaded) -> Self {
        let servers = loaded.plan.servers.iter().rev();
        Self {
            servers: servers.map(|server| ServerReport::of(server, Reveal::Masked)).collect(),
            hooks: loaded.settings.hooks.judged(loaded.session),
            waiting: WaitingReport::of(&loaded.settings.waiting),
            problems: &loaded.problems,
            warnings: &loaded.settings.warnings,
            managed: ManagedReport::of(&loaded.enterprise),
            left_out: &loaded.left_out,
        }
    }
}

/// What `list` knows: one entry per name.
#[derive(Serialize)]
pub(crate) struct ListReport<'l> {
    servers: Vec<ListedReport<'l>>,
    problems: &'l [Problem],
    managed: ManagedReport<'l>,
}

/// A declaration and, if it was looked at, its health.
#[derive(Serialize)]
pub(crate) struct ListedReport<'l> {
    #[serde(flatten)]
    server: ServerReport<'l>,
    #[serde(skip_serializing_if = "Option::is_none")]
    health: Option<&'l HealthReport>,
}

impl<'l> ListReport<'l> {
    /// One declaration per name, with the health of those that were looked at.
    pub(crate) fn of(loaded: &'l Loaded, health: &'l BTreeMap<ServerName, HealthReport>) -> Self {
        let listed = |server: &'l Planned| ListedReport::of(server, health.get(&server.name));
        Self {
            servers: effective(&loaded.plan).into_iter().map(listed).collect(),
            problems: &loaded.problems,
            managed: ManagedReport::of(&loaded.enterprise),
        }
    }
}

impl<'l> ListedReport<'l> {
    /// One server as `list` reports it.
    pub(crate) fn of(server: &'l Planned, health: Option<&'l HealthReport>) -> Self {
        Self { server: ServerReport::of(server, Reveal::Masked), health }
    }
}

/// One declaration.
#[derive(Serialize)]
pub(crate) struct ServerReport<'l> {
    name: &'l ServerName,
    scope: Scope,
    standing: &'l ServerStanding,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    origin: &'l Origin,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<Kind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<Shown>,
    #[serde(skip_serializing_if = "Option::is_none")]
    definition: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cautions: Vec<&'l str>,
    #[serde(skip_serializing_if = "<[Caution]>::is_empty")]
    risks: &'l [Caution],
    #[serde(skip_serializing_if = "<[Hint]>::is_empty")]
    notes: &'l [Hint],
}

impl<'l> ServerReport<'l> {
    pub(crate) fn of(server: &'l Planned, reveal: Reveal) -> Self {
        let needs_approval = matches!(server.standing, ServerStanding::NeedsApproval(_));
        Self {
            name: &server.name,
            scope: server.scope,
            standing: &server.standing,
            hint: server.standing.hint(&server.name),
            origin: &server.origin,
            kind: server.kind,
            entry: server.raw.as_ref().map(|raw| raw.shown(server.kind, self::reveal(server, reveal))),
            definition: server.definition.filter(|_| needs_approval).map(|definition| definition.to_string()),
            cautions: server.dangerous_variables().collect(),
            risks: &server.cautions,
            notes: &server.hints,
        }
    }
}

/// Whether the administrator's files leave room for others.
#[derive(Serialize)]
struct ManagedReport<'l> {
    is: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'l str>,
}

impl<'l> ManagedReport<'l> {
    fn of(enterprise: &'l Enterprise) -> Self {
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

/// One declaration per name, the one that counts, in the order of the names.
pub(crate) fn effective(plan: &Plan) -> Vec<&Planned> {
    let mut by_name: BTreeMap<&ServerName, &Planned> = BTreeMap::new();
    for server in &plan.servers {
        let better = by_name.get(&server.name).is_none_or(|known| rank(server) >= rank(known));
        if better {
            by_name.insert(&server.name, server);
        }
    }
    by_name.into_values().collect()
}

/// How near a declaration is to running; of equals the stronger scope counts.
fn rank(server: &Planned) -> u8 {
    match server.standing {
        ServerStanding::Ready => 3,
        ServerStanding::NeedsApproval(_) => 2,
        ServerStanding::Disabled { .. }
        | ServerStanding::Rejected { .. }
        | ServerStanding::Blocked(_)
        | ServerStanding::Invalid(_)
        | ServerStanding::Skipped(_) => 1,
        ServerStanding::Shadowed { .. } | ServerStanding::Duplicate { .. } => 0,
    }
}

/// How much of a server may be seen: what waits for approval is shown whole, since somebody else wrote it.
pub(crate) fn reveal(server: &Planned, otherwise: Reveal) -> Reveal {
    match server.standing {
        ServerStanding::NeedsApproval(_) => Reveal::AsWritten,
        ServerStanding::Ready
        | ServerStanding::Disabled { .. }
        | ServerStanding::Rejected { .. }
        | ServerStanding::Blocked(_)
        | ServerStanding::Invalid(_)
        | ServerStanding::Skipped(_)
        | ServerStanding::Shadowed { .. }
        | ServerStanding::Duplicate { .. } => otherwise,
    }
}

/// What the server is, on one line, secrets masked.
pub(crate) fn target(server: &Planned) -> String {
    let Some(raw) = &server.raw else { return String::new() };
    let shown = raw.shown(server.kind, reveal(server, Reveal::Masked));
    match (shown.url, shown.command) {
        (Some(url), _) => url,
        (None, Some(command)) => std::iter::once(command).chain(shown.args).collect::<Vec<_>>().join(" "),
        (None, None) => String::new(),
    }
}
