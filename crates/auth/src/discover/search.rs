//! Goes from place to place, and keeps where it was in vain.

use mcparley_model::text::Untrusted;
use url::Url;

use super::error::{DiscoverError, Miss, Tried};
use super::{fetch, place};
use crate::challenge::Asked;
use crate::metadata::{Found, Resource, Server};
use crate::web::Web;

/// One search.
#[derive(Debug)]
pub(super) struct Search<'w> {
    web: &'w Web,
    /// The server's URL, as HTTP has it.
    pub(super) home: Url,
    /// Where it was in vain, in order.
    pub(super) tried: Vec<Tried>,
}

impl<'w> Search<'w> {
    pub(super) fn new(web: &'w Web, home: Url) -> Self {
        Self { web, home, tried: Vec::new() }
    }

    /// What the server says about itself; `None` when it says nothing. A description of another server ends the search:
    /// going on would only find a more convenient one.
    pub(super) async fn resource(
        &mut self,
        asked: Option<&Asked>,
    ) -> Result<Option<Resource>, DiscoverError> {
        let mut places = place::of_resource(&self.home);
        if let Some(place) = asked.and_then(|asked| self.named(asked)) {
            places.retain(|known| *known != place);
            places.insert(0, place);
        }
        for url in places {
            match fetch::resource(self.web, &url, &self.home).await {
                Ok(resource) => return Ok(Some(resource)),
                Err(miss) => {
                    let is_other = matches!(miss, Miss::Resource { .. });
                    self.miss(url, miss);
                    if is_other {
                        return Err(self.failed());
                    }
                }
            }
        }
        Ok(None)
    }

    /// The authorization server of this name, as it describes itself. Byte for byte of this name (B72).
    pub(super) async fn server(&mut self, issuer: &str) -> Result<Server, DiscoverError> {
        let Some(base) = fetch::issuer_url(issuer) else {
            self.miss(self.home.clone(), Miss::NoUrl { said: Untrusted::new(issuer) });
            return Err(self.failed());
        };
        match self.described(&base, &[issuer]).await {
            Some(server) => Ok(server),
            None => Err(self.failed()),
        }
    }

    /// The authorization server that a person has named: its description names the issuer, which must be at home there.
    pub(super) async fn wish(&mut self, place: &Url) -> Result<Server, DiscoverError> {
        match fetch::wished(self.web, place).await {
            Ok(server) => Ok(server),
            Err(miss) => {
                // What else was tried does not matter: this one was to be used and no other.
                let lie = Box::new(Tried { url: place.clone(), miss });
                Err(DiscoverError::Disbelieved { lie, tried: std::mem::take(&mut self.tried) })
            }
        }
    }

    /// The server as its own authorization server, as it was with 2025-03-26. Endpoints are assumed only where nothing is
    /// described, and nowhere else: not for a server that is newer, nor while one only cannot answer.
    pub(super) async fn own_server(&mut self, is_new: bool) -> Result<Server, DiscoverError> {
        let origin = self.home.origin().ascii_serialization();
        let is_silent = self.tried.iter().all(|tried| tried.miss.is_absent());
        if !is_silent {
            return Err(self.failed());
        }
        // Both names lead to the same place, and nobody has said which of them it is.
        let names = [origin.as_str(), &format!("{origin}/")];
        let root = place::at(&self.home, "/");
        if let Some(server) = self.described(&root, &names).await {
            return Ok(server);
        }
        match !is_new && self.tried.iter().all(|tried| tried.miss.is_denied()) {
            true => Ok(assumed(&self.home, origin)),
            false => Err(self.failed()),
        }
    }

    async fn described(&mut self, base: &Url, names: &[&str]) -> Option<Server> {
        for url in place::of_issuer(base) {
            match fetch::server(self.web, &url, names).await {
                Ok(server) => return Some(server),
                Err(miss) => self.miss(url, miss),
            }
        }
        None
    }

    /// The place the server has named, if it is its own (B68). No other is asked for anything.
    fn named(&mut self, asked: &Asked) -> Option<Url> {
        let text = asked.resource_metadata.as_deref()?;
        match self.home.join(text) {
            Ok(place) if place.origin() == self.home.origin() => Some(place),
            Ok(place) => {
                self.miss(place, Miss::Foreign);
                None
            }
            Err(_) => {
                self.miss(self.home.clone(), Miss::NoUrl { said: Untrusted::new(text) });
                None
            }
        }
    }

    fn miss(&mut self, url: Url, miss: Miss) {
        self.tried.push(Tried { url, miss });
    }

    fn failed(&mut self) -> DiscoverError {
        DiscoverError::after(std::mem::take(&mut self.tried))
    }
}

/// Where servers of 2025-03-26 have their endpoints when they do not say (its "Fallbacks for Servers without Metadata
/// Discovery").
fn assumed(home: &Url, issuer: String) -> Server {
    Server {
        authorization_endpoint: Some(place::at(home, "/authorize")),
        registration_endpoint: Some(place::at(home, "/register")),
        found: Found::Assumed,
        ..Server::new(issuer, place::at(home, "/token"))
    }
}
