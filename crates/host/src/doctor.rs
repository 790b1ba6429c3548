//! Finds out why servers do not work, and says what to do (`mcparley doctor`).
//!
//! | what | where |
//! |---|---|
//! | trying the servers | [`crate::health`], looking closely |
//! | what is known of one that fails | `facts` |
//! | the known causes, and which fits | `causes.json`, `cause` |
//! | what stands in their blanks | `blank`, `suggestion` |
//! | what is wrong around the servers | `finding` |

mod blank;
mod cause;
mod examined;
mod facts;
mod finding;
mod suggestion;

use mcparley_model::config::{ConfigError, Reveal, Shown, Transport};
use mcparley_model::expand::{Env, ExpandError};
use mcparley_model::name::{ServerName, ToolName, ToolNameCaution};
use mcparley_model::plan::{Block, Planned, ServerStanding};
use mcparley_model::scope::Scope;
use mcparley_model::text::{rounded, shell_word};
use mcparley_wire::{Failure, Obstacle};

use crate::connect::Surroundings;
use crate::health::{Care, Checked, Checkup, Health};
use crate::launch::launch;
use crate::paths::Paths;
use crate::sources::Loaded;
use blank::{Blank, Blanks};
use cause::Table;
use facts::Facts;

pub use cause::Diagnosis;
pub use examined::{Examined, Offers, Trouble, Verdict};
pub use finding::{Finding, Weight};

/// Looks into servers that do not work.
#[derive(Clone, Debug)]
pub struct Doctor {
    checkup: Checkup,
}

impl Doctor {
    /// With the usual limits, as far as variables do not change them.
    #[must_use]
    pub fn new(env: &Env, paths: &Paths) -> Self {
        Self::of(Surroundings::new(env, paths))
    }

    /// The same with surroundings that were made before.
    #[must_use]
    pub fn of(surroundings: Surroundings) -> Self {
        Self { checkup: Checkup { care: Care::Thorough, ..Checkup::of(surroundings) } }
    }

    /// What is wrong around these servers, the weightiest first.
    #[must_use]
    pub fn findings(&self, loaded: &Loaded, servers: &[&Planned]) -> Vec<Finding> {
        finding::findings(&self.checkup.surroundings, loaded, servers)
    }

    /// Looks at every one of these servers; `settled` hears of each as soon as it is known. Those that may not run are
    /// told with the reason and not started. Gives the cautions about the names of all their tools, which can only be
    /// compared once all servers are known.
    pub async fn examine(
        &self,
        servers: &[&Planned],
        mut settled: impl FnMut(Examined),
    ) -> Vec<ToolNameCaution> {
        for server in servers.iter().filter(|server| server.standing != ServerStanding::Ready) {
            settled(self.resting(server));
        }
        let mut tools: Vec<(ServerName, ToolName)> = Vec::new();
        let checking = self.checkup.check(servers, |checked| {
            if let Health::Connected { surface, .. } = &checked.health {
                tools.extend(surface.tools.iter().map(|tool| (checked.name.clone(), tool.name.clone())));
            }
            let of_it =
                |server: &&&Planned| server.standing == ServerStanding::Ready && server.name == checked.name;
            if let Some(server) = servers.iter().find(of_it) {
                settled(self.tried(server, &checked));
            }
        });
        checking.await;
        ToolNameCaution::find(tools.iter().map(|(server, tool)| (server, tool)))
    }

    fn resting(&self, server: &Planned) -> Examined {
        let facts = Facts::of_planned(server);
        Examined::resting(server, self.diagnosis(server, &facts, None))
    }

    fn tried(&self, server: &Planned, checked: &Checked) -> Examined {
        let diagnosis = match &checked.health {
            Health::Failed { failure, .. } => {
                self.diagnosis(server, &Facts::of_checked(server, checked), Some(failure))
            }
            Health::Connected { .. } => None,
        };
        Examined::tried(server, checked, diagnosis)
    }

    fn diagnosis(&self, server: &Planned, facts: &Facts, failure: Option<&Failure>) -> Option<Diagnosis> {
        let cause = Table::known().fitting(facts)?;
        let mut blanks = Blanks::default();
        about_entry(server, &self.checkup.surroundings.paths, &mut blanks);
        about_standing(server, &mut blanks);
        blanks.set(Blank::Host, facts.host.as_deref());
        blanks.set(Blank::Status, facts.status);
        blanks.set(Blank::Exit, facts.exit);
        blanks.set(Blank::Signal, facts.signal);
        blanks.set(Blank::Lines, (facts.strays > 0).then_some(facts.strays));
        blanks.set(Blank::Limit, Some(format!("{:?}", rounded(self.checkup.surroundings.limit))));
        if let Some(failure) = failure {
            self.about_failure(server, facts, failure, &mut blanks);
        }
        Some(cause.diagnosis(&blanks))
    }

