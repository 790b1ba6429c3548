//! The table that a run ends with.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use super::plan::Scenario;
use super::verdict::{Checks, End, Verdict};

/// One line.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) scenario: Scenario,
    pub(super) checks: Checks,
    pub(super) end: End,
    pub(super) verdict: Verdict,
    pub(super) took: Duration,
}

impl Row {
    pub(super) fn is_passed(&self) -> bool {
        self.verdict == Verdict::Passed
    }
}

/// A line for each scenario, then one for each selection.
pub(super) fn render(rows: &[Row]) -> String {
    let wide = rows.iter().map(|row| row.scenario.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    let mut sums: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for row in rows {
        let (word, reason) = match &row.verdict {
            Verdict::Passed => ("passed", ""),
            Verdict::Failed(reason) => ("FAILED", reason.as_str()),
        };
        let Checks { passed, failed, warned, .. } = row.checks;
        let exit = row.end.client.map_or("-".to_owned(), |code| code.to_string());
        let line = format!(
            "{word}  {:<10}  {:<wide$}  {passed:>3} ok {failed:>2} failed {warned:>2} warned  exit {exit:>3}  {:>5.1} s  {reason}",
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
