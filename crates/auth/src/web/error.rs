//! Why an address that sign-in needs could not be asked.

use std::error::Error;
use std::time::Duration;

use mcparley_model::explain::Explain;
use mcparley_model::text::{display, rounded};
use mcparley_wire::Failure;
use mcparley_wire::transport::http::Network;
use url::Url;

use super::forbidden::Forbidden;

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
    /// It is where sign-in does not go (H15).
    #[error(transparent)]
    Forbidden(#[from] Forbidden),
    /// There is no way to it.
    #[error("it cannot be reached: {}", reason(.0))]
    Unreachable(Failure),
    /// The connection broke.
    #[error("the connection broke: {why}")]
    Broken {
        /// The library's reason, without the address.
        why: String,
    },
    /// It took too long.
    #[error("no answer within {:?}", rounded(*after))]
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
    /// It redirects to another origin, or to nowhere.
    #[error("it redirects to {}", destination(place.as_deref()))]
    Moved {
        /// The scheme and host it redirects to.
        place: Option<String>,
    },
    /// It redirects without end.
    #[error("it redirects more than {limit} times")]
    Redirects {
        /// The limit.
        limit: usize,
    },
}

impl WebError {
    /// Why there was no answer. What our own judge of names says comes back among the library's causes.
    pub(super) fn unanswered(error: &reqwest::Error, url: &Url, network: &Network) -> Self {
        if let Some(forbidden) = causes(error).find_map(|cause| cause.downcast_ref::<Forbidden>()) {
            return Self::Forbidden(forbidden.clone());
        }
        match network.meaning(error, url) {
            Failure::Closed { sent: true, .. } => Self::broken(error),
            failure => Self::Unreachable(failure),
        }
    }

    /// What the library says, without the address, which may hold secrets.
    pub(super) fn broken(error: &reqwest::Error) -> Self {
        let cause = causes(error).last().map(ToString::to_string).unwrap_or_default();
        let why = match error.url() {
            Some(url) => cause.replace(url.as_str(), "…"),
            None => cause,
        };
        Self::Broken { why }
    }
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(Some(error as &(dyn Error + 'static)), |error| (*error).source())
}

/// Without the words that are only right for a server.
fn reason(failure: &Failure) -> String {
    match failure {
        Failure::Refused { reason, .. } => reason.to_string(),
        failure => failure.to_string(),
    }
}

fn destination(place: Option<&str>) -> String {
    place.map_or_else(|| "nowhere".to_owned(), |place| format!("`{}`", display(place)))
}

impl Explain for WebError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Scheme { .. } => Some("sign-in needs `https`; `http` is for this machine alone".to_owned()),
            Self::Forbidden(forbidden) => forbidden.hint(),
            Self::Unreachable(Failure::Refused { hint, .. }) => hint.as_deref().map(str::to_owned),
            Self::Unreachable(_)
            | Self::Adorned { .. }
            | Self::Broken { .. }
            | Self::Late { .. }
            | Self::TooLarge { .. }
            | Self::Moved { .. }
            | Self::Redirects { .. } => None,
        }
    }
}
