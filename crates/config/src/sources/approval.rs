//! Approvals: reads the approval store before all other sources, and records approvals of Claude Code when
//! first seen.

use crate::plan::Plan;
use mcparley_model::approval::{Approval, ApprovalItem, FolderApprovals, Interactivity};
use mcparley_model::scope::Source;

use super::SourceCollector;
use super::file::{ConfigProblem, ConfigSource};
use crate::approval_store::{ApprovalStore, FirstSeenApprovals};

impl SourceCollector<'_> {
    /// Reads the user's approvals and rejections for this folder. A store that cannot be read approves
    /// nothing.
    pub(super) fn read_approvals(&mut self) {
        let key = self.paths.project_key();
        if let Some(opened) = self.open_source(ConfigSource::checked_file(self.paths.approvals.clone())) {
            self.parse_source(&opened, |this, document| {
                let folder =
                    document.root().and_then(|root| root.get("projects")).and_then(|all| all.get(&key));
                if let Some(folder) = folder {
                    this.context.settings.choices.recorded = FolderApprovals::from_node(folder);
                }
            });
        }
    }

    /// Decides about variables, rules and hooks of the folder; returns those that Claude Code approved.
    pub(super) fn settle_folder_items(&mut self) -> Vec<ApprovalItem> {
        if self.paths.is_home_or_root() || !self.can_adopt() {
            self.context.settings.choices.ignore_claude_code_approvals();
        }
        let session = self.context.session;
        self.context.settings.apply_approvals(session)
    }

    /// Binds newly seen approvals of Claude Code to the current definitions in the folder.
    ///
    /// If the store cannot be written, they count for this run and are new again in the next one.
    pub(super) fn record_first_seen_approvals(&mut self, mut items: Vec<ApprovalItem>, plan: &Plan) {
        let choices = &self.context.settings.choices;
        let is_final = choices.assume_approved || self.context.session == Interactivity::HeadlessWithProject;
        if is_final {
            return;
        }
        for found in plan.servers.iter().filter_map(|server| server.to_found_server()) {
            if choices.decide_server_approval(&found, self.context.session) == Approval::Adopted {
                items.push(ApprovalItem::for_server(found.name.as_str(), found.definition));
            }
        }
        let names = choices.unrecorded_names().map(|name| name.as_str().to_owned()).collect();
        let seen = FirstSeenApprovals { items, trusts_folder: choices.has_unrecorded_trust(), names };
        if seen.is_empty() {
            return;
        }
        if let Err(error) = ApprovalStore::for_project(self.paths).adopt_approvals(&seen) {
            self.add_problem(ConfigProblem::from_found(
                &error,
                Source::from_path(self.paths.approvals.clone()),
            ));
        }
    }

    /// Whether approvals of Claude Code may be adopted in this run.
    ///
    /// Only if the store was readable, because it may contain rejections, and if all settings are read,
    /// because an item that is not seen now would need approval later.
    fn can_adopt(&self) -> bool {
        let store = Source::from_path(self.paths.approvals.clone());
        let is_readable = !self.problems.iter().any(|problem| problem.origin.source == store);
        is_readable && self.run_options.setting_sources.is_none()
    }
}
