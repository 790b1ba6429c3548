//! The rows of the fault measurement, and the table.

use std::time::Duration;

use serde_json::{Value, json};

use crate::table::align_columns;

/// One fault: the outcome, its time, and the promise.
#[derive(Clone, Debug)]
pub(super) struct FaultRow {
    id: &'static str,
    fault: String,
    outcome: String,
    time: Duration,
    promise: &'static str,
    is_kept: bool,
}

/// All rows.
#[derive(Debug)]
pub(crate) struct FaultReport {
    pub(super) rows: Vec<FaultRow>,
}

impl FaultRow {
    /// A row that was not measured yet, so its promise is broken.
    pub(super) fn new(id: &'static str, fault: String) -> Self {
        Self { id, fault, outcome: String::new(), time: Duration::ZERO, promise: "", is_kept: false }
    }

    pub(super) fn with_outcome(self, outcome: String, time: Duration) -> Self {
        Self { outcome, time, ..self }
    }

    pub(super) fn with_promise(self, promise: &'static str, is_kept: bool) -> Self {
        Self { promise, is_kept, ..self }
    }
}

impl FaultReport {
    /// The promises that do not hold. Without a row, nothing was measured.
    pub(crate) fn broken_promises(&self) -> Vec<String> {
        if self.rows.is_empty() {
            return vec!["no fault was measured".to_owned()];
        }
        let broken = self.rows.iter().filter(|row| !row.is_kept);
        broken
            .map(|row| format!("{}: {}: {}, promised: {}", row.id, row.fault, row.outcome, row.promise))
            .collect()
    }

    pub(crate) fn to_text(&self) -> String {
        let head = ["id", "fault", "outcome", "time", "promised", ""].map(str::to_owned).to_vec();
        let rows = self.rows.iter().map(|row| {
            let time = format!("{:.1} ms", row.time.as_secs_f64() * 1e3);
            let verdict = if row.is_kept { "ok" } else { "BROKEN" };
            let [id, promise, verdict] = [row.id, row.promise, verdict].map(str::to_owned);
            vec![id, row.fault.clone(), row.outcome.clone(), time, promise, verdict]
        });
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
        align_columns(&rows, |column| column != 3)
    }

    pub(crate) fn to_json(&self) -> Value {
        let row = |row: &FaultRow| {
            json!({
                "id": row.id, "fault": row.fault, "outcome": row.outcome, "seconds": row.time.as_secs_f64(),
                "promised": row.promise, "kept": row.is_kept,
            })
        };
        self.rows.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_breaks_its_promises_without_rows_and_names_each_broken_one() {
        assert_eq!(FaultReport { rows: Vec::new() }.broken_promises(), ["no fault was measured"]);
        let row = FaultRow::new("F91", "a client vanishes".to_owned())
            .with_outcome("its call is canceled".to_owned(), Duration::from_millis(120));
        let report = FaultReport {
            rows: vec![
                row.clone().with_promise("within 100 ms", false),
                row.with_promise("within 1 s", true),
            ],
        };
        let broken = ["F91: a client vanishes: its call is canceled, promised: within 100 ms"];
        assert_eq!(report.broken_promises(), broken);
        let text = report.to_text();
        assert!(text.contains("120.0 ms") && text.contains("BROKEN"), "{text}");
        assert_eq!(report.to_json()[0]["kept"], false);
    }
}