    fn about_failure(&self, server: &Planned, facts: &Facts, failure: &Failure, blanks: &mut Blanks) {
        if let Failure::Refused { reason, hint, .. } = failure {
            blanks.set(Blank::Reason, Some(reason));
            blanks.set(Blank::Remedy, hint.as_ref());
        }
        let Some(Transport::Stdio(stdio)) = server.config.as_ref().map(|config| &config.transport) else {
            return;
        };
        let surroundings = &self.checkup.surroundings;
        let launch = launch(stdio, &surroundings.env, &surroundings.paths);
        if let Failure::Refused { obstacle: Obstacle::NoProgram, .. } = failure {
            let found = suggestion::elsewhere(&launch, &Table::known().places, &surroundings.paths.home);
            blanks.set(Blank::Elsewhere, found.as_ref().map(|path| path.to_string_lossy()));
            blanks.set(Blank::Nearest, suggestion::nearest(&launch));
        }
        blanks.set(Blank::Variable, suggestion::variable(&launch, &surroundings.env, &facts.lines()));
    }
}

/// What the entry says.
fn about_entry(server: &Planned, paths: &Paths, blanks: &mut Blanks) {
    blanks.set(Blank::Server, Some(shell_word(server.name.as_str())));
    blanks.set(Blank::Scope, scope_option(server.scope));
    blanks.set(Blank::File, Some(&server.origin));
    // As people may see it: what a variable holds is not part of it.
    let shown = server.raw.as_ref().map(|raw| raw.shown(server.kind, Reveal::Masked));
    if let Some(Shown { command, cwd, .. }) = shown {
        blanks.set(Blank::Program, command);
        let project = paths.project.to_string_lossy().into_owned();
        blanks.set(Blank::Folder, Some(cwd.unwrap_or(project)));
    }
    let url = match server.config.as_ref().map(|config| &config.transport) {
        Some(Transport::Http(remote) | Transport::Sse(remote) | Transport::Ws(remote)) => {
            Some(remote.url.expose())
        }
        Some(Transport::SseIde(ide) | Transport::WsIde(ide)) => Some(&ide.url),
        Some(Transport::ClaudeAiProxy { url, .. }) => Some(url),
        Some(Transport::Stdio(_) | Transport::Sdk { .. }) | None => None,
    };
    blanks.set(Blank::Port, url.and_then(|url| url.port_or_known_default()));
}

/// What the plan says.
fn about_standing(server: &Planned, blanks: &mut Blanks) {
    blanks.set(Blank::Reason, server.standing.reason());
    blanks.set(Blank::Remedy, server.standing.hint(&server.name));
    match &server.standing {
        ServerStanding::Invalid(ConfigError::Expand(ExpandError::Unset { name, origin })) => {
            blanks.set(Blank::Variable, Some(name));
            blanks.set(Blank::File, Some(origin));
        }
        ServerStanding::Invalid(error) => blanks.set(Blank::File, Some(error.origin())),
        ServerStanding::Blocked(Block::ManagedOnly { file } | Block::ManagedBroken { file, .. }) => {
            blanks.set(Blank::File, Some(file));
        }
        ServerStanding::Blocked(Block::Policy(violation) | Block::Alias { violation, .. }) => {
            blanks.set(Blank::File, Some(violation.origin()));
        }
        ServerStanding::Blocked(Block::Strict)
        | ServerStanding::Ready
        | ServerStanding::NeedsApproval(_)
        | ServerStanding::Rejected { .. }
        | ServerStanding::Disabled { .. }
        | ServerStanding::Shadowed { .. }
        | ServerStanding::Duplicate { .. }
        | ServerStanding::Skipped(_) => {}
    }
}

/// The option of `remove` for a scope it can remove from.
fn scope_option(scope: Scope) -> Option<&'static str> {
    match scope {
        Scope::User => Some("-s user"),
        Scope::Project => Some("-s project"),
        Scope::Local => Some("-s local"),
        Scope::Connectors | Scope::Plugin | Scope::Dynamic | Scope::Enterprise => None,
    }
}

#[cfg(test)]
mod tests;
