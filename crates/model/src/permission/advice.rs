//! Decides what a word spoken before the rules does to what they decide: a hook's, usually (K1, P1).
//!
//! | the word | what it does |
//! |---|---|
//! | allow | nobody is asked where only the mode asks; what a rule asks or denies, and what mode `plan` denies, stays |
//! | ask | what is allowed is asked about; in mode `dontAsk` it is denied |
//! | deny | it does not happen |
//!
//! So a rule can rely on it that no program talks a call past it.

use serde::Serialize;

use super::{Decision, Mode, Verdict, Why};

/// A word about a call that is spoken before the rules are looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// What is to happen.
    pub verdict: Verdict,
    /// Who says so, as people know it.
    pub hook: String,
    /// Why, in its own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Decision {
    /// What is decided when this was said before.
    #[must_use]
    pub fn advised(self, advice: &Advice, mode: Mode) -> Self {
        let with = |verdict| Self { verdict, why: Why::Hook { advice: advice.clone() } };
        match (advice.verdict, self.verdict) {
            (_, Verdict::Deny) if !self.is_without_rule() => self,
            (Verdict::Deny, _) => with(Verdict::Deny),
            (Verdict::Allow, _) if self.is_without_rule() => with(Verdict::Allow),
            (Verdict::Ask, Verdict::Allow | Verdict::Deny) => match mode {
                Mode::DontAsk => with(Verdict::Deny),
                Mode::Default
                | Mode::AcceptEdits
                | Mode::Plan
                | Mode::BypassPermissions
                | Mode::Auto
                | Mode::Client => with(Verdict::Ask),
            },
            (Verdict::Allow | Verdict::Ask, _) => self,
        }
    }
}
