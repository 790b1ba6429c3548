//! Why an address that sign-in needs could not be asked.

use std::time::Duration;

use mcparley_wire::Failure;

/// Why an address could not be asked.
#[derive(Clone, Debug, thiserror::Error)]
pub enum WebError {
    /// There is no way to it.
    #[error("it cannot be reached")]
    Unreachable(#[source] Failure),
    /// The connection broke.
    #[error("the connection broke: {why}")]
    Broken {
        /// The library's reason, without the address.
        why: String,
    },
    /// It took too long.
    #[error("no answer within {after:?}")]
    Late {
        /// The limit.
        after: Duration,
    },
    /// It said too much.
    #[error("its answer is larger than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
}

impl WebError {
    /// What the library says, without the address, which may hold secrets.
    pub(super) fn broken(error: &reqwest::Error) -> Self {
        let mut cause: &dyn std::error::Error = error;
        while let Some(deeper) = cause.source() {
            cause = deeper;
        }
        let why = match error.url() {
            Some(url) => cause.to_string().replace(url.as_str(), "…"),
            None => cause.to_string(),
        };
        Self::Broken { why }
    }
}
