//! The URL of a server, with its headers and credentials.

use std::sync::Arc;

use mcparley_model::secret::Secret;
use url::Url;

use crate::authorizer::{Authorizer, NoAuthorizer};

/// The URL of a server, with headers and credentials.
#[derive(Clone)]
pub struct HttpTarget {
    /// The endpoint.
    pub url: Url,
    /// Headers of every request besides our own, which win.
    pub headers: Vec<(String, Secret<String>)>,
    /// Provides credentials, where constant headers are not enough.
    pub authorizer: Arc<dyn Authorizer>,
}

impl HttpTarget {
    /// A target that needs only these headers.
    #[must_use]
    pub fn new(url: Url, headers: Vec<(String, Secret<String>)>) -> Self {
        Self { url, headers, authorizer: Arc::new(NoAuthorizer) }
    }
}

impl std::fmt::Debug for HttpTarget {
    /// Shows the origin and the names only: users put keys into the rest of a URL.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        let origin = self.url.origin().ascii_serialization();
        f.debug_struct("HttpTarget").field("origin", &origin).field("headers", &names).finish_non_exhaustive()
    }
}
