//! The user's organization: fetches its connector catalog and authorizes requests to its connectors.
//!
//! The catalog is fetched with the same token that the connectors need. That token is only sent to the
//! catalog's origin: neither a catalog entry nor a file that declares a connector can send it elsewhere.
//!
//! | topic | module |
//! |---|---|
//! | single-flight token renewal for refused requests | `bearer` |
//! | a token from a variable or a file | `stored` |
//! | the format of the catalog | `listing` |
//! | errors | `error` |

mod bearer;
mod error;
mod listing;
mod stored;

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::expand::Env;
use mcparley_model::limits::{CATALOG_BYTES, CATALOG_PAGES, CATALOG_TIME};
use mcparley_model::settings::{MergedSettings, SettingsLayer};
use mcparley_wire::transport::http::{self, HttpTarget, Network};
use mcparley_wire::{Failure, FailurePhase};
use tokio::time::Instant;
use url::{Host, Url};

use bearer::ConnectorBearer;
pub use bearer::TokenSource;
pub use error::ConnectorError;
use listing::ConnectorListing;
use mcparley_config::ConnectorList;
pub use stored::StoredToken;

/// An organization: the URL of its connector catalog and the token for it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Organization {
    base: Url,
    bearer: Arc<ConnectorBearer>,
}

impl Organization {
    /// The organization from the settings or from `MCPARLEY_CONNECTORS_URL`; `None` if neither is set.
    /// Managed settings win over the variable, and the variable over the user's settings.
    ///
    /// # Errors
    /// If the URL is not one that a token may be sent to.
    pub fn from_settings(
        settings: &MergedSettings,
        env: &Env,
        tokens: Arc<dyn TokenSource>,
    ) -> Result<Option<Self>, ConnectorError> {
        let set = settings.connectors.as_ref();
        let by = |managed: bool| set.filter(|(by, _)| (*by == SettingsLayer::Managed) == managed);
        let variable = env.get("MCPARLEY_CONNECTORS_URL").filter(|text| !text.is_empty());
        let text = by(true).map(|(_, url)| url.value.as_str());
        let text = text.or(variable).or_else(|| by(false).map(|(_, url)| url.value.as_str()));
        text.map(|text| Self::from_url(text, tokens)).transpose()
    }

    /// The organization with its catalog below this URL.
    ///
    /// # Errors
    /// If the URL is not one that a token may be sent to: `https`, or `http` on this machine.
    pub fn from_url(base: &str, tokens: Arc<dyn TokenSource>) -> Result<Self, ConnectorError> {
        let base = Url::parse(base.trim()).map_err(|_| ConnectorError::NotAUrl)?;
        let plain = base.username().is_empty() && base.password().is_none() && base.query().is_none();
        if is_confidential(&base) && plain {
            Ok(Self { base, bearer: Arc::new(ConnectorBearer::new(tokens)) })
        } else {
            Err(ConnectorError::Unsafe)
        }
    }

    /// Fetches the connector catalog, page by page, within `limit` and at most ten seconds.
    ///
    /// # Errors
    /// If the first page could not be fetched. Later problems are part of the returned list.
    pub async fn fetch_connectors(
        &self,
        network: &Network,
        limit: Duration,
    ) -> Result<ConnectorList, ConnectorError> {
        if self.bearer.token().is_none() {
            return Err(ConnectorError::NoToken { why: self.bearer.missing_reason() });
        }
        let limit = limit.min(CATALOG_TIME);
        let deadline = Instant::now() + limit;
        let late = || Failure::TimedOut { phase: FailurePhase::Answering, after: limit };
        let mut listing = ConnectorListing::new(&self.base);
        let mut place = Some(self.first_page_url());
        for page in 0..CATALOG_PAGES {
            let Some(url) = place.take() else { break };
            let target = self.with_token(url);
            let work = http::fetch_document(&target, network, CATALOG_BYTES);
            let body = tokio::time::timeout_at(deadline, work).await.unwrap_or_else(|_| Err(late()));
            let next = match body.map_err(ConnectorError::from) {
                Ok(body) => listing.parse_page(&body),
                Err(error) => Err(error),
            };
            match next {
                Ok(next) => place = next.map(|next| self.page_url(&next)),
                Err(error) if page == 0 => return Err(error),
                // A partial list is better than none.
                Err(error) => listing.add_problem(&error),
            }
        }
        if place.is_some() {
            listing.add_problem(&ConnectorError::TooMany);
        }
        Ok(listing.into_connectors())
    }

    /// The HTTP target of a connector, with the organization's token.
    ///
    /// # Errors
    /// If the URL is not of the catalog's origin, where the token must not go.
    pub fn connector_target(&self, url: &Url) -> Result<HttpTarget, ConnectorError> {
        if is_same_origin(&self.base, url) {
            Ok(self.with_token(url.clone()))
        } else {
            Err(ConnectorError::OtherOrigin)
        }
    }

    fn with_token(&self, url: Url) -> HttpTarget {
        let mut target = HttpTarget::new(url, Vec::new());
        target.authorizer = Arc::<ConnectorBearer>::clone(&self.bearer);
        target
    }

    fn first_page_url(&self) -> Url {
        let mut url = append_segments(&self.base, &["v1", "mcp_servers"]);
        url.query_pairs_mut().append_pair("limit", "1000");
        url
    }

    fn page_url(&self, page: &str) -> Url {
        let mut url = self.first_page_url();
        url.query_pairs_mut().append_pair("page", page);
        url
    }
}

/// The URL with these segments appended to its path.
fn append_segments(base: &Url, segments: &[&str]) -> Url {
    let mut url = base.clone();
    // A URL with a host always has path segments.
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(segments);
    }
    url
}

/// Whether the connection is confidential: `https`, or loopback.
fn is_confidential(url: &Url) -> bool {
    let is_here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.has_host() && (url.scheme() == "https" || url.scheme() == "http" && is_here)
}

/// Whether the token for `base` may be sent to `url`: the same origin, without user info.
fn is_same_origin(base: &Url, url: &Url) -> bool {
    url.origin() == base.origin() && url.username().is_empty() && url.password().is_none()
}

#[cfg(test)]
mod tests;
