//! Everything a project folder brings that waits for approval, for showing it whole and approving it at once (C17).

use std::path::PathBuf;
use std::sync::Arc;

use mcparley_model::approval::{Approval, Item, Provenance, WaitingItem};
use mcparley_model::hook::{Hook, HookStanding};
use mcparley_model::plan::Planned;

use crate::paths::Paths;
use crate::sources::{Loaded, NoConnectors, RunOptions, agents, load, load_as_if_approved};

/// What waits for approval in one folder.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Waiting {
    /// The folder.
    pub folder: PathBuf,
    /// Servers, those of plugins among them, as they would run once everything is approved.
    pub servers: Vec<Planned>,
    /// Servers that agents of the folder bring, each with the agent's name.
    pub agents: Vec<(String, Planned)>,
    /// Variables and rules that allow.
    pub items: Vec<WaitingItem>,
    /// Hooks.
    pub hooks: Vec<Arc<Hook>>,
    /// The configuration as it would be once everything is approved.
    pub approved: Loaded,
}

impl Waiting {
    /// Looks through the folder of these paths.
    #[must_use]
    pub fn find(paths: &Paths, run_options: &RunOptions) -> Self {
        let now = load(paths, run_options, &NoConnectors);
        let approved = load_as_if_approved(paths, run_options);
        let waits = |server: &&Planned| waits(&now, server);
        let servers = approved.plan.servers.iter().filter(waits).cloned().collect();
        let found = agents(paths, run_options);
        let of_folder = found.specs.iter().filter(|spec| spec.provenance() == Provenance::Folder);
        let brought = of_folder.flat_map(|spec| {
            let own = approved.own_for_agent(spec).plan.servers;
            own.into_iter().map(|server| (spec.name.clone(), server)).collect::<Vec<_>>()
        });
        let agents = brought.filter(|(_, server)| waits(&server)).collect();
        let judged = now.settings.hooks.judged(now.session).into_iter();
        let hooks = judged.filter(|hook| hook.standing == HookStanding::NeedsApproval).map(|hook| hook.hook);
        Self {
            folder: paths.project.clone(),
            servers,
            agents,
            items: now.settings.waiting.clone(),
            hooks: hooks.collect(),
            approved,
        }
    }

    /// What approving all of it records.
    #[must_use]
    pub fn to_items(&self) -> Vec<Item> {
        let servers = self.servers.iter().chain(self.agents.iter().map(|(_, server)| server));
        let servers = servers.filter_map(|server| server.as_found());
        let servers = servers.map(|server| Item::server(server.name.as_str(), server.definition));
        let others = self.items.iter().map(|waiting| waiting.item.clone());
        servers.chain(others).chain(self.hooks.iter().map(|hook| hook.item())).collect()
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty() && self.agents.is_empty() && self.items.is_empty() && self.hooks.is_empty()
    }
}

fn waits(now: &Loaded, server: &Planned) -> bool {
    let answer = server.as_found().map(|found| now.settings.choices.approve_server(&found, now.session));
    matches!(answer, Some(Approval::Pending(_)))
}
