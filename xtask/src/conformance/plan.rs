//! Which scenarios are run, at which revision of the protocol.

use std::fmt;

use super::suite::Suite;
use crate::error::ChoreError;

/// One scenario at one revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scenario {
    /// The selection it belongs to.
    pub(super) selection: &'static str,
    /// What is said to the suite as `--spec-version`.
    pub(super) revision: &'static str,
    pub(super) name: String,
}

/// Scenarios that belong together.
struct Selection {
    name: &'static str,
    revision: &'static str,
    scenarios: Scenarios,
}

enum Scenarios {
    /// Those that the suite itself requires of a client; so many there are.
    Required(usize),
    Named(&'static [&'static str]),
}

const SELECTIONS: [Selection; 5] = [
    Selection { name: "2025-11-25", revision: "2025-11-25", scenarios: Scenarios::Required(18) },
    Selection { name: "2026-07-28", revision: "2026-07-28", scenarios: Scenarios::Required(32) },
    Selection {
        name: "backward",
        revision: "2025-03-26",
        scenarios: Scenarios::Named(&[
            "auth/2025-03-26-oauth-metadata-backcompat",
            "auth/2025-03-26-oauth-endpoint-fallback",
        ]),
    },
    Selection {
        name: "extensions",
        revision: "2025-11-25",
        scenarios: Scenarios::Named(&[
            "auth/client-credentials-jwt",
            "auth/client-credentials-basic",
            "auth/enterprise-managed-authorization",
            "auth/dpop",
            "auth/dpop-nonce",
            "auth/wif-jwt-bearer",
        ]),
    },
    Selection {
        name: "skills",
        revision: "2025-11-25",
        scenarios: Scenarios::Named(&[
            "sep-2640-client-no-prefetch",
            "sep-2640-client-verify-digest",
            "sep-2640-client-verify-size",
            "sep-2640-client-verify-frontmatter",
        ]),
    },
];

/// Every scenario, in the order of the selections.
pub(super) fn all(suite: &Suite) -> Result<Vec<Scenario>, ChoreError> {
    let mut scenarios = Vec::new();
    for selection in &SELECTIONS {
        let names = match selection.scenarios {
            Scenarios::Named(names) => names.iter().copied().map(str::to_owned).collect(),
            Scenarios::Required(expected) => {
                let names = required_of_clients(&suite.requirements(selection.revision)?);
                // A suite that asks for less than we say we pass must not go unseen.
                if names.len() != expected {
                    let (selection, found) = (selection.name, names.len());
                    return Err(ChoreError::Scenarios { selection, expected, found });
                }
                names
            }
        };
        let (selection, revision) = (selection.name, selection.revision);
        scenarios.extend(names.into_iter().map(|name| Scenario { selection, revision, name }));
    }
    Ok(scenarios)
}

/// The names below `Client scenarios`, up to the next heading: what follows is not scored.
pub(super) fn required_of_clients(list: &str) -> Vec<String> {
    let below = list.lines().skip_while(|line| !line.starts_with("Client scenarios")).skip(1);
    let items = below.take_while(|line| line.is_empty() || line.starts_with(' '));
    items.filter_map(|line| line.trim().strip_prefix("- ")).map(str::to_owned).collect()
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.selection, self.name)
    }
}
