//! Advice on a budget: which servers to disable or to defer, with the commands that do it.

use mcparley::model::text::{display_line, shell_word};
use serde::Serialize;

use super::BudgetReport;
use crate::commands::usable::BUILT_IN;

/// The maximum number of servers that are named.
const SERVERS: usize = 3;

/// One piece of advice.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct BudgetAdvice {
    pub(super) text: String,
    /// The command that follows the advice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) command: Option<String>,
}

/// The advice for a report: the largest servers until the rest fits, and how tools are deferred.
pub(super) fn give_advice(report: &BudgetReport) -> Vec<BudgetAdvice> {
    let Some(budget) = report.budget else {
        let text =
            "without a limit all tools are listed at once; this defers them beyond the budget".to_owned();
        let command = Some("ENABLE_TOOL_SEARCH=auto mcparley serve".to_owned());
        return vec![BudgetAdvice { text, command }];
    };
    let Some(mut surplus) = report.tokens.checked_sub(budget).filter(|surplus| *surplus > 0) else {
        return vec![BudgetAdvice { text: "all tools fit the budget".to_owned(), command: None }];
    };
    let mut advice = Vec::new();
    let servers = report.groups.iter().filter_map(|group| Some((group.server.as_ref()?, group.tokens)));
    for (server, tokens) in servers.filter(|(server, _)| server.as_str() != BUILT_IN).take(SERVERS) {
        let name = display_line(server.as_str());
        advice.push(BudgetAdvice {
            text: format!("without `{name}` it would be {tokens} tokens less; if you do not need it here:"),
            command: Some(format!("mcparley disable {}", shell_word(server.as_str()))),
        });
        surplus = surplus.saturating_sub(tokens);
        if surplus == 0 {
            break;
        }
    }
    advice.push(match report.deferred_tokens {
        0 => BudgetAdvice {
            text: "to defer all tools until a model searches for them:".to_owned(),
            command: Some("mcparley serve --defer always".to_owned()),
        },
        _ => BudgetAdvice {
            text: "deferred tools cost nothing until a model searches for them".to_owned(),
            command: None,
        },
    });
    advice
}
