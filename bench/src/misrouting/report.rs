//! The counts of the misrouting test, and its promises.

use std::time::Duration;

use serde_json::{Value, json};

use super::options::Options;

/// The number of examples that are printed.
const EXAMPLES: usize = 5;

/// The counts of messages and calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct MessageCounts {
    /// Calls that were made.
    pub(crate) calls: u64,
    /// Calls with the right result.
    pub(crate) answered: u64,
    /// Calls that the client canceled.
    pub(crate) canceled: u64,
    /// Calls whose connection the client closed.
    pub(crate) dropped: u64,
    /// Calls with an error, which is allowed only while servers are killed.
    pub(crate) failed: u64,
    /// Calls whose question was answered by the gateway, because it did not know whose it was.
    pub(crate) unasked: u64,
    pub(crate) progress: u64,
    pub(crate) logs: u64,
    pub(crate) questions: u64,
    /// Messages of calls that the client had canceled before.
    pub(crate) late: u64,
    /// Messages of another client.
    pub(crate) misrouted: u64,
    /// Messages of another call of the same client, or with another content.
    pub(crate) wrong: u64,
    /// Calls without an answer.
    pub(crate) lost: u64,
    pub(crate) examples: Vec<String>,
}

impl MessageCounts {
    pub(crate) fn note_misrouted(&mut self, example: &str) {
        self.misrouted += 1;
        self.add_example("misrouted", example);
    }

    pub(crate) fn note_wrong(&mut self, example: &str) {
        self.wrong += 1;
        self.add_example("wrong", example);
    }

    pub(crate) fn note_failed(&mut self, example: &str) {
        self.failed += 1;
        self.add_example("failed", example);
    }

    pub(crate) fn note_lost(&mut self, example: &str) {
        self.lost += 1;
        self.add_example("lost", example);
    }

    fn add_example(&mut self, kind: &str, example: &str) {
        let of_kind = self.examples.iter().filter(|known| known.starts_with(kind)).count();
        if of_kind < EXAMPLES {
            self.examples.push(format!("{kind}: {}", example.chars().take(300).collect::<String>()));
        }
    }

    /// Adds the counts of another client.
    pub(crate) fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.answered += other.answered;
        self.canceled += other.canceled;
        self.dropped += other.dropped;
        self.failed += other.failed;
        self.unasked += other.unasked;
        self.progress += other.progress;
        self.logs += other.logs;
        self.questions += other.questions;
        self.late += other.late;
        self.misrouted += other.misrouted;
        self.wrong += other.wrong;
        self.lost += other.lost;
        self.examples.extend(other.examples);
        self.examples.sort();
        for kind in ["misrouted", "wrong", "failed", "lost"] {
            let mut kept = 0;
            self.examples.retain(|example| {
                kept += usize::from(example.starts_with(kind));
                !example.starts_with(kind) || kept <= EXAMPLES
            });
        }
    }

    fn rows(&self) -> [(&'static str, u64); 13] {
        [
            ("calls", self.calls),
            ("answered", self.answered),
            ("canceled", self.canceled),
            ("dropped", self.dropped),
            ("failed", self.failed),
            ("unasked", self.unasked),
            ("progress", self.progress),
            ("logs", self.logs),
            ("questions", self.questions),
            ("late", self.late),
            ("misrouted", self.misrouted),
            ("wrong", self.wrong),
            ("lost", self.lost),
        ]
    }
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct MisroutingReport {
    pub(crate) options: Options,
    pub(crate) counts: MessageCounts,
    pub(crate) kills: u64,
    pub(crate) took: Duration,
}

impl MisroutingReport {
    /// The promises that do not hold.
    pub(crate) fn broken_promises(&self) -> Vec<&'static str> {
        let counts = &self.counts;
        let is_whole = counts.calls == self.options.calls
            && counts.calls
                == counts.answered
                    + counts.canceled
                    + counts.dropped
                    + counts.failed
                    + counts.unasked
                    + counts.wrong
                    + counts.lost;
        let promises = [
            ("there are calls, and some of every kind", counts.answered > 0 && counts.questions > 0),
            ("no message is misrouted", counts.misrouted == 0),
            ("no message is wrong", counts.wrong == 0),
            ("no call is lost", counts.lost == 0 && is_whole),
            ("no call fails", self.options.kill || counts.failed == 0),
            ("every question reaches its client", self.options.kill || counts.unasked == 0),
            ("servers are killed", !self.options.kill || self.kills > 0),
        ];
        promises.into_iter().filter(|(_, holds)| !holds).map(|(promise, _)| promise).collect()
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut report: Value =
            self.counts.rows().into_iter().map(|(name, count)| (name.to_owned(), json!(count))).collect();
        report["kills"] = json!(self.kills);
        report["clients"] = json!(self.options.clients);
        report["seconds"] = json!(self.took.as_secs_f64());
        report["examples"] = json!(self.counts.examples);
        report
    }

    pub(crate) fn to_text(&self) -> String {
        let mut text = String::new();
        for (name, count) in self.counts.rows() {
            text += &format!("{name:<12}{count:>12}\n");
        }
        let rate = self.counts.calls as f64 / self.took.as_secs_f64().max(0.001);
        text +=
            &format!("{:<12}{:>12}\n{:<12}{:>12}\n", "clients", self.options.clients, "kills", self.kills);
        text += &format!("{:<12}{:>11.1}s\n{:<12}{rate:>12.0}\n", "time", self.took.as_secs_f64(), "calls/s");
        self.counts.examples.iter().for_each(|example| text += &format!("{example}\n"));
        text
    }
}
