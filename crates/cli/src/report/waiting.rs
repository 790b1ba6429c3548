//! The variables and rules of a project that wait for approval, as values and in words.

use mcparley::model::approval::{ItemKind, WaitingItem};
use mcparley::model::scope::Origin;
use serde::Serialize;

/// Variables and rules that wait for approval.
#[derive(Serialize)]
pub(crate) struct WaitingReport<'w> {
    pub(crate) variables: Vec<WaitingEntry<'w>>,
    pub(crate) rules: Vec<WaitingEntry<'w>>,
}

/// One of them: its text whole, because somebody else wrote it.
#[derive(Serialize)]
pub(crate) struct WaitingEntry<'w> {
    text: &'w str,
    origin: &'w Origin,
    why: String,
}

impl<'w> WaitingReport<'w> {
    pub(crate) fn of(items: &'w [WaitingItem]) -> Self {
        let of_kind = |kind: ItemKind| -> Vec<WaitingEntry<'w>> {
            let items = items.iter().filter(|waiting| waiting.item.kind == kind);
            items
                .map(|it| WaitingEntry { text: &it.text, origin: &it.origin, why: it.why.to_string() })
                .collect()
        };
        Self { variables: of_kind(ItemKind::Variable), rules: of_kind(ItemKind::Rule) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.variables.is_empty() && self.rules.is_empty()
    }

    /// `1 variable and 2 rules of this project wait for approval`; nothing if none do.
    pub(crate) fn in_words(&self) -> Option<String> {
        let (variables, rules) = (self.variables.len(), self.rules.len());
        let counted: Vec<String> =
            [count(variables, "variable"), count(rules, "rule")].into_iter().flatten().collect();
        let verb = if variables + rules == 1 { "waits" } else { "wait" };
        let counted = counted.join(" and ");
        (!counted.is_empty()).then(|| format!("{counted} of this project {verb} for approval"))
    }
}

fn count(number: usize, noun: &str) -> Option<String> {
    match number {
        0 => None,
        1 => Some(format!("1 {noun}")),
        many => Some(format!("{many} {noun}s")),
    }
}
