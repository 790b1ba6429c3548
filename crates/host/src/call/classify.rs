//! Decides in mode `auto` what no rule decides (P2).
//!
//! Hints are the word of an untrusted party, so by themselves they permit nothing (N4, H14): a person must have allowed
//! the tool before, defined as it is now.
//!
//! | a person allowed it before, as it is now | it says it only reads | it says it stays inside | what happens |
//! |---|---|---|---|
//! | yes | yes | yes | it goes ahead |
//! | no | any | any | a person is asked |
//! | yes | no | any | a person is asked |
//! | yes | yes | no | a person is asked |
//!
//! A tool that has changed is never classified; a person is asked.

mod command;

use mcparley_model::permission::Verdict;
use mcparley_wire::peer::Boxed;
use serde_json::Value;

use crate::catalog::Entry;

pub(crate) use command::ByCommand;

/// A call that no rule decides.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Case<'c> {
    /// The tool; its texts and hints are the server's word.
    pub entry: &'c Entry,
    /// What it is to be called with.
    pub arguments: &'c Value,
    /// Whether a person, when last asked, allowed the tool as it is defined now.
    pub was_allowed: bool,
}

/// What becomes of it, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opinion {
    /// What is to happen.
    pub verdict: Verdict,
    /// Why, for people.
    pub reason: String,
}

/// Whoever decides in mode `auto`.
pub trait Classifier: Send + Sync + 'static {
    /// Decides about one call.
    fn classify<'c>(&'c self, case: Case<'c>) -> Boxed<'c, Opinion>;
}

/// The default: by hints and by what a person said before.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByHistory;

impl Classifier for ByHistory {
    fn classify<'c>(&'c self, case: Case<'c>) -> Boxed<'c, Opinion> {
        Box::pin(std::future::ready(by_history(&case)))
    }
}

fn by_history(case: &Case<'_>) -> Opinion {
    let hints = case.entry.tool.hints;
    let ask = |reason: &str| Opinion { verdict: Verdict::Ask, reason: reason.to_owned() };
    match (case.was_allowed, hints.read_only, hints.open_world) {
        (false, _, _) => ask("nobody has allowed the tool before, as it is now"),
        (true, false, _) => ask("the tool does not say that it only reads"),
        (true, true, true) => ask("the tool does not say that it stays inside its own data"),
        (true, true, false) => Opinion {
            verdict: Verdict::Allow,
            reason: "a person has allowed the tool before, and it says that it only reads its own data"
                .to_owned(),
        },
    }
}
