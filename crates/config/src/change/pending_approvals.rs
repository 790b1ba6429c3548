//! Pending approvals of a project folder, to show and approve all of them at once.

use std::path::PathBuf;
use std::sync::Arc;

use crate::plan::PlannedServer;
use mcparley_model::approval::{Approval, ApprovalItem, Provenance, WaitingItem};
use mcparley_model::hook::{Hook, HookStatus};

use crate::paths::Paths;
use crate::sources::{LoadedConfig, RunOptions, load_agents, load_as_if_approved, load_config};

/// The items of one folder that need approval.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PendingApprovals {
    /// The project folder.
    pub folder: PathBuf,
    /// Servers, including those of plugins, as they would run once all items are approved.
    pub servers: Vec<PlannedServer>,
    /// Servers of the folder's agents, each with the agent's name.
    pub agents: Vec<(String, PlannedServer)>,
    /// Environment variables and allow rules.
    pub items: Vec<WaitingItem>,
    /// Hooks of the project.
    pub hooks: Vec<Arc<Hook>>,
    /// The configuration as it would be once all items are approved.
    pub approved: LoadedConfig,
}

impl PendingApprovals {
    /// Finds the pending items in the project folder of these paths.
    #[must_use]
    pub fn find_in_project(paths: &Paths, run_options: &RunOptions) -> Self {
        let now = load_config(paths, run_options);
        let approved = load_as_if_approved(paths, run_options);
        let waits = |server: &&PlannedServer| is_pending(&now, server);
        let servers = approved.plan.servers.iter().filter(waits).cloned().collect();
        let found = load_agents(paths, run_options);
        let of_folder = found.specs.iter().filter(|spec| spec.provenance() == Provenance::Folder);
        let brought = of_folder.flat_map(|spec| {
            let own = approved.only_agent_servers(spec).plan.servers;
            own.into_iter().map(|server| (spec.name.clone(), server)).collect::<Vec<_>>()
        });
        let agents = brought.filter(|(_, server)| waits(&server)).collect();
        let judged = now.settings.hooks.hooks_with_status(now.session).into_iter();
        let hooks = judged.filter(|hook| hook.status == HookStatus::NeedsApproval).map(|hook| hook.hook);
        Self {
            folder: paths.project.clone(),
            servers,
            agents,
            items: now.settings.waiting.clone(),
            hooks: hooks.collect(),
            approved,
        }
    }

    /// The items to record when all of them are approved.
    #[must_use]
    pub fn to_items(&self) -> Vec<ApprovalItem> {
        let servers = self.servers.iter().chain(self.agents.iter().map(|(_, server)| server));
        let servers = servers.filter_map(|server| server.to_found_server());
        let servers = servers.map(|server| ApprovalItem::for_server(server.name.as_str(), server.definition));
        let others = self.items.iter().map(|waiting| waiting.item.clone());
        servers.chain(others).chain(self.hooks.iter().map(|hook| hook.approval_item())).collect()
    }

    /// Whether no item is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty() && self.agents.is_empty() && self.items.is_empty() && self.hooks.is_empty()
    }
}

fn is_pending(now: &LoadedConfig, server: &PlannedServer) -> bool {
    let answer = server
        .to_found_server()
        .map(|found| now.settings.choices.decide_server_approval(&found, now.session));
    matches!(answer, Some(Approval::Pending(_)))
}
