//! The doctor: checks servers, and diagnoses those that do not work.

use mcparley_config::plan::{BlockReason, PlanStatus, PlannedServer};
use mcparley_config::{LoadedConfig, Paths};
use mcparley_model::config::{ConfigError, DisplayedServer, SecretVisibility, TransportConfig};
use mcparley_model::expand::ExpandError;
use mcparley_model::name::{ServerName, ToolName, ToolNameCaution};
use mcparley_model::scope::Scope;
use mcparley_model::text::{round_duration, shell_word};
use mcparley_pool::connect::ConnectContext;
use mcparley_pool::health::{CheckDepth, CheckedServer, HealthCheck, ServerHealth};
use mcparley_pool::launch::build_launch;
use mcparley_wire::{Failure, Obstacle};

use crate::cause::{CauseTable, Diagnosis};
use crate::facts::ServerFacts;
use crate::finding::{self, DoctorFinding};
use crate::placeholders::{Blank, Blanks};
use crate::server_report::ServerExamination;
use crate::suggestion;

/// Checks servers and diagnoses those that do not work.
#[derive(Clone, Debug)]
pub struct Doctor {
    checkup: HealthCheck,
}

impl Doctor {
    /// Creates a doctor that connects to servers with this context and checks every step.
    #[must_use]
    pub fn new(connect_context: ConnectContext) -> Self {
        let mut checkup = HealthCheck::with_context(connect_context);
        checkup.depth = CheckDepth::Thorough;
        Self { checkup }
    }

    /// The problems outside of any single server, most serious first.
    #[must_use]
    pub fn findings(&self, loaded: &LoadedConfig, servers: &[&PlannedServer]) -> Vec<DoctorFinding> {
        finding::collect_findings(&self.checkup.context, loaded, servers)
    }

    /// Examines these servers and passes each result to `settled` as soon as it is known.
    ///
    /// Servers that may not run are reported with the reason and not started. Returns the cautions about tool
    /// names, which can be compared only once the tools of all servers are known.
    pub async fn examine_servers(
        &self,
        servers: &[&PlannedServer],
        mut settled: impl FnMut(ServerExamination),
    ) -> Vec<ToolNameCaution> {
        for server in servers.iter().filter(|server| server.status != PlanStatus::Ready) {
            settled(self.examine_idle(server));
        }
        let mut tools: Vec<(ServerName, ToolName)> = Vec::new();
        let checking = self.checkup.check_servers(servers, |checked| {
            if let ServerHealth::Connected { surface, .. } = &checked.health {
                tools.extend(surface.tools.iter().map(|tool| (checked.name.clone(), tool.name.clone())));
            }
            let of_it =
                |server: &&&PlannedServer| server.status == PlanStatus::Ready && server.name == checked.name;
            if let Some(server) = servers.iter().find(of_it) {
                settled(self.examine_checked(server, &checked));
            }
        });
        checking.await;
        ToolNameCaution::find_cautions(tools.iter().map(|(server, tool)| (server, tool)))
    }

    fn examine_idle(&self, server: &PlannedServer) -> ServerExamination {
        let facts = ServerFacts::from_planned(server);
        ServerExamination::for_idle_server(server, self.diagnose_server(server, &facts, None))
    }

    fn examine_checked(&self, server: &PlannedServer, checked: &CheckedServer) -> ServerExamination {
        let diagnosis = match &checked.health {
            ServerHealth::Failed { failure, .. } => {
                self.diagnose_server(server, &ServerFacts::from_check(server, checked), Some(failure))
            }
            ServerHealth::Connected { .. } => None,
        };
        ServerExamination::from_check(server, checked, diagnosis)
    }

    fn diagnose_server(
        &self,
        server: &PlannedServer,
        facts: &ServerFacts,
        failure: Option<&Failure>,
    ) -> Option<Diagnosis> {
        let cause = CauseTable::static_table().find_cause(facts)?;
        let mut blanks = Blanks::default();
        fill_entry_blanks(server, &self.checkup.context.dialer.paths, &mut blanks);
        fill_status_blanks(server, &mut blanks);
        blanks.set(Blank::Host, facts.host.as_deref());
        blanks.set(Blank::Status, facts.status);
        blanks.set(Blank::Exit, facts.exit);
        blanks.set(Blank::Signal, facts.signal);
        blanks.set(Blank::Lines, (facts.strays > 0).then_some(facts.strays));
        blanks.set(Blank::Limit, Some(format!("{:?}", round_duration(self.checkup.context.dialer.limit))));
        if let Some(failure) = failure {
            self.fill_failure_blanks(server, facts, failure, &mut blanks);
        }
        Some(cause.to_diagnosis(&blanks))
    }

