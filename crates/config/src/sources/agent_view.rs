//! Agent view: the configuration with the shared servers an agent names, and those it brings.

use std::path::Path;

use crate::plan::Plan;

use mcparley_model::config::Spanned;
use mcparley_model::name::ServerName;
use mcparley_model::text::display_line;
use serde::Serialize;

use super::LoadedConfig;
use crate::agent_spec::{AgentSpec, BUILT_IN_SERVER};
use crate::project_roots::withhold_roots;

impl LoadedConfig {
    /// The configuration as an agent sees it: the shared servers it names, or all of them, then its own.
    #[must_use]
    pub fn for_agent(&self, agent: &AgentSpec) -> Self {
        let own = self.plan_agent_servers(agent);
        let plan = self.plan.merge_agent_plan(&own, |name| agent.can_see(name));
        let mut seen = Self { plan, agent: Some(agent.name.clone()), ..self.clone() };
        if let Some(value) = agent.mode {
            seen.settings.mode = Some(Spanned { value, origin: agent.origin.clone() });
        }
        if let Some(tools) = &agent.offered_tools {
            seen.settings.offered_tools.clone_from(tools);
        }
        seen
    }

    /// The configuration with only the servers that an agent brings.
    #[must_use]
    pub fn only_agent_servers(&self, agent: &AgentSpec) -> Self {
        Self { plan: self.plan_agent_servers(agent), agent: Some(agent.name.clone()), ..self.clone() }
    }

    /// Plans the servers that an agent brings.
    #[must_use]
    pub fn plan_agent_servers(&self, agent: &AgentSpec) -> Plan {
        let mut plan = self.plan.plan_agent_servers(agent.own.clone(), &self.plan_context());
        let home = self.env.get("HOME").map_or_else(|| Path::new("/"), Path::new);
        withhold_roots(&mut plan.servers, Path::new("/"), home);
        plan
    }

    /// The servers that an agent names and that may not run, or are not declared.
    #[must_use]
    pub fn missing_servers(&self, agent: &AgentSpec) -> Vec<MissingServer> {
        let seen = self.for_agent(agent);
        let may_run = |name: &ServerName| seen.plan.ready_servers().any(|server| server.name == *name);
        let absent = agent.server_names().filter(|name| !may_run(name) && name.as_str() != BUILT_IN_SERVER);
        absent
            .map(|name| MissingServer {
                name: name.clone(),
                because: seen.unavailable_reason(name.as_str()),
                similar: self.similar_server_names(name.as_str()),
            })
            .collect()
    }
}

/// A server that an agent names and that does not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissingServer {
    /// The server's name.
    pub name: ServerName,
    /// The plan status with its reason; absent when no source declares the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Similar names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub similar: Vec<String>,
}

impl MissingServer {
    /// A clause that says why the server is missing.
    #[must_use]
    pub fn describe(&self) -> String {
        match &self.because {
            Some(because) => format!("which does not run: {because}"),
            None => "which is not declared".to_owned(),
        }
    }
}

/// A hint with the similar names that the user may have meant.
#[must_use]
pub fn suggest_similar(similar: &[String]) -> Option<String> {
    let quoted: Vec<String> = similar.iter().map(|name| format!("`{}`", display_line(name))).collect();
    (!quoted.is_empty()).then(|| format!("did you mean {}?", quoted.join(" or ")))
}
