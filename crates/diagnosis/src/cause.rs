//! Selects the known cause that matches the facts about a server, with hints for the user.
//!
//! The causes are data, in `causes.json`. The first match wins, so a specific cause precedes the general one,
//! and the last matches every server. This is the only place that inspects error texts of servers and
//! libraries. They select a hint for the user, decide nothing else, and never become part of a hint.

use std::sync::LazyLock;

use mcparley_model::glob::Glob;
use serde::{Deserialize, Serialize};

use crate::facts::ServerFacts;
use crate::placeholders::Blanks;

static TABLE: LazyLock<CauseTable> = LazyLock::new(|| {
    // A test parses the table too, so the empty default is never used.
    serde_json::from_str(include_str!("causes.json")).unwrap_or_default()
});

/// The cause why a server does not work, with hints for the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// The stable id of the cause, for scripts.
    pub id: String,
    /// The cause in one sentence.
    pub cause: String,
    /// The hints, most likely first.
    #[serde(rename = "do")]
    pub hints: Vec<String>,
}

/// The content of `causes.json`: the known causes, and common installation folders of programs.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CauseTable {
    pub(crate) places: Vec<String>,
    pub(crate) causes: Vec<KnownCause>,
}

/// One known cause and the conditions under which it applies.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KnownCause {
    pub(crate) id: String,
    when: CauseConditions,
    pub(crate) cause: String,
    #[serde(rename = "do")]
    pub(crate) hints: Vec<String>,
}

/// The conditions of a cause. One element of each list must match, in all lists. An empty list matches
/// always.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct CauseConditions {
    pub(crate) standing: Vec<String>,
    pub(crate) entry: Vec<String>,
    pub(crate) transport: Vec<String>,
    pub(crate) failure: Vec<String>,
    pub(crate) obstacle: Vec<String>,
    /// Patterns for the program; one without a slash or space is matched against the file name only.
    program: Vec<String>,
    /// Patterns, one of which must match an argument.
    arguments: Vec<String>,
    /// Patterns, none of which may match an argument.
    without_arguments: Vec<String>,
    /// Header names in lowercase, one of which must be configured.
    header: Vec<String>,
    /// Patterns for the host.
    host: Vec<String>,
    /// Patterns for the HTTP status; an empty one matches a missing status.
    status: Vec<String>,
    exit: Vec<i32>,
    signal: Vec<i32>,
    /// Whether standard output must have contained lines that are not MCP messages.
    strays: bool,
    /// Patterns in lowercase, one of which must match a part of an output or error line.
    says: Vec<String>,
}

impl CauseTable {
    /// The table compiled into the program.
    pub(crate) fn static_table() -> &'static Self {
        &TABLE
    }

    /// The first cause that matches the facts.
    pub(crate) fn find_cause(&self, facts: &ServerFacts) -> Option<&KnownCause> {
        let lines = facts.last_lines();
        self.causes.iter().find(|cause| cause.when.matches_facts(facts, &lines))
    }
}

impl KnownCause {
    /// The diagnosis for one server, without hints whose placeholders have no value.
    pub(crate) fn to_diagnosis(&self, blanks: &Blanks) -> Diagnosis {
        Diagnosis {
            id: self.id.clone(),
            cause: blanks.fill_loosely(&self.cause),
            hints: self.hints.iter().filter_map(|hint| blanks.fill_text(hint)).collect(),
        }
    }

    #[cfg(test)]
    pub(crate) fn cause_conditions(&self) -> &CauseConditions {
        &self.when
    }
}

impl CauseConditions {
    fn matches_facts(&self, facts: &ServerFacts, lines: &[String]) -> bool {
        is_one_of(&self.standing, Some(&facts.standing))
            && is_one_of(&self.entry, facts.entry.as_ref())
            && is_one_of(&self.transport, facts.transport.as_ref())
            && is_one_of(&self.failure, facts.failure.as_ref())
            && is_one_of(&self.obstacle, facts.obstacle.as_ref())
            && is_one_of(&self.exit, facts.exit.as_ref())
            && is_one_of(&self.signal, facts.signal.as_ref())
            && (!self.strays || facts.strays > 0)
            && self.matches_target(facts)
            && (self.says.is_empty() || lines.iter().any(|line| self.matches_line(line)))
    }

    fn matches_target(&self, facts: &ServerFacts) -> bool {
        let program = facts.program.as_deref().unwrap_or_default();
        let name = program.rsplit('/').next().unwrap_or_default();
        let status = facts.status.map(|status| status.to_string()).unwrap_or_default();
        let host = facts.host.as_deref().unwrap_or_default();
        let argument = |pattern: &String| facts.arguments.iter().any(|given| matches_glob(pattern, given));
        let is_program = |pattern: &String| match pattern.contains(['/', ' ', '~', '$']) {
            true => matches_glob(pattern, program),
            false => matches_glob(pattern, name),
        };
        let or_none =
            |asked: &[String], fits: &dyn Fn(&String) -> bool| asked.is_empty() || asked.iter().any(fits);
        or_none(&self.program, &is_program)
            && or_none(&self.arguments, &argument)
            && !self.without_arguments.iter().any(argument)
            && or_none(&self.status, &|pattern| matches_glob(pattern, &status))
            && or_none(&self.host, &|pattern| matches_glob(pattern, host))
            && or_none(&self.header, &|name| facts.headers.contains(name))
    }

    fn matches_line(&self, line: &str) -> bool {
        self.says.iter().any(|pattern| contains_pattern(pattern, line))
    }
}

/// Whether a part of the line matches the pattern: the pieces between `*` occur in the line in this order.
fn contains_pattern(pattern: &str, line: &str) -> bool {
    let mut rest = line;
    pattern.split('*').all(|piece| match rest.split_once(piece) {
        Some((_, behind)) => {
            rest = behind;
            true
        }
        None => false,
    })
}

fn matches_glob(pattern: &str, text: &str) -> bool {
    Glob::new(pattern).matches(text)
}

fn is_one_of<T: PartialEq>(asked: &[T], known: Option<&T>) -> bool {
    asked.is_empty() || known.is_some_and(|known| asked.contains(known))
}
