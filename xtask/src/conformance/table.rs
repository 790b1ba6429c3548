//! The result table of a conformance run.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use super::plan::Scenario;
use super::verdict::{ScenarioExit, ScenarioVerdict, SuiteChecks};

/// One row of the table.
#[derive(Debug)]
pub(super) struct ScenarioRow {
    pub(super) scenario: Scenario,
    pub(super) checks: SuiteChecks,
    pub(super) end: ScenarioExit,
    pub(super) verdict: ScenarioVerdict,
    pub(super) took: Duration,
}

impl ScenarioRow {
    pub(super) fn is_passed(&self) -> bool {
        self.verdict == ScenarioVerdict::Passed
    }
}

/// Renders a row for each scenario, then one for each selection.
pub(super) fn render_table(rows: &[ScenarioRow]) -> String {
    let wide = rows.iter().map(|row| row.scenario.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    let mut sums: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for row in rows {
        let (word, reason) = match &row.verdict {
            ScenarioVerdict::Passed => ("passed", ""),
            ScenarioVerdict::Failed(reason) => ("FAILED", reason.as_str()),
        };
        let SuiteChecks { passed, failed, warned, .. } = row.checks;
        let exit = row.end.client.map_or("-".to_owned(), |code| code.to_string());
        let line = format!(
            "{word}  {:<21}  {:<wide$}  {passed:>3} ok {failed:>2} failed {warned:>2} warned  exit {exit:>3}  {:>5.1} s  {reason}",
            row.scenario.selection,
            row.scenario.name,
            row.took.as_secs_f64(),
        );
        let sum = sums.entry(row.scenario.selection).or_default();
        sum.0 += usize::from(row.is_passed());
        sum.1 += 1;
        // Writing to a `String` cannot fail.
        writeln!(text, "{}", line.trim_end()).unwrap_or_default();
    }
    for (selection, (passed, all)) in sums {
        writeln!(text, "{selection}: {passed} of {all}").unwrap_or_default();
    }
    text
}
