//! Why an address that sign-in needs could not be asked.

use std::time::Duration;

use mcparley_model::explain::Explain;
use mcparley_model::text::display;
use mcparley_wire::Failure;

/// Why an address could not be asked.
#[derive(Clone, Debug, thiserror::Error)]
pub enum WebError {
    /// It is not `https`, and not `http` on this machine.
    #[error("`{}` is not reached over `https`", display(place))]
    Scheme {
        /// Its scheme and host.
        place: String,
    },
    /// It holds a name or a password, or a fragment.
    #[error("the address at `{}` holds what has no place in one", display(place))]
    Adorned {
        /// Its scheme and host.
        place: String,
    },
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

impl Explain for WebError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Scheme { .. } => Some("sign-in needs `https`; `http` is for this machine alone".to_owned()),
            Self::Unreachable(Failure::Refused { hint, .. }) => hint.as_deref().map(str::to_owned),
            Self::Unreachable(_)
            | Self::Adorned { .. }
            | Self::Broken { .. }
            | Self::Late { .. }
            | Self::TooLarge { .. } => None,
        }
    }
}
