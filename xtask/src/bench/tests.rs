//! Tests of the verdict of a strict run.

use super::{Amount, LimitedFigure, MEMORY, judge_figures};
use crate::error::ChoreError;

fn figure(bytes: u64) -> LimitedFigure {
    LimitedFigure {
        what: "peak memory".to_owned(),
        measured: Amount::Memory(bytes),
        best: None,
        limit: MEMORY,
    }
}

#[test]
fn strict_run_fails_over_a_limit_and_without_a_measurement() {
    judge_figures(vec![figure(1)], &[]).unwrap();
    let over = judge_figures(vec![figure(1), figure(u64::MAX)], &[]).unwrap_err();
    assert!(matches!(&over, ChoreError::OverLimit(figures) if figures.len() == 1), "{over}");
    let unmeasured = judge_figures(vec![figure(1)], &["peak memory".to_owned()]).unwrap_err();
    assert_eq!(unmeasured.to_string(), "not measured: peak memory");
}
