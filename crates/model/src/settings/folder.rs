//! Decides which variables, allow rules and hooks of the project folder count (C7).
//!
//! Runs once all files are read, because what Claude Code recorded about the folder is read after the folder itself.

use std::sync::Arc;

use super::Settings;
use crate::approval::{Approval, Item, Session, WaitingItem};
use crate::hook::Hook;

impl Settings {
    /// Lets approved items of the folder count and withholds the others in [`Settings::waiting`]. Gives what counts
    /// because Claude Code approved it, seen for the first time.
    pub fn settle_folder_items(&mut self, session: Session) -> Vec<Item> {
        let mut adopted = Vec::new();
        self.settle_variables(session, &mut adopted);
        self.settle_rules(session, &mut adopted);
        self.settle_hooks(session, &mut adopted);
        adopted
    }

    fn settle_variables(&mut self, session: Session, adopted: &mut Vec<Item>) {
        for variable in std::mem::take(&mut self.env) {
            if variable.layer.is_outside() {
                self.env.push(variable);
                continue;
            }
            let item = Item::variable(&variable.name, &variable.value);
            match self.choices.approve_item(&item, session) {
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

    fn settle_rules(&mut self, session: Session, adopted: &mut Vec<Item>) {
        for rule in std::mem::take(&mut self.folder_rules) {
            let item = Item::rule(rule.text());
            match self.choices.approve_item(&item, session) {
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

    fn settle_hooks(&mut self, session: Session, adopted: &mut Vec<Item>) {
        let found: Vec<Arc<Hook>> =
            self.hooks.all.iter().filter(|hook| hook.needs_approval()).map(Arc::clone).collect();
        for hook in found {
            let item = hook.item();
            let content = item.content.to_string();
            match self.choices.approve_item(&item, session) {
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
