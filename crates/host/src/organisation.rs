//! The user's organisation: where its connectors are listed, and what lets us in (C1, T7).
//!
//! The catalogue is asked for with the same token that the connectors want, and that token goes to the
//! catalogue's origin only: an entry cannot send it elsewhere, nor can a file that declares a connector by itself.
//!
//! | what | where |
//! |---|---|
//! | one renewal for many refused requests | `bearer` |
//! | a token from a variable or from a file | `stored` |
//! | the format of the catalogue | `listing` |
//! | what can go wrong | `error` |

mod bearer;
mod error;
mod listing;
mod stored;

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::expand::Env;
use mcparley_model::limits::{CATALOGUE_BYTES, CATALOGUE_PAGES, CATALOGUE_TIME};
use mcparley_model::settings::{Layer, Settings};
use mcparley_wire::transport::http::{self, HttpTarget};
use mcparley_wire::{Failure, Phase};
use tokio::time::Instant;
use url::{Host, Url};

use crate::connect::Surroundings;
use crate::sources::Known;
use bearer::Bearer;
pub use bearer::TokenSource;
pub use error::ConnectorError;
use listing::Listing;
pub use stored::StoredToken;

/// Where the organisation's connectors are listed, and what lets us in there. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Organisation {
    base: Url,
    bearer: Arc<Bearer>,
}

impl Organisation {
    /// The organisation that `settings` name, or a variable of the program's own environment; `None` when neither
    /// does. What the administrator says wins over the variable, and the variable over the user's settings.
    ///
    /// # Errors
    /// When the address is none that a token may be sent to.
    pub fn configured(
        settings: &Settings,
        env: &Env,
        tokens: Arc<dyn TokenSource>,
    ) -> Result<Option<Self>, ConnectorError> {
        let set = settings.connectors.as_ref();
        let by = |managed: bool| set.filter(|(by, _)| (*by == Layer::Managed) == managed);
        let variable = env.get("MCPARLEY_CONNECTORS_URL").filter(|text| !text.is_empty());
        let text = by(true).map(|(_, url)| url.value.as_str());
        let text = text.or(variable).or_else(|| by(false).map(|(_, url)| url.value.as_str()));
        text.map(|text| Self::at(text, tokens)).transpose()
    }

    /// The organisation whose catalogue is below this address.
    ///
    /// # Errors
    /// When it is no address that a token may be sent to: `https`, or `http` on this machine.
    pub fn at(base: &str, tokens: Arc<dyn TokenSource>) -> Result<Self, ConnectorError> {
        let base = Url::parse(base.trim()).map_err(|_| ConnectorError::NotAUrl)?;
        let plain = base.username().is_empty() && base.password().is_none() && base.query().is_none();
        match is_safe(&base) && plain {
            true => Ok(Self { base, bearer: Arc::new(Bearer::new(tokens)) }),
            false => Err(ConnectorError::Unsafe),
        }
    }

    /// The connectors, as the organisation lists them now. Ends within `limit`, and within ten seconds.
    ///
    /// # Errors
    /// When nothing of the catalogue could be had. What went wrong later is told in the answer.
    pub async fn fetch(&self, surroundings: &Surroundings, limit: Duration) -> Result<Known, ConnectorError> {
        if self.bearer.token().is_none() {
            return Err(ConnectorError::NoToken { why: self.bearer.why_none() });
        }
        let limit = limit.min(CATALOGUE_TIME);
        let deadline = Instant::now() + limit;
        let late = || Failure::TimedOut { phase: Phase::Answering, after: limit };
        let mut listing = Listing::new(&self.base);
        let mut place = Some(self.first_page());
        for page in 0..CATALOGUE_PAGES {
            let Some(url) = place.take() else { break };
            let target = self.with_token(url);
            let work = http::document(&target, surroundings.network(), CATALOGUE_BYTES);
            let body = tokio::time::timeout_at(deadline, work).await.unwrap_or_else(|_| Err(late()));
            let next = match body.map_err(ConnectorError::from) {
                Ok(body) => listing.take(&body),
                Err(error) => Err(error),
            };
            match next {
                Ok(next) => place = next.map(|next| self.page(&next)),
                Err(error) if page == 0 => return Err(error),
                // What came before is worth more than nothing.
                Err(error) => listing.lacks(error),
            }
        }
        if place.is_some() {
            listing.lacks(ConnectorError::TooMany);
        }
        Ok(listing.finish())
    }

    /// How a connector at this address is reached.
    ///
    /// # Errors
    /// When it is not where the token may go.
    pub(crate) fn target(&self, url: &Url) -> Result<HttpTarget, ConnectorError> {
        match is_within(&self.base, url) {
            true => Ok(self.with_token(url.clone())),
            false => Err(ConnectorError::Elsewhere),
        }
    }

    fn with_token(&self, url: Url) -> HttpTarget {
        let mut target = HttpTarget::new(url, Vec::new());
        target.authorizer = Arc::<Bearer>::clone(&self.bearer);
        target
    }

    fn first_page(&self) -> Url {
        let mut url = below(&self.base, &["v1", "mcp_servers"]);
        url.query_pairs_mut().append_pair("limit", "1000");
        url
    }

    fn page(&self, page: &str) -> Url {
        let mut url = self.first_page();
        url.query_pairs_mut().append_pair("page", page);
        url
    }
}

/// The address with these segments behind its path.
fn below(base: &Url, segments: &[&str]) -> Url {
    let mut url = base.clone();
    // An address with a host has segments.
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(segments);
    }
    url
}

/// Whether what is sent there can be read by nobody on the way.
fn is_safe(url: &Url) -> bool {
    let is_here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.has_host() && (url.scheme() == "https" || url.scheme() == "http" && is_here)
}

/// Whether the token for `base` may be sent to `url`.
fn is_within(base: &Url, url: &Url) -> bool {
    url.origin() == base.origin() && url.username().is_empty() && url.password().is_none()
}

#[cfg(test)]
mod tests;
