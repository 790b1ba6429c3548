//! The report of `doctor`, for `--json` and for the summary line.

use mcparley::model::name::ToolNameCaution;
use mcparley_diagnosis::{DoctorFinding, HealthVerdict, ServerExamination};
use serde::Serialize;

/// The report of `doctor`.
#[derive(Debug, Serialize)]
pub struct DoctorReport<'f> {
    findings: &'f [DoctorFinding],
    /// The servers, sorted by name.
    servers: Vec<ServerExamination>,
    /// Cautions about similar tool names of different servers.
    #[serde(rename = "toolCautions", skip_serializing_if = "<[ToolNameCaution]>::is_empty")]
    tool_cautions: &'f [ToolNameCaution],
    counts: VerdictCounts,
}

#[derive(Debug, Serialize)]
struct VerdictCounts {
    /// Servers that work, with or without minor problems.
    works: usize,
    broken: usize,
    resting: usize,
}

impl<'f> DoctorReport<'f> {
    /// Reports findings and servers, which are sorted by name.
    pub fn from_examinations(
        findings: &'f [DoctorFinding],
        mut servers: Vec<ServerExamination>,
        tool_cautions: &'f [ToolNameCaution],
    ) -> Self {
        // A stable sort: entries of one name keep the order of the plan.
        servers.sort_by(|one, other| one.name.cmp(&other.name));
        let count =
            |wanted: &[HealthVerdict]| servers.iter().filter(|server| wanted.contains(&server.is)).count();
        let counts = VerdictCounts {
            works: count(&[HealthVerdict::Works, HealthVerdict::Flawed]),
            broken: count(&[HealthVerdict::Broken]),
            resting: count(&[HealthVerdict::Resting]),
        };
        Self { findings, servers, tool_cautions, counts }
    }

    /// The summary line.
    pub fn summary_line(&self) -> String {
        let VerdictCounts { works, broken, resting } = self.counts;
        match works + broken + resting {
            0 => "No servers are configured.".to_owned(),
            all if all == works && self.findings.is_empty() => {
                format!("All {works} server(s) work.")
            }
            _ => format!("{works} server(s) work, {broken} do not work, {resting} may not run."),
        }
    }
}
