//! The ancestry of a process: the server entries it was started by, passed down so that no entry starts
//! below itself.
//!
//! The recursion check on command lines sees only programs that are written there; a script that starts
//! mcparley stays invisible to it. Therefore every server receives the signatures of the entries above it
//! in an environment variable, and an mcparley process that finds an entry among its own ancestors does not
//! start that entry again.

use crate::expand::Env;
use crate::limits::ANCESTRY_LEVELS;
use crate::signature::Signature;

/// The environment variable that holds the ancestry.
pub const ANCESTRY: &str = "MCPARLEY_ANCESTRY";

/// The signatures of the entries above this process, the outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ancestry(Vec<String>);

impl Ancestry {
    /// Reads the ancestry of this process from its environment.
    #[must_use]
    pub fn from_env(env: &Env) -> Self {
        let given = env.get(ANCESTRY).unwrap_or_default();
        let signatures = given.split(',').map(str::trim).filter(|signature| !signature.is_empty());
        // One more than needed to know that nothing may be started.
        Self(signatures.take(ANCESTRY_LEVELS + 1).map(str::to_owned).collect())
    }

    /// Whether the entry with this signature is an ancestor of this process.
    #[must_use]
    pub fn contains(&self, signature: &Signature) -> bool {
        let signature = signature.to_string();
        self.0.contains(&signature)
    }

    /// Whether the process already has the maximum number of ancestors, so that it must not start another
    /// server.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.0.len() >= ANCESTRY_LEVELS
    }

    /// The value of [`ANCESTRY`] for a server with this signature: the ancestors of this process and the
    /// server itself.
    #[must_use]
    pub fn to_env_value(&self, signature: &Signature) -> String {
        let own = signature.to_string();
        self.0.iter().map(String::as_str).chain([own.as_str()]).collect::<Vec<_>>().join(",")
    }
}
