//! Finds out who lets people in to a server, and whom to believe about it (H15, H16).
//!
//! MCP's order, revision 2026-07-28: the server says where it describes itself, or is looked for at the well-known places;
//! that description names the authorization server, of which the first is taken; and the authorization server describes
//! itself at its own well-known places. A server that says nothing at all is one of 2025-03-26, which is its own
//! authorization server. Each description is believed only about the one it was asked about.

mod audience;
mod document;
mod error;
mod fetch;
mod place;
mod search;

use url::Url;

use crate::challenge::Asked;
use crate::metadata::{Found, Resource, Server};
use crate::web::Web;
pub(crate) use audience::over_http;
pub use document::DocumentError;
pub use error::{DiscoverError, Miss, Tried};
use search::Search;

/// Who lets people in to a server.
#[derive(Clone, Debug)]
pub struct Discovered {
    /// What the server says about itself, if it does.
    pub resource: Option<Resource>,
    /// What its authorization server says about itself.
    pub server: Server,
    /// For whom tokens are asked: the `resource` parameter of every request (RFC 8707), byte for byte.
    pub audience: String,
    /// The places that were looked at in vain, in order.
    pub tried: Vec<Tried>,
}

/// Finds out who lets people in to `server` by sending them to a page.
///
/// `asked` is what the server said when it refused; `wished` is where the configuration says that the authorization server
/// describes itself, which then wins over what the server says. What was found by a wish is asked through
/// [`Web::trusting`] it.
///
/// # Errors
/// A [`DiscoverError`]; also when the authorization server does not offer PKCE with `S256` (B75), which only those that do
/// not describe themselves at all are spared.
pub async fn discover(
    web: &Web,
    server: &Url,
    asked: Option<&Asked>,
    wished: Option<&Url>,
) -> Result<Discovered, DiscoverError> {
    let found = find(web, server, asked, wished).await?;
    match found.server.found {
        Found::Described if !found.server.has_s256 => {
            // Its issuer was a URL when it was believed.
            let url = Url::parse(&found.server.issuer).unwrap_or_else(|_| server.clone());
            let lie = Box::new(Tried { url, miss: Miss::NoPkce });
            Err(DiscoverError::Disbelieved { lie, tried: found.tried })
        }
        Found::Described | Found::Assumed => Ok(found),
    }
}

/// As [`discover`], for programs that sign in without a page and need no PKCE.
///
/// # Errors
/// A [`DiscoverError`].
pub async fn find(
    web: &Web,
    server: &Url,
    asked: Option<&Asked>,
    wished: Option<&Url>,
) -> Result<Discovered, DiscoverError> {
    let mut search = Search::new(web, audience::over_http(server));
    let resource = search.resource(asked).await?;
    let issuer = resource.as_ref().and_then(|resource| resource.authorization_servers.first());
    let server = match (wished, issuer) {
        (Some(place), _) => search.wish(place).await?,
        (None, Some(issuer)) => search.server(issuer).await?,
        (None, None) => {
            let is_named = asked.is_some_and(|asked| asked.resource_metadata.is_some());
            search.own_server(resource.is_some() || is_named).await?
        }
    };
    let named = resource.as_ref().map(|resource| resource.resource.clone());
    let audience = named.unwrap_or_else(|| audience::canonical(&search.home));
    Ok(Discovered { resource, server, audience, tried: search.tried })
}

/// What the issuer of this name says about itself: for one that a person has configured.
///
/// # Errors
/// A [`DiscoverError`].
pub async fn describe(web: &Web, issuer: &str) -> Result<Server, DiscoverError> {
    Search::new(web, web.server().clone()).server(issuer).await
}

#[cfg(test)]
mod tests;
