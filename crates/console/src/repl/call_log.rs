//! The log of the last calls, for `/calls`.

use std::collections::VecDeque;
use std::time::Duration;

use mcparley::model::text::display_line;

use super::output::format_duration;

/// The number of calls that are remembered.
const CALLS: usize = 50;

/// One finished call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallRecord {
    /// The tool, as `server.tool`.
    pub(crate) tool: String,
    /// The time from the start to the end.
    pub(crate) duration: Duration,
    /// The outcome in one or two words, such as `ok` or `tool error`.
    pub(crate) outcome: String,
}

/// The last calls of this console, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct CallLog(VecDeque<CallRecord>);

impl CallLog {
    /// Adds a call, and forgets the oldest beyond the limit.
    pub(crate) fn push_call(&mut self, call: CallRecord) {
        if self.0.len() == CALLS {
            self.0.pop_front();
        }
        self.0.push_back(call);
    }

    /// The calls as lines of a table, the newest last.
    pub(crate) fn to_lines(&self) -> Vec<String> {
        let width = self.0.iter().map(|call| call.tool.chars().count()).max().unwrap_or(0);
        let line = |call: &CallRecord| {
            let tool = display_line(&call.tool).into_owned();
            format!("{tool:width$}  {:>9}  {}", format_duration(call.duration), display_line(&call.outcome))
        };
        self.0.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(tool: &str, milliseconds: u64, outcome: &str) -> CallRecord {
        let duration = Duration::from_millis(milliseconds);
        CallRecord { tool: tool.to_owned(), duration, outcome: outcome.to_owned() }
    }

    // U4
    #[test]
    fn last_calls_are_listed_as_a_table_with_the_oldest_forgotten() {
        let mut log = CallLog::default();
        assert_eq!(log.to_lines(), Vec::<String>::new());
        for number in 0..CALLS {
            log.push_call(call(&format!("a.{number}"), 1, "ok"));
        }
        log.push_call(call("git.log", 1_400, "ok"));
        log.push_call(call("fs.read", 125_000, "canceled"));
        let lines = log.to_lines();
        assert_eq!(lines.len(), CALLS);
        let expected = ["git.log      1.4 s  ok", "fs.read  2 min 5 s  canceled"];
        assert_eq!(lines.get(CALLS - 2..).unwrap(), expected);
        assert!(lines[0].starts_with("a.2 "), "{}", lines[0]);
    }
}
