//! The legs of the server side: an upstream of some eras, and scenarios of one revision.

use super::super::plan::{Scenario, required_of};
use super::super::suite::ConformanceSuite;
use crate::error::ChoreError;

/// One leg.
#[derive(Debug)]
pub(in super::super) struct GatewayLeg {
    pub(in super::super) name: &'static str,
    /// The eras of the upstream, as `mcparley-testkit upstream` names them.
    pub(in super::super) era: &'static str,
    /// The revision that the suite speaks.
    pub(in super::super) revision: &'static str,
    /// The subject of the scenarios, for the page.
    pub(in super::super) subject: &'static str,
    scenarios: ChosenScenarios,
    pub(in super::super) naming: LegNaming,
    /// The expected number of scenarios: a suite with fewer must be noticed.
    expected: usize,
}

/// The names that the gateway of a leg offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum LegNaming {
    /// Those of the upstream: `serve --one`.
    Own,
    /// The default ones of a gateway with several servers, behind a client that renames them.
    Default,
}

#[derive(Debug)]
enum ChosenScenarios {
    /// The scenarios that the suite itself requires of a server.
    Required,
    /// The required ones that need no upstream whose results ask for input.
    RequiredWithoutInput,
    Named(&'static [&'static str]),
}

const SKILLS: ChosenScenarios = ChosenScenarios::Named(&[
    "sep-2640-skills-directory",
    "sep-2640-skills-enumeration",
    "sep-2640-skills-manifest",
]);

/// All legs.
pub(in super::super) const LEGS: [GatewayLeg; 9] = [
    GatewayLeg {
        name: "server-2025-11-25",
        era: "both",
        revision: "2025-11-25",
        subject: "all that the revision requires of a server",
        scenarios: ChosenScenarios::Required,
        naming: LegNaming::Own,
        expected: 30,
    },
    GatewayLeg {
        name: "server-2026-07-28",
        era: "both",
        revision: "2026-07-28",
        subject: "all that the revision requires of a server",
        scenarios: ChosenScenarios::Required,
        naming: LegNaming::Own,
        expected: 37,
    },
    GatewayLeg {
        name: "server-tasks",
        era: "both",
        revision: "2026-07-28",
        subject: "tasks",
        scenarios: ChosenScenarios::Named(&[
            "tasks-lifecycle",
            "tasks-capability-negotiation",
            "tasks-wire-fields",
            "tasks-request-state-removal",
            "tasks-mrtr-input",
            "tasks-request-headers",
            "tasks-dispatch-and-envelope",
            "tasks-status-notifications",
            "tasks-required-task-error",
            "tasks-mrtr-composition",
        ]),
        naming: LegNaming::Own,
        expected: 10,
    },
    GatewayLeg {
        name: "server-skills",
        era: "both",
        revision: "2026-07-28",
        subject: "skills",
        scenarios: SKILLS,
        naming: LegNaming::Own,
        expected: 3,
    },
    GatewayLeg {
        name: "server-skills-old",
        era: "both",
        revision: "2025-11-25",
        subject: "skills",
        scenarios: SKILLS,
        naming: LegNaming::Own,
        expected: 3,
    },
    GatewayLeg {
        name: "server-new-before-old",
        era: "old",
        revision: "2026-07-28",
        subject: "all that an upstream of the old era can do",
        scenarios: ChosenScenarios::RequiredWithoutInput,
        naming: LegNaming::Own,
        expected: 24,
    },
    GatewayLeg {
        name: "server-old-before-new",
        era: "new",
        revision: "2025-11-25",
        subject: "all that the revision requires of a server",
        scenarios: ChosenScenarios::Required,
        naming: LegNaming::Own,
        expected: 30,
    },
    GatewayLeg {
        name: "server-renamed-2025-11-25",
        era: "both",
        revision: "2025-11-25",
        subject: "all that the revision requires of a server",
        scenarios: ChosenScenarios::Required,
        naming: LegNaming::Default,
        expected: 30,
    },
    GatewayLeg {
        name: "server-renamed-2026-07-28",
        era: "both",
        revision: "2026-07-28",
        subject: "all that the revision requires of a server",
        scenarios: ChosenScenarios::Required,
        naming: LegNaming::Default,
        expected: 37,
    },
];

/// The prefix of scenarios about results that ask for input.
const INPUT: &str = "input-required-result-";
/// The scenario of that family that needs no such result: it checks that lists never ask for input.
const WITHOUT_INPUT: &str = "input-required-result-unsupported-methods";

impl GatewayLeg {
    /// Whether the upstream alone can pass: not where only the gateway speaks the revision.
    pub(super) fn runs_directly(&self) -> bool {
        self.era == "both" && self.naming == LegNaming::Own
    }
}

/// A leg with its scenarios.
#[derive(Debug)]
pub(super) struct LegScenarios {
    leg: &'static GatewayLeg,
    pub(super) scenarios: Vec<Scenario>,
}

impl LegScenarios {
    pub(super) fn list(leg: &'static GatewayLeg, suite: &ConformanceSuite) -> Result<Self, ChoreError> {
        let required = || suite.list_requirements(leg.revision).map(|list| required_of("Server", &list));
        let names: Vec<String> = match leg.scenarios {
            ChosenScenarios::Named(names) => names.iter().copied().map(str::to_owned).collect(),
            ChosenScenarios::Required => required()?,
            ChosenScenarios::RequiredWithoutInput => {
                let applies = |name: &String| !name.starts_with(INPUT) || name == WITHOUT_INPUT;
                required()?.into_iter().filter(applies).collect()
            }
        };
        if names.len() != leg.expected {
            let (selection, expected, found) = (leg.name, leg.expected, names.len());
            return Err(ChoreError::Scenarios { selection, expected, found });
        }
        let (selection, revision) = (leg.name, leg.revision);
        let scenarios = names.into_iter().map(|name| Scenario { selection, revision, name }).collect();
        Ok(Self { leg, scenarios })
    }

    pub(super) fn name(&self) -> &'static str {
        self.leg.name
    }

    pub(super) fn naming(&self) -> LegNaming {
        self.leg.naming
    }

    pub(super) fn upstream_era(&self) -> &'static str {
        self.leg.era
    }
}
