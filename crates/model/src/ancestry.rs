//! The servers that a process was started by, handed down so that no entry is started below itself.
//!
//! The check of command lines finds what can be seen; a script that starts mcparley cannot be seen. Therefore every
//! server is told the signatures of the entries above it, and an mcparley that finds itself below an entry does not
//! start that entry again.

use crate::expand::Env;
use crate::limits::ANCESTRY_LEVELS;
use crate::signature::Signature;

/// The variable that holds the ancestry.
pub const ANCESTRY: &str = "MCPARLEY_ANCESTRY";

/// The signatures of the entries above this process, the outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ancestry(Vec<String>);

impl Ancestry {
    /// Reads the ancestry that this process was given.
    #[must_use]
    pub fn of(env: &Env) -> Self {
        let given = env.get(ANCESTRY).unwrap_or_default();
        let signatures = given.split(',').map(str::trim).filter(|signature| !signature.is_empty());
        // One more than is needed to know that nothing may be started.
        Self(signatures.take(ANCESTRY_LEVELS + 1).map(str::to_owned).collect())
    }

    /// Whether the entry stands above this process.
    #[must_use]
    pub fn contains(&self, signature: &Signature) -> bool {
        let signature = signature.to_string();
        self.0.contains(&signature)
    }

    /// Whether so many entries stand above this process that it must not start another one.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.0.len() >= ANCESTRY_LEVELS
    }

    /// What a server with this signature is told.
    #[must_use]
    pub fn handed_to(&self, signature: &Signature) -> String {
        let own = signature.to_string();
        self.0.iter().map(String::as_str).chain([own.as_str()]).collect::<Vec<_>>().join(",")
    }
}
