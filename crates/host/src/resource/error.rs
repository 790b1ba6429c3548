//! Errors of resources.

use mcparley_model::name::ServerName;
use mcparley_model::text::{Untrusted, display_line};

use crate::call::RequestError;

/// The reason why a resource could not be read or watched.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResourceError {
    /// The server does not have the resource.
    #[error("server `{}` has no resource `{}`: {}", display_line(server.as_str()), display_line(uri), said.display_line())]
    NotFound {
        /// The server.
        server: ServerName,
        /// The URI.
        uri: String,
        /// The server's error message.
        said: Untrusted,
    },
    /// The URI is longer than the limit.
    #[error("the address is longer than {limit} bytes")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// The server's answer is not a resource.
    #[error("server `{}` returned an invalid resource", display_line(server.as_str()))]
    Damaged {
        /// The server.
        server: ServerName,
    },
    /// The server does not support subscriptions to resources.
    #[error("server `{}` does not support resource subscriptions", display_line(server.as_str()))]
    UpdatesNotSupported {
        /// The server.
        server: ServerName,
    },
    /// Too many resources of one server are watched.
    #[error("cannot watch more than {limit} resources of one server")]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// The request to the server failed.
    #[error(transparent)]
    Request(#[from] RequestError),
}

impl ResourceError {
    /// Whether the server answered that it does not have the resource.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound { .. })
    }

    /// The next action for the user, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Request(error) => error.hint(),
            Self::NotFound { .. }
            | Self::TooLong { .. }
            | Self::Damaged { .. }
            | Self::UpdatesNotSupported { .. }
            | Self::TooMany { .. } => None,
        }
    }
}
