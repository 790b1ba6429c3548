//! The variables and permission rules of a project that need approval.

use mcparley::model::approval::{ItemKind, WaitingItem};
use mcparley::model::scope::ConfigOrigin;
use serde::Serialize;

/// Variables and permission rules that need approval.
#[derive(Debug, Serialize)]
pub struct WaitingReport<'w> {
    /// The variables.
    pub variables: Vec<WaitingEntry<'w>>,
    /// The permission rules.
    pub rules: Vec<WaitingEntry<'w>>,
}

/// A variable or rule in full, because another person wrote it.
#[derive(Debug, Serialize)]
pub struct WaitingEntry<'w> {
    text: &'w str,
    origin: &'w ConfigOrigin,
    why: String,
}

impl<'w> WaitingReport<'w> {
    /// Reports the items that wait for approval.
    #[must_use]
    pub fn from_items(items: &'w [WaitingItem]) -> Self {
        let of_kind = |kind: ItemKind| -> Vec<WaitingEntry<'w>> {
            let items = items.iter().filter(|waiting| waiting.item.kind == kind);
            items
                .map(|it| WaitingEntry { text: &it.text, origin: &it.origin, why: it.why.to_string() })
                .collect()
        };
        Self { variables: of_kind(ItemKind::Variable), rules: of_kind(ItemKind::Rule) }
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.variables.is_empty() && self.rules.is_empty()
    }

    /// The summary, such as `1 variable and 2 rules of this project need approval`; `None` if there are none.
    pub fn summary_text(&self) -> Option<String> {
        let (variables, rules) = (self.variables.len(), self.rules.len());
        let counted: Vec<String> =
            [count_noun(variables, "variable"), count_noun(rules, "rule")].into_iter().flatten().collect();
        let verb = if variables + rules == 1 { "needs" } else { "need" };
        let counted = counted.join(" and ");
        (!counted.is_empty()).then(|| format!("{counted} of this project {verb} approval"))
    }
}

fn count_noun(number: usize, noun: &str) -> Option<String> {
    match number {
        0 => None,
        1 => Some(format!("1 {noun}")),
        many => Some(format!("{many} {noun}s")),
    }
}