    fn fill_failure_blanks(
        &self,
        server: &PlannedServer,
        facts: &ServerFacts,
        failure: &Failure,
        blanks: &mut Blanks,
    ) {
        if let Failure::Refused { reason, hint, .. } = failure {
            blanks.set(Blank::Reason, Some(reason));
            blanks.set(Blank::Remedy, hint.as_ref());
        }
        let Some(TransportConfig::Stdio(stdio)) = server.config.as_ref().map(|config| &config.transport)
        else {
            return;
        };
        let connect_context = &self.checkup.context;
        let launch = build_launch(stdio, &connect_context.dialer.env, &connect_context.dialer.paths);
        if let Failure::Refused { obstacle: Obstacle::NoProgram, .. } = failure {
            let found = suggestion::find_elsewhere(
                &launch,
                &CauseTable::static_table().places,
                &connect_context.dialer.paths.home,
            );
            blanks.set(Blank::Elsewhere, found.as_ref().map(|path| path.to_string_lossy()));
            blanks.set(Blank::Nearest, suggestion::nearest_program(&launch));
        }
        blanks.set(
            Blank::Variable,
            suggestion::find_variable(&launch, &connect_context.dialer.env, &facts.last_lines()),
        );
    }
}

/// Fills in the placeholders that come from the configuration entry.
fn fill_entry_blanks(server: &PlannedServer, paths: &Paths, blanks: &mut Blanks) {
    blanks.set(Blank::Server, Some(shell_word(server.name.as_str())));
    blanks.set(Blank::Scope, scope_option(server.scope));
    blanks.set(Blank::File, Some(&server.origin));
    // Masked: the value of a variable may be a secret.
    let shown = server.raw.as_ref().map(|raw| raw.to_displayed(server.kind, SecretVisibility::Masked));
    if let Some(DisplayedServer { command, cwd, .. }) = shown {
        blanks.set(Blank::Program, command);
        let project = paths.project.to_string_lossy().into_owned();
        blanks.set(Blank::Folder, Some(cwd.unwrap_or(project)));
    }
    let url = match server.config.as_ref().map(|config| &config.transport) {
        Some(TransportConfig::Http(remote) | TransportConfig::Sse(remote) | TransportConfig::Ws(remote)) => {
            Some(remote.url.expose())
        }
        Some(TransportConfig::SseIde(ide) | TransportConfig::WsIde(ide)) => Some(&ide.url),
        Some(TransportConfig::ClaudeAiProxy { url, .. }) => Some(url),
        Some(TransportConfig::Stdio(_) | TransportConfig::Sdk { .. }) | None => None,
    };
    blanks.set(Blank::Port, url.and_then(|url| url.port_or_known_default()));
}

/// Fills in the placeholders that come from the plan status.
fn fill_status_blanks(server: &PlannedServer, blanks: &mut Blanks) {
    blanks.set(Blank::Reason, server.status.reason());
    blanks.set(Blank::Remedy, server.status.hint(&server.name));
    match &server.status {
        PlanStatus::Invalid(ConfigError::Expand(ExpandError::Unset { name, origin })) => {
            blanks.set(Blank::Variable, Some(name));
            blanks.set(Blank::File, Some(origin));
        }
        PlanStatus::Invalid(error) => blanks.set(Blank::File, Some(error.origin())),
        PlanStatus::Blocked(BlockReason::ManagedOnly { file } | BlockReason::ManagedBroken { file, .. }) => {
            blanks.set(Blank::File, Some(file));
        }
        PlanStatus::Blocked(BlockReason::Policy(violation) | BlockReason::Alias { violation, .. }) => {
            blanks.set(Blank::File, Some(violation.origin()));
        }
        PlanStatus::Blocked(BlockReason::Strict)
        | PlanStatus::Ready
        | PlanStatus::NeedsApproval(_)
        | PlanStatus::Rejected { .. }
        | PlanStatus::Disabled { .. }
        | PlanStatus::Shadowed { .. }
        | PlanStatus::Duplicate { .. }
        | PlanStatus::Skipped(_) => {}
    }
}

/// The `--scope` option of `remove`, for scopes that `remove` can edit.
fn scope_option(scope: Scope) -> Option<&'static str> {
    match scope {
        Scope::User => Some("-s user"),
        Scope::Project => Some("-s project"),
        Scope::Local => Some("-s local"),
        Scope::Connectors | Scope::Plugin | Scope::Dynamic | Scope::Enterprise => None,
    }
}
