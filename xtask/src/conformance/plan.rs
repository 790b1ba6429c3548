//! The scenarios to run, each with its protocol revision.

use std::fmt;

use super::suite::ConformanceSuite;
use crate::error::ChoreError;

/// One scenario at one protocol revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scenario {
    /// The selection that the scenario belongs to.
    pub(super) selection: &'static str,
    /// The value of `--spec-version` for the suite.
    pub(super) revision: &'static str,
    pub(super) name: String,
}

/// A named group of scenarios.
pub(super) struct ScenarioSelection {
    pub(super) name: &'static str,
    pub(super) revision: &'static str,
    /// The subject of the scenarios, for the page.
    pub(super) subject: &'static str,
    scenarios: SelectedScenarios,
}

enum SelectedScenarios {
    /// The scenarios that the suite itself requires of a client, with their expected number.
    Required(usize),
    Named(&'static [&'static str]),
}

/// All selections.
pub(super) const SELECTIONS: [ScenarioSelection; 5] = [
    ScenarioSelection {
        name: "2025-11-25",
        revision: "2025-11-25",
        subject: "all that the revision requires of a client",
        scenarios: SelectedScenarios::Required(18),
    },
    ScenarioSelection {
        name: "2026-07-28",
        revision: "2026-07-28",
        subject: "all that the revision requires of a client",
        scenarios: SelectedScenarios::Required(32),
    },
    ScenarioSelection {
        name: "backward",
        revision: "2025-03-26",
        subject: "sign-in at servers of 2025-03-26",
        scenarios: SelectedScenarios::Named(&[
            "auth/2025-03-26-oauth-metadata-backcompat",
            "auth/2025-03-26-oauth-endpoint-fallback",
        ]),
    },
    ScenarioSelection {
        name: "extensions",
        revision: "2025-11-25",
        subject: "OAuth extensions: client credentials, XAA, DPoP, workload identity",
        scenarios: SelectedScenarios::Named(&[
            "auth/client-credentials-jwt",
            "auth/client-credentials-basic",
            "auth/enterprise-managed-authorization",
            "auth/dpop",
            "auth/dpop-nonce",
            "auth/wif-jwt-bearer",
        ]),
    },
    ScenarioSelection {
        name: "skills",
        revision: "2025-11-25",
        subject: "skills",
        scenarios: SelectedScenarios::Named(&[
            "sep-2640-client-no-prefetch",
            "sep-2640-client-verify-digest",
            "sep-2640-client-verify-size",
            "sep-2640-client-verify-frontmatter",
        ]),
    },
];

/// All scenarios, in the order of the selections.
pub(super) fn all_scenarios(suite: &ConformanceSuite) -> Result<Vec<Scenario>, ChoreError> {
    let mut scenarios = Vec::new();
    for selection in &SELECTIONS {
        let names = match selection.scenarios {
            SelectedScenarios::Named(names) => names.iter().copied().map(str::to_owned).collect(),
            SelectedScenarios::Required(expected) => {
                let names = required_of("Client", &suite.list_requirements(selection.revision)?);
                // A suite that requires fewer scenarios than expected must be noticed.
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

/// The names below `Client scenarios` or `Server scenarios`, up to the next heading: those after the last such
/// heading are not scored.
pub(super) fn required_of(side: &str, list: &str) -> Vec<String> {
    let heading = format!("{side} scenarios");
    let below = list.lines().skip_while(|line| !line.starts_with(&heading)).skip(1);
    let items = below.take_while(|line| line.is_empty() || line.starts_with(' '));
    items.filter_map(|line| line.trim().strip_prefix("- ")).map(str::to_owned).collect()
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.selection, self.name)
    }
}
