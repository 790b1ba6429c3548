//! Decides which known cause fits what is known of a server, and what to tell a person to do about it.
//!
//! The causes are data: `causes.json`. The first that fits wins, so a special one stands before the general one it
//! belongs to, and the last fits everything. Here, and nowhere else, the words of a server and of a library count:
//! they choose an advice for a person and decide nothing besides. They are never part of the advice themselves.

use std::sync::LazyLock;

use mcparley_model::glob::Glob;
use serde::{Deserialize, Serialize};

use super::blank::Blanks;
use super::facts::Facts;

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    // A test reads the table too, so the empty one never counts.
    serde_json::from_str(include_str!("causes.json")).unwrap_or_default()
});

/// Why a server does not work, as far as it is known, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Diagnosis {
    /// The cause's name; does not change between versions.
    pub id: String,
    /// The cause, in one sentence.
    pub cause: String,
    /// What to do, the likeliest first.
    #[serde(rename = "do")]
    pub hints: Vec<String>,
}

/// The known causes, and the folders where programs usually are.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    pub(super) places: Vec<String>,
    pub(super) causes: Vec<Cause>,
}

/// One known cause.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cause {
    pub(super) id: String,
    when: When,
    pub(super) cause: String,
    #[serde(rename = "do")]
    pub(super) hints: Vec<String>,
}

/// What must be known for a cause to fit: of each list one word, of the lists all. An empty list asks nothing.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct When {
    pub(super) standing: Vec<String>,
    pub(super) entry: Vec<String>,
    pub(super) transport: Vec<String>,
    pub(super) failure: Vec<String>,
    pub(super) obstacle: Vec<String>,
    /// Patterns; one without a slash or blank is for the last part of the program's path.
    program: Vec<String>,
    /// Patterns, of which one fits an argument.
    arguments: Vec<String>,
    /// Patterns, of which none fits an argument.
    without_arguments: Vec<String>,
    /// Names of headers, in small letters.
    header: Vec<String>,
    /// Patterns.
    host: Vec<String>,
    /// Patterns; an empty one is for no status.
    status: Vec<String>,
    exit: Vec<i32>,
    signal: Vec<i32>,
    /// Whether there were lines on standard output that are no messages.
    strays: bool,
    /// Patterns, in small letters, of which one fits a part of a line somebody wrote.
    says: Vec<String>,
}

impl Table {
    /// The table.
    pub(super) fn known() -> &'static Self {
        &TABLE
    }

    /// The first cause that fits.
    pub(super) fn fitting(&self, facts: &Facts) -> Option<&Cause> {
        let lines = facts.lines();
        self.causes.iter().find(|cause| cause.when.fits(facts, &lines))
    }
}

impl Cause {
    /// The cause for one server: its blanks filled, and without the advice that has a blank nobody can fill.
    pub(super) fn diagnosis(&self, blanks: &Blanks) -> Diagnosis {
        Diagnosis {
            id: self.id.clone(),
            cause: blanks.fill_loosely(&self.cause),
            hints: self.hints.iter().filter_map(|hint| blanks.fill(hint)).collect(),
        }
    }

    #[cfg(test)]
    pub(super) fn when(&self) -> &When {
        &self.when
    }
}

impl When {
    fn fits(&self, facts: &Facts, lines: &[String]) -> bool {
        is_one_of(&self.standing, Some(&facts.standing))
            && is_one_of(&self.entry, facts.entry.as_ref())
            && is_one_of(&self.transport, facts.transport.as_ref())
            && is_one_of(&self.failure, facts.failure.as_ref())
            && is_one_of(&self.obstacle, facts.obstacle.as_ref())
            && is_one_of(&self.exit, facts.exit.as_ref())
            && is_one_of(&self.signal, facts.signal.as_ref())
            && (!self.strays || facts.strays > 0)
            && self.fits_target(facts)
            && (self.says.is_empty() || lines.iter().any(|line| self.is_said_in(line)))
    }

    fn fits_target(&self, facts: &Facts) -> bool {
        let program = facts.program.as_deref().unwrap_or_default();
        let name = program.rsplit('/').next().unwrap_or_default();
        let status = facts.status.map(|status| status.to_string()).unwrap_or_default();
        let host = facts.host.as_deref().unwrap_or_default();
        let argument = |pattern: &String| facts.arguments.iter().any(|given| fits(pattern, given));
        let is_program = |pattern: &String| match pattern.contains(['/', ' ', '~', '$']) {
            true => fits(pattern, program),
            false => fits(pattern, name),
        };
        let or_none =
            |asked: &[String], fits: &dyn Fn(&String) -> bool| asked.is_empty() || asked.iter().any(fits);
        or_none(&self.program, &is_program)
            && or_none(&self.arguments, &argument)
            && !self.without_arguments.iter().any(argument)
            && or_none(&self.status, &|pattern| fits(pattern, &status))
            && or_none(&self.host, &|pattern| fits(pattern, host))
            && or_none(&self.header, &|name| facts.headers.contains(name))
    }

    fn is_said_in(&self, line: &str) -> bool {
        self.says.iter().any(|pattern| is_part(pattern, line))
    }
}

/// Whether the pattern fits a part of the line: its pieces stand there one behind the other.
fn is_part(pattern: &str, line: &str) -> bool {
    let mut rest = line;
    pattern.split('*').all(|piece| match rest.split_once(piece) {
        Some((_, behind)) => {
            rest = behind;
            true
        }
        None => false,
    })
}

fn fits(pattern: &str, text: &str) -> bool {
    Glob::new(pattern).matches(text)
}

fn is_one_of<T: PartialEq>(asked: &[T], known: Option<&T>) -> bool {
    asked.is_empty() || known.is_some_and(|known| asked.contains(known))
}
