//! The result of a run: how many changes the tests noticed.

use serde_json::Value;

/// The least share of changes that the tests have to notice, in percent.
pub(super) const LEAST: usize = 90;

/// The numbers of changes by their outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MutationResult {
    /// A test failed, or did not end in time.
    pub(super) caught: usize,
    /// No test failed.
    missed: usize,
    /// Of the caught ones, those in which a test did not end.
    timeouts: usize,
    /// The compiler refused the change.
    unviable: usize,
}

impl MutationResult {
    /// Parses the outcomes that cargo-mutants writes.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let outcomes: Value = serde_json::from_str(text).ok()?;
        let number = |name: &str| usize::try_from(outcomes.get(name)?.as_u64()?).ok();
        let timeouts = number("timeout")?;
        Some(Self {
            caught: number("caught")? + timeouts,
            missed: number("missed")?,
            timeouts,
            unviable: number("unviable")?,
        })
    }

    /// Adds another result.
    pub(super) fn add(&mut self, other: &Self) {
        let Self { caught, missed, timeouts, unviable } = other;
        self.caught += caught;
        self.missed += missed;
        self.timeouts += timeouts;
        self.unviable += unviable;
    }

    /// The number of changes that the tests could notice.
    pub(super) fn decided(&self) -> usize {
        self.caught + self.missed
    }

    /// Whether there are changes that the tests could notice, and they noticed enough of them.
    pub(super) fn is_enough(&self) -> bool {
        self.decided() > 0 && self.caught * 100 >= self.decided() * LEAST
    }

    /// Renders one line.
    pub(super) fn render(&self, name: &str) -> String {
        let Self { caught, missed, timeouts, unviable } = self;
        let score = match self.decided() {
            0 => "no change was tested".to_owned(),
            all => format!("{:.1} %", 100.0 * *caught as f64 / all as f64),
        };
        format!(
            "{name:<9} {caught:>5} caught ({timeouts} by time), {missed:>4} missed, {unviable:>4} unviable: {score}\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::MutationResult;

    #[test]
    fn change_that_hangs_a_test_is_caught_and_unviable_one_does_not_count() {
        let text = r#"{"outcomes":[],"total_mutants":14,"missed":1,"caught":8,"timeout":1,"unviable":4}"#;
        let mut result = MutationResult::parse(text).unwrap();
        assert_eq!(result.decided(), 10);
        assert!(
            result.render("rules").ends_with("9 caught (1 by time),    1 missed,    4 unviable: 90.0 %\n")
        );
        result.add(&result.clone());
        assert_eq!(result.decided(), 20);
        assert_eq!(MutationResult::parse("{}"), None);
    }

    #[test]
    fn run_that_tested_no_change_is_never_enough() {
        assert!(!MutationResult::default().is_enough());
        let text = r#"{"missed":0,"caught":0,"timeout":0,"unviable":7}"#;
        let unviable = MutationResult::parse(text).unwrap();
        assert!(!unviable.is_enough());
        assert!(unviable.render("rules").ends_with(": no change was tested\n"));
        let text = r#"{"missed":1,"caught":9,"timeout":0,"unviable":0}"#;
        assert!(MutationResult::parse(text).unwrap().is_enough());
        let text = r#"{"missed":2,"caught":9,"timeout":0,"unviable":0}"#;
        assert!(!MutationResult::parse(text).unwrap().is_enough());
    }
}
