//! Applies approvals to the variables, allow rules and hooks of the project folder.
//!
//! Runs after all files are read, because Claude Code's record about the folder is read after the folder
//! itself.

use std::sync::Arc;

use super::MergedSettings;
use crate::approval::{Approval, ApprovalItem, Interactivity, WaitingItem};
use crate::hook::Hook;

impl MergedSettings {
    /// Enables the approved items of the folder and withholds the others in [`MergedSettings::waiting`].
    ///
    /// Returns the items that are approved by a record of Claude Code seen for the first time.
    pub fn apply_approvals(&mut self, session: Interactivity) -> Vec<ApprovalItem> {
        let mut adopted = Vec::new();
        self.apply_variable_approvals(session, &mut adopted);
        self.apply_rule_approvals(session, &mut adopted);
        self.apply_hook_approvals(session, &mut adopted);
        adopted
    }

    fn apply_variable_approvals(&mut self, session: Interactivity, adopted: &mut Vec<ApprovalItem>) {
        for variable in std::mem::take(&mut self.env) {
            if variable.layer.is_outside_project() {
                self.env.push(variable);
                continue;
            }
            let item = ApprovalItem::for_variable(&variable.name, &variable.value);
            match self.choices.decide_item_approval(&item, session) {
                Approval::Approved => self.env.push(variable),
                Approval::Adopted => {
                    adopted.push(item);
                    self.env.push(variable);
                }
                Approval::Pending(why) => {
                    let text = format!("{}={}", variable.name, variable.value.expose());
                    self.waiting.push(WaitingItem { item, text, origin: variable.origin, why });
                }
                Approval::Rejected { .. } => {}
            }
        }
    }

    fn apply_rule_approvals(&mut self, session: Interactivity, adopted: &mut Vec<ApprovalItem>) {
        for rule in std::mem::take(&mut self.folder_rules) {
            let item = ApprovalItem::for_rule(rule.text());
            match self.choices.decide_item_approval(&item, session) {
                Approval::Approved => self.rules.push(rule),
                Approval::Adopted => {
                    adopted.push(item);
                    self.rules.push(rule);
                }
                Approval::Pending(why) => {
                    let (text, origin) = (rule.text().to_owned(), rule.origin().clone());
                    self.waiting.push(WaitingItem { item, text, origin, why });
                }
                Approval::Rejected { .. } => {}
            }
        }
    }

    fn apply_hook_approvals(&mut self, session: Interactivity, adopted: &mut Vec<ApprovalItem>) {
        let found: Vec<Arc<Hook>> =
            self.hooks.all.iter().filter(|hook| hook.needs_approval()).map(Arc::clone).collect();
        for hook in found {
            let item = hook.approval_item();
            let content = item.content.to_string();
            match self.choices.decide_item_approval(&item, session) {
                Approval::Approved => self.hooks.approved.push(content),
                Approval::Adopted => {
                    adopted.push(item);
                    self.hooks.approved.push(content);
                }
                Approval::Rejected { by } => self.hooks.rejected.push((content, by)),
                Approval::Pending(_) => {}
            }
        }
    }
}
