//! What a host would show at once, without one: nothing is started, and no runtime is needed (L12).

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::config::ServerConfig;
use mcparley_model::name::ServerName;
use mcparley_model::permission::{Decision, KnownServers, Mode, RuleSet};
use serde_json::Value;

use super::starter::{FirstStep, Memory};
use super::{HostBuilder, Server};
use crate::call::{Asks, ByHistory, Gate, NobodyToAsk};
use crate::catalog::{Assembler, Catalog, Denials, Entry, Seen, SignIn};
use crate::change::bind_typed_rules;
use crate::connect::Surroundings;
use crate::connection::{State, Status};
use crate::hooks::HookRunner;
use crate::own_server;
use crate::surface::Surface;

/// Every tool and every server, as they are remembered.
#[derive(Debug)]
#[non_exhaustive]
pub struct Remembered {
    /// Every tool.
    pub catalog: Catalog,
    /// Every server: asleep, or failed lately.
    pub servers: Vec<Server>,
    /// The servers whose tools and prompts have no prefix.
    pub(crate) bare: Vec<ServerName>,
    gate: Gate,
}

impl Remembered {
    /// What rules and mode would decide about a call of one of these tools. Without arguments, rules that look at them
    /// do not count.
    #[must_use]
    pub fn decide(&self, entry: &Entry, arguments: Option<&Value>) -> Decision {
        self.gate.judge(entry, arguments)
    }
}

impl HostBuilder {
    /// What servers would be reached with, as far as it decides what is remembered of them.
    fn onlooking(&self) -> Surroundings {
        let hooks = HookRunner::new(Arc::new(self.paths.clone()), String::new(), self.hooks.clone());
        hooks.put(&self.loaded);
        Surroundings::new(&self.loaded.env, &self.paths)
            .with_pin(self.loaded.settings.pins.in_force())
            .with_elicitor(self.elicitor.clone())
            .with_sampler(self.sampler.clone())
            .with_hooks(Arc::new(hooks))
    }

    /// What the host would show at once, if it had to reach no server for that. Nothing, if it had to reach one.
    #[must_use]
    pub fn remembered(&self) -> Option<Remembered> {
        if !self.inside.is_empty() {
            return None;
        }
        let surroundings = self.onlooking();
        let mut servers = Vec::new();
        let mut configs = Vec::new();
        for planned in self.loaded.plan.ready() {
            let config = planned.config.clone()?;
            let known = surroundings.known(&config);
            let failure = surroundings.known_failure(&config);
            let memory = Memory {
                is_fresh: known.as_ref().is_some_and(|known| known.is_fresh),
                has_failed: failure.is_some(),
            };
            let status = match self.start.first_step(&planned.name, &config, memory, self.skips_failures) {
                FirstStep::Connect | FirstStep::RetryFailure => return None,
                FirstStep::Sleep => Status::Dormant,
                FirstStep::ReportFailure => Status::Failed(Arc::new(failure?)),
            };
            let surface = known.map(|known| known.surface).unwrap_or_default();
            servers.push(server(planned.name.clone(), &config, status, surface));
            configs.push(config);
        }
        if self.has_own_server() {
            let config = own_server::entry();
            let name = ServerName::new(own_server::NAME);
            servers.push(server(name, &config, Status::Dormant, own_server::surface(self.offers_own_server)));
            configs.push(config);
        }
        let seen = servers.iter().zip(&configs);
        let seen: Vec<Seen<'_>> = seen
            .map(|(server, config)| Seen {
                name: &server.name,
                config,
                surface: &server.state.surface,
                sign_in: match surroundings.of_server(&server.name).account(config) {
                    Some(_) => SignIn::Possible,
                    None => SignIn::Never,
                },
                trust: Some(surroundings.trust()),
            })
            .collect();
        let mut assembler = Assembler::new(self.bare.clone()).storing_results(self.results.is_some());
        let names = self.loaded.plan.servers.iter().map(|server| server.name.clone());
        assembler.under(Denials::new(&self.loaded.settings, names.clone()));
        let catalog = assembler.assemble(&seen);
        let known = KnownServers::new(names);
        let asks = Asks { approver: Arc::new(NobodyToAsk), classifier: Arc::new(ByHistory) };
        let settings = &self.loaded.settings;
        let mode = settings.mode.as_ref().map_or(Mode::Default, |mode| mode.value);
        let rules = RuleSet::new(settings.rules.iter().cloned());
        bind_typed_rules(surroundings.trust(), &self.loaded);
        let gate = Gate::new(rules, mode, known, Arc::clone(surroundings.trust()), asks);
        Some(Remembered { catalog, servers, bare: self.bare.clone(), gate })
    }
}

fn server(name: ServerName, config: &ServerConfig, status: Status, surface: Surface) -> Server {
    let (kind, required, surface) = (config.kind(), config.required, Arc::new(surface));
    Server { name, kind, required, state: State { status, surface, took: Duration::ZERO, live: None } }
}
