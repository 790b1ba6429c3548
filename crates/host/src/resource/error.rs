//! Why a resource was not had.

use mcparley_model::name::ServerName;
use mcparley_model::text::{Untrusted, display};

use crate::call::RequestError;

/// Why a resource was not had.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResourceError {
    /// The server does not have it.
    #[error("server `{}` has no resource `{}`: {}", display(server.as_str()), display(uri), said.display())]
    NotFound {
        /// The server.
        server: ServerName,
        /// The address.
        uri: String,
        /// What the server says about it.
        said: Untrusted,
    },
    /// The address is longer than any that means something.
    #[error("the address is longer than {limit} bytes")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// What the server answered is no resource.
    #[error("server `{}` answered with something that is no resource", display(server.as_str()))]
    Damaged {
        /// The server.
        server: ServerName,
    },
    /// The server does not tell when resources change.
    #[error("server `{}` does not tell when resources change", display(server.as_str()))]
    NotTold {
        /// The server.
        server: ServerName,
    },
    /// Too many resources of one server are watched.
    #[error("more than {limit} resources of one server would be watched")]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// The server gave nothing.
    #[error(transparent)]
    Request(#[from] RequestError),
}

impl ResourceError {
    /// Whether the server is there and does not have it.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound { .. })
    }

    /// What to do about it, when there is something to do.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Request(error) => error.hint(),
            Self::NotFound { .. }
            | Self::TooLong { .. }
            | Self::Damaged { .. }
            | Self::NotTold { .. }
            | Self::TooMany { .. } => None,
        }
    }
}
