//! Approvals: reads our store before everything else, and records what Claude Code approved when it is first seen (C7).

use mcparley_model::approval::{Approval, FolderApprovals, Item, Session};
use mcparley_model::plan::Plan;
use mcparley_model::scope::Source;

use super::Collector;
use super::file::{Problem, Reading};
use crate::change::{ApprovalStore, FirstSight};

impl Collector<'_> {
    /// Reads what the user approved and rejected of this folder. A store that cannot be read approves nothing.
    pub(super) fn approvals(&mut self) {
        let key = self.paths.project_key();
        if let Some(opened) = self.open(Reading::shared(self.paths.approvals.clone())) {
            self.with(&opened, |this, document| {
                let folder =
                    document.root().and_then(|root| root.get("projects")).and_then(|all| all.get(&key));
                if let Some(folder) = folder {
                    this.ground.settings.choices.recorded = FolderApprovals::read(folder);
                }
            });
        }
    }

    /// Decides about variables, rules and hooks of the folder; gives what Claude Code approved of them.
    pub(super) fn settle_folder_items(&mut self) -> Vec<Item> {
        if self.paths.is_home_or_root() || !self.can_adopt() {
            self.ground.settings.choices.ignore_claude_code();
        }
        let session = self.ground.session;
        self.ground.settings.settle_folder_items(session)
    }

    /// Binds approvals of Claude Code that were not seen before to what the folder brings now.
    ///
    /// Where that cannot be written down they count for this run, and are first seen again in the next one.
    pub(super) fn record_first_sight(&mut self, mut items: Vec<Item>, plan: &Plan) {
        let choices = &self.ground.settings.choices;
        let is_final = choices.assume_approved || self.ground.session == Session::HeadlessWithProject;
        if is_final {
            return;
        }
        for found in plan.servers.iter().filter_map(|server| server.as_found()) {
            if choices.approve_server(&found, self.ground.session) == Approval::Adopted {
                items.push(Item::server(found.name.as_str(), found.definition));
            }
        }
        let names = choices.names_on_first_sight().map(|name| name.as_str().to_owned()).collect();
        let seen = FirstSight { items, trusts_folder: choices.is_first_sight_of_trust(), names };
        if seen.is_empty() {
            return;
        }
        if let Err(error) = ApprovalStore::of(self.paths).adopt(&seen) {
            self.tell(Problem::found(&error, Source::file(self.paths.approvals.clone())));
        }
    }

    /// Whether approvals of Claude Code may count in this run: only where the store, which may say otherwise, could be
    /// read, and where the whole folder is seen, since what is not seen now waits later.
    fn can_adopt(&self) -> bool {
        let store = Source::file(self.paths.approvals.clone());
        let is_readable = !self.problems.iter().any(|problem| problem.origin.source == store);
        is_readable && self.run_options.setting_sources.is_none()
    }
}
