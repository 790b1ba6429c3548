//! Everything `doctor` found, for `--json` and for the last line.

use mcparley::model::name::ToolNameCaution;
use mcparley::{Examined, Finding, Verdict};
use serde::Serialize;

/// Everything `doctor` found.
#[derive(Serialize)]
pub(crate) struct DoctorReport<'f> {
    findings: &'f [Finding],
    /// In the order of their names.
    servers: Vec<Examined>,
    /// Cautions about the names of the servers' tools.
    #[serde(rename = "toolCautions", skip_serializing_if = "<[ToolNameCaution]>::is_empty")]
    tool_cautions: &'f [ToolNameCaution],
    counts: Counts,
}

#[derive(Serialize)]
struct Counts {
    /// With those that are flawed.
    works: usize,
    broken: usize,
    resting: usize,
}

impl<'f> DoctorReport<'f> {
    pub(crate) fn of(
        findings: &'f [Finding],
        mut servers: Vec<Examined>,
        tool_cautions: &'f [ToolNameCaution],
    ) -> Self {
        // Stable: declarations of one name keep the order of the plan.
        servers.sort_by(|one, other| one.name.cmp(&other.name));
        let count = |wanted: &[Verdict]| servers.iter().filter(|server| wanted.contains(&server.is)).count();
        let counts = Counts {
            works: count(&[Verdict::Works, Verdict::Flawed]),
            broken: count(&[Verdict::Broken]),
            resting: count(&[Verdict::Resting]),
        };
        Self { findings, servers, tool_cautions, counts }
    }

    /// The whole in one line.
    pub(crate) fn in_words(&self) -> String {
        let Counts { works, broken, resting } = self.counts;
        match works + broken + resting {
            0 => "No servers are configured.".to_owned(),
            all if all == works && self.findings.is_empty() => {
                format!("Everything works: {works} server(s).")
            }
            _ => format!("{works} server(s) work, {broken} do not, {resting} are not meant to run now."),
        }
    }
}
