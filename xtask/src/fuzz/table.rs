//! The result table of a fuzzing run.

use std::fmt::Write as _;

use super::engine_output::EngineOutput;

/// One row of the table.
#[derive(Debug)]
pub(super) struct FuzzRow {
    pub(super) target: &'static str,
    pub(super) output: EngineOutput,
    /// The number of inputs that are kept because they reach code of their own.
    pub(super) corpus: usize,
    /// Whether the run failed, with or without a finding.
    pub(super) has_failed: bool,
}

impl FuzzRow {
    /// Whether the target ran to its end and found nothing.
    pub(super) fn is_clean(&self) -> bool {
        !self.has_failed && self.output.findings.is_empty() && self.output.executions > 0
    }
}

/// Renders a row for each target.
pub(super) fn render_table(rows: &[FuzzRow]) -> String {
    let mut text = format!(
        "{:<18} {:>12} {:>9} {:>7} {:>10} {:>9}\n",
        "target", "executions", "per s", "corpus", "memory", "findings"
    );
    for FuzzRow { target, output, corpus, has_failed } in rows {
        let findings = match (output.findings.len(), has_failed) {
            (0, true) => "failed".to_owned(),
            (count, _) => count.to_string(),
        };
        // Writing to a `String` cannot fail.
        writeln!(
            text,
            "{target:<18} {:>12} {:>9} {corpus:>7} {:>6} MiB {findings:>9}",
            output.executions, output.rate, output.memory
        )
        .unwrap_or_default();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{EngineOutput, FuzzRow, render_table};

    #[test]
    fn target_that_ran_nothing_or_failed_is_not_clean() {
        let row = |executions, has_failed| FuzzRow {
            target: "json_rpc",
            output: EngineOutput { executions, ..EngineOutput::default() },
            corpus: 3,
            has_failed,
        };
        assert!(row(1, false).is_clean());
        assert!(!row(0, false).is_clean());
        assert!(!row(1, true).is_clean());
        assert!(render_table(&[row(1, true)]).ends_with("failed\n"));
    }
}
