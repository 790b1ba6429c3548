//! Errors of HTTP requests during sign-in.

use std::error::Error;
use std::time::Duration;

use mcparley_model::explain::Explain;
use mcparley_model::text::{display_line, round_duration};
use mcparley_wire::Failure;
use mcparley_wire::transport::http::Network;
use url::Url;

use super::forbidden::Forbidden;

/// The reason why a request failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebError {
    /// The address is not `https`, and not `http` on this machine.
    #[error("`{}` is not an `https` address", display_line(place))]
    Scheme {
        /// Its scheme and host.
        place: String,
    },
    /// The address has a user name, a password or a fragment.
    #[error("the address at `{}` has a user name, password or fragment", display_line(place))]
    UserInfo {
        /// Its scheme and host.
        place: String,
    },
    /// Sign-in may not access the address.
    #[error(transparent)]
    Forbidden(#[from] Forbidden),
    /// The server cannot be reached.
    #[error("it cannot be reached: {}", failure_reason(.0))]
    Unreachable(Failure),
    /// The connection broke.
    #[error("the connection broke: {why}")]
    Broken {
        /// The library's reason, without the address.
        why: String,
    },
    /// No response arrived in time.
    #[error("no response within {:?}", round_duration(*after))]
    TimedOut {
        /// The limit.
        after: Duration,
    },
    /// The response exceeds the size limit.
    #[error("its response is larger than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// The server redirects to another origin, or to no address.
    #[error("it redirects to {}", describe_target(place.as_deref()))]
    Moved {
        /// The scheme and host it redirects to.
        place: Option<String>,
    },
    /// The server redirects too often.
    #[error("it redirects more than {limit} times")]
    Redirects {
        /// The limit.
        limit: usize,
    },
}

impl WebError {
    /// Classifies a request without a response. The errors of our own address check come back among the
    /// library's causes.
    pub(super) fn from_send_error(error: &reqwest::Error, url: &Url, network: &Network) -> Self {
        if let Some(forbidden) = error_chain(error).find_map(|cause| cause.downcast_ref::<Forbidden>()) {
            return Self::Forbidden(forbidden.clone());
        }
        match network.classify_error(error, url) {
            Failure::Closed { sent: true, .. } => Self::from_broken_connection(error),
            failure => Self::Unreachable(failure),
        }
    }

    /// The library's error, without the address, which may hold secrets.
    pub(super) fn from_broken_connection(error: &reqwest::Error) -> Self {
        let cause = error_chain(error).last().map(ToString::to_string).unwrap_or_default();
        let why = match error.url() {
            Some(url) => cause.replace(url.as_str(), "…"),
            None => cause,
        };
        Self::Broken { why }
    }
}

fn error_chain(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(Some(error as &(dyn Error + 'static)), |error| (*error).source())
}

/// The reason without the words that apply only to an MCP server.
fn failure_reason(failure: &Failure) -> String {
    match failure {
        Failure::Refused { reason, .. } => reason.to_string(),
        failure => failure.to_string(),
    }
}

fn describe_target(place: Option<&str>) -> String {
    place.map_or_else(|| "nowhere".to_owned(), |place| format!("`{}`", display_line(place)))
}

impl Explain for WebError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Scheme { .. } => {
                Some("sign-in needs `https`; `http` is allowed only on this machine".to_owned())
            }
            Self::Forbidden(forbidden) => forbidden.hint(),
            Self::Unreachable(Failure::Refused { hint, .. }) => hint.as_deref().map(str::to_owned),
            Self::Unreachable(_)
            | Self::UserInfo { .. }
            | Self::Broken { .. }
            | Self::TimedOut { .. }
            | Self::TooLarge { .. }
            | Self::Moved { .. }
            | Self::Redirects { .. } => None,
        }
    }
}
