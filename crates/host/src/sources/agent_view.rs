//! The configuration as an agent sees it: the shared servers it names, and those it brings along.

use std::path::Path;
use std::sync::Arc;

use mcparley_model::ancestry::Ancestry;
use mcparley_model::plan::{Ground, Plan};

use super::Loaded;
use crate::agent::AgentSpec;
use crate::roots::withhold;

impl Loaded {
    /// The same as an agent sees it: the shared servers it names, or all of them, and its own with what becomes of
    /// them (X7).
    #[must_use]
    pub fn for_agent(&self, agent: &AgentSpec) -> Self {
        let own = self.own_of(agent);
        let plan = self.plan.joined(&own, |name| agent.sees(name));
        Self { plan, agent: Some(agent.name.clone()), ..self.clone() }
    }

    /// The same with nothing but the servers an agent brings along, and what becomes of them.
    #[must_use]
    pub fn own_for_agent(&self, agent: &AgentSpec) -> Self {
        Self { plan: self.own_of(agent), agent: Some(agent.name.clone()), ..self.clone() }
    }

    /// What becomes of the servers an agent brings along.
    pub(crate) fn own_of(&self, agent: &AgentSpec) -> Plan {
        let ground = Ground {
            settings: self.settings.clone(),
            enterprise: self.enterprise.clone(),
            strict: self.strict,
            session: self.session,
            env: self.env.clone(),
            programs: Arc::clone(&self.programs),
            ancestry: Ancestry::of(&self.env),
        };
        let mut plan = self.plan.of_own(agent.own.clone(), &ground);
        let home = self.env.get("HOME").map_or_else(|| Path::new("/"), Path::new);
        withhold(&mut plan.servers, Path::new("/"), home);
        plan
    }
}
