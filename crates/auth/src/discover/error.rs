//! Why nobody could say how to sign in, with all that was tried.

use std::fmt;

use mcparley_model::explain::Explain;
use mcparley_model::text::{Untrusted, display};
use url::Url;

use super::document::DocumentError;
use crate::web::WebError;

/// Why nobody could say how to sign in.
#[derive(Clone, Debug, thiserror::Error)]
pub enum DiscoverError {
    /// Nothing was found.
    #[error("nothing says how to sign in{}", steps(tried))]
    Nothing {
        /// What was tried, in order.
        tried: Vec<Tried>,
    },
    /// Something was found, and it must not be used.
    #[error("the description at {lie}")]
    Disbelieved {
        /// Which one, and why not.
        lie: Box<Tried>,
        /// What was tried besides, in order.
        tried: Vec<Tried>,
    },
}

/// A place that was looked at in vain.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The place.
    pub url: Url,
    /// Why in vain.
    pub miss: Miss,
}

/// Why a place was looked at in vain.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Miss {
    /// The answer's status says no.
    #[error("status {0}")]
    Status(u16),
    /// The answer is not JSON.
    #[error("its answer is no JSON but {}", content(kind.as_ref()))]
    Type {
        /// What it says it is.
        kind: Option<Untrusted>,
    },
    /// It could not be asked.
    #[error(transparent)]
    Web(#[from] WebError),
    /// It was not asked: the server named a place that is not its own.
    #[error("it is not at the server's own address")]
    Foreign,
    /// It was not asked: what was named cannot be asked.
    #[error("`{}` is no address that can be asked", said.display())]
    NoUrl {
        /// What was named.
        said: Untrusted,
    },
    /// The description cannot be read.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// It is about another server (B68).
    #[error("it is about another server, `{}`", said.display())]
    Resource {
        /// The server it says it is about.
        said: Untrusted,
    },
    /// It is about another authorization server (B72).
    #[error("it is about another issuer, `{}`, and not about `{}`", said.display(), display(wanted))]
    Issuer {
        /// The issuer it says it is about.
        said: Untrusted,
        /// The one that was asked for.
        wanted: String,
    },
    /// It does not offer what keeps codes from being stolen (B75).
    #[error("it does not offer PKCE with `S256`")]
    NoPkce,
    /// Tokens are given at another origin, and it is not sure that the issuer says so (B71).
    #[error("its `token_endpoint` is at another origin, `{}`, and it does not say so over `https`", said.display())]
    TokenOrigin {
        /// The origin of the endpoint.
        said: Untrusted,
    },
    /// It names an endpoint that must not be used.
    #[error("its `{field}` must not be used: {why}")]
    Endpoint {
        /// The endpoint.
        field: &'static str,
        /// Why not.
        why: WebError,
    },
}

impl Miss {
    /// Whether this says that there is nothing at all, rather than that nobody could tell.
    pub(super) fn is_absent(&self) -> bool {
        self.is_denied() || matches!(self, Self::Type { .. })
    }

    /// Whether the answer was a plain no.
    pub(super) fn is_denied(&self) -> bool {
        // Those three only mean "later".
        matches!(self, Self::Status(status) if (400..500).contains(status) && ![408, 425, 429].contains(status))
    }

    /// Whether a description was there that must not be used.
    pub(super) fn is_lie(&self) -> bool {
        match self {
            Self::Document(_)
            | Self::Resource { .. }
            | Self::Issuer { .. }
            | Self::NoPkce
            | Self::TokenOrigin { .. }
            | Self::Endpoint { .. } => true,
            Self::Status(_) | Self::Type { .. } | Self::Web(_) | Self::Foreign | Self::NoUrl { .. } => false,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Web(error) | Self::Endpoint { why: error, .. } => error.hint(),
            Self::Issuer { said, wanted }
                if said.raw().trim_end_matches('/') == wanted.trim_end_matches('/') =>
            {
                Some(format!(
                    "they differ in the slash at the end, and must not: whoever runs the server must name the \
                     issuer as it names itself, or you name its description in `{WISH}`"
                ))
            }
            Self::Foreign | Self::Issuer { .. } => {
                Some(format!("if you trust its authorization server, name its description in `{WISH}`"))
            }
            Self::Status(_)
            | Self::Type { .. }
            | Self::NoUrl { .. }
            | Self::Document(_)
            | Self::Resource { .. }
            | Self::TokenOrigin { .. }
            | Self::NoPkce => None,
        }
    }
}

/// The field with which people say where the description is.
const WISH: &str = "oauth.authServerMetadataUrl";

impl DiscoverError {
    /// The first description that was there and must not be used says more than all the places where none was.
    pub(super) fn after(mut tried: Vec<Tried>) -> Self {
        match tried.iter().position(|tried| tried.miss.is_lie()) {
            Some(index) => Self::Disbelieved { lie: Box::new(tried.remove(index)), tried },
            None => Self::Nothing { tried },
        }
    }

    /// What was tried besides, in order.
    #[must_use]
    pub fn tried(&self) -> &[Tried] {
        match self {
            Self::Nothing { tried } | Self::Disbelieved { tried, .. } => tried,
        }
    }
}

impl Explain for DiscoverError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Disbelieved { lie, .. } => lie.miss.hint(),
            Self::Nothing { tried } => tried.iter().find_map(|tried| tried.miss.hint()).or_else(|| {
                Some(format!(
                    "if the server wants a key, put it into `headers`; if you know where its authorization server \
                     describes itself, name that in `{WISH}`"
                ))
            }),
        }
    }
}

impl fmt::Display for Tried {
    /// Without the query, which may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = self.url.origin().ascii_serialization();
        write!(f, "`{}{}`: {}", display(&origin), display(self.url.path()), self.miss)
    }
}

fn steps(tried: &[Tried]) -> String {
    tried.iter().enumerate().fold(String::new(), |text, (index, tried)| {
        let mark = if index == 0 { ": " } else { "; " };
        format!("{text}{mark}{tried}")
    })
}

fn content(kind: Option<&Untrusted>) -> String {
    kind.map_or_else(|| "something without a type".to_owned(), |kind| format!("`{}`", kind.display()))
}
