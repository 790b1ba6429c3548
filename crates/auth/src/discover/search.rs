//! Searches the well-known places for metadata, and records the failed attempts.

use mcparley_model::text::Untrusted;
use url::Url;

use super::error::{DiscoverError, DiscoveryAttempt, DiscoveryFailure};
use super::{fetch, well_known};
use crate::challenge::TokenChallenge;
use crate::metadata::{AuthServerMetadata, MetadataSource, ResourceMetadata};
use crate::web::Web;

/// One search for metadata.
#[derive(Debug)]
pub(super) struct MetadataSearch<'w> {
    web: &'w Web,
    /// The server's URL with an HTTP scheme.
    pub(super) home: Url,
    /// The failed attempts, in order.
    pub(super) tried: Vec<DiscoveryAttempt>,
}

impl<'w> MetadataSearch<'w> {
    pub(super) fn new(web: &'w Web, home: Url) -> Self {
        Self { web, home, tried: Vec::new() }
    }

    /// Finds the metadata of the server; `None` when it has none. Metadata of another server ends the search:
    /// continuing would only find a document that suits an attacker better.
    pub(super) async fn find_resource(
        &mut self,
        asked: Option<&TokenChallenge>,
    ) -> Result<Option<ResourceMetadata>, DiscoverError> {
        let mut places = well_known::resource_places(&self.home);
        if let Some(place) = asked.and_then(|asked| self.challenge_place(asked)) {
            places.retain(|known| *known != place);
            places.insert(0, place);
        }
        for url in places {
            match fetch::fetch_resource(self.web, &url, &self.home).await {
                Ok(resource) => return Ok(Some(resource)),
                Err(miss) => {
                    let is_other = matches!(miss, DiscoveryFailure::Resource { .. });
                    self.record_failure(url, miss);
                    if is_other {
                        return Err(self.take_error());
                    }
                }
            }
        }
        Ok(None)
    }

    /// Finds the metadata of the authorization server of this name, compared byte for byte.
    pub(super) async fn find_server(&mut self, issuer: &str) -> Result<AuthServerMetadata, DiscoverError> {
        let Some(base) = fetch::issuer_url(issuer) else {
            self.record_failure(self.home.clone(), DiscoveryFailure::NoUrl { said: Untrusted::new(issuer) });
            return Err(self.take_error());
        };
        match self.search_issuer_places(&base, &[issuer]).await {
            Some(server) => Ok(server),
            None => Err(self.take_error()),
        }
    }

    /// Fetches the metadata of the authorization server that the user has configured.
    pub(super) async fn fetch_configured(
        &mut self,
        place: &Url,
    ) -> Result<AuthServerMetadata, DiscoverError> {
        match fetch::fetch_configured(self.web, place).await {
            Ok(server) => Ok(server),
            Err(miss) => {
                // The other attempts do not matter: this place was to be used and no other.
                let lie = Box::new(DiscoveryAttempt { url: place.clone(), failure: miss });
                Err(DiscoverError::Rejected { lie, tried: std::mem::take(&mut self.tried) })
            }
        }
    }

    /// Finds the server as its own authorization server, as in 2025-03-26. Endpoints are assumed only where
    /// no metadata exists: not for a newer server, and not while a server fails to answer.
    pub(super) async fn find_own_server(
        &mut self,
        is_new: bool,
    ) -> Result<AuthServerMetadata, DiscoverError> {
        let origin = self.home.origin().ascii_serialization();
        let is_silent = self.tried.iter().all(|tried| tried.failure.is_absent());
        if !is_silent {
            return Err(self.take_error());
        }
        // Both names lead to the same place, and neither was given by the server.
        let names = [origin.as_str(), &format!("{origin}/")];
        let root = well_known::with_path(&self.home, "/");
        if let Some(server) = self.search_issuer_places(&root, &names).await {
            return Ok(server);
        }
        if !is_new && self.tried.iter().all(|tried| tried.failure.is_denied()) {
            Ok(assume_endpoints(&self.home, origin))
        } else {
            Err(self.take_error())
        }
    }

    async fn search_issuer_places(&mut self, base: &Url, names: &[&str]) -> Option<AuthServerMetadata> {
        for url in well_known::issuer_places(base) {
            match fetch::fetch_server(self.web, &url, names).await {
                Ok(server) => return Some(server),
                Err(miss) => self.record_failure(url, miss),
            }
        }
        None
    }

    /// The place that the server's challenge names, if it is at the server's origin. No other origin is
    /// contacted.
    fn challenge_place(&mut self, asked: &TokenChallenge) -> Option<Url> {
        let text = asked.resource_metadata.as_deref()?;
        match self.home.join(text) {
            Ok(place) if place.origin() == self.home.origin() => Some(place),
            Ok(place) => {
                self.record_failure(place, DiscoveryFailure::Foreign);
                None
            }
            Err(_) => {
                self.record_failure(
                    self.home.clone(),
                    DiscoveryFailure::NoUrl { said: Untrusted::new(text) },
                );
                None
            }
        }
    }

    fn record_failure(&mut self, url: Url, miss: DiscoveryFailure) {
        self.tried.push(DiscoveryAttempt { url, failure: miss });
    }

    fn take_error(&mut self) -> DiscoverError {
        DiscoverError::from_attempts(std::mem::take(&mut self.tried))
    }
}

/// The default endpoints of servers of 2025-03-26 without metadata ("Fallbacks for Servers without Metadata
/// Discovery").
fn assume_endpoints(home: &Url, issuer: String) -> AuthServerMetadata {
    AuthServerMetadata {
        authorization_endpoint: Some(well_known::with_path(home, "/authorize")),
        registration_endpoint: Some(well_known::with_path(home, "/register")),
        source: MetadataSource::Assumed,
        ..AuthServerMetadata::new(issuer, well_known::with_path(home, "/token"))
    }
}
