//! Discovers the authorization server of a server, and decides which metadata is trusted.
//!
//! MCP's order, revision 2026-07-28: the server's challenge names its metadata, or the well-known places are
//! tried; that metadata names the authorization servers, of which the first is used; and the authorization
//! server has metadata at its own well-known places. A server without any metadata implements 2025-03-26, and
//! is its own authorization server. Metadata is trusted only about the server it was requested for.

mod audience;
mod document;
mod error;
mod fetch;
mod search;
mod well_known;

use url::Url;

use crate::challenge::TokenChallenge;
use crate::metadata::{AuthServerMetadata, MetadataSource, ResourceMetadata};
use crate::web::Web;
pub(crate) use audience::{canonical_resource, to_http_url};
pub use document::{DocumentError, parse_resource_metadata, parse_server_metadata};
pub use error::{DiscoverError, DiscoveryAttempt, DiscoveryFailure};
use search::MetadataSearch;

/// The authorization server of a server.
#[derive(Clone, Debug)]
pub struct DiscoveryResult {
    /// The server's protected resource metadata, if it has any.
    pub resource: Option<ResourceMetadata>,
    /// The metadata of its authorization server.
    pub server: AuthServerMetadata,
    /// The audience of tokens: the `resource` parameter of every request (RFC 8707), byte for byte.
    pub audience: String,
    /// The places that had no usable metadata, in order.
    pub tried: Vec<DiscoveryAttempt>,
}

/// Discovers the authorization server of `server` for a sign-in in a browser.
///
/// `asked` is the challenge of the server's refusal; `wished` is the configured address of the authorization
/// server's metadata, which takes precedence over the server's. Metadata found there is requested through
/// [`Web::with_trusted_place`].
///
/// # Errors
/// A [`DiscoverError`]; also when the authorization server does not offer PKCE with `S256`, which only
/// servers without metadata need not declare.
pub async fn discover_for_browser(
    web: &Web,
    server: &Url,
    asked: Option<&TokenChallenge>,
    wished: Option<&Url>,
) -> Result<DiscoveryResult, DiscoverError> {
    let found = discover_auth_server(web, server, asked, wished).await?;
    match found.server.source {
        MetadataSource::Published if !found.server.has_s256 => {
            // The issuer was checked to be a URL.
            let url = Url::parse(&found.server.issuer).unwrap_or_else(|_| server.clone());
            let lie = Box::new(DiscoveryAttempt { url, failure: DiscoveryFailure::NoPkce });
            Err(DiscoverError::Rejected { lie, tried: found.tried })
        }
        MetadataSource::Published | MetadataSource::Assumed => Ok(found),
    }
}

/// As [`discover_for_browser`], for sign-ins that need no page and no PKCE.
///
/// # Errors
/// A [`DiscoverError`].
pub async fn discover_auth_server(
    web: &Web,
    server: &Url,
    asked: Option<&TokenChallenge>,
    wished: Option<&Url>,
) -> Result<DiscoveryResult, DiscoverError> {
    let mut search = MetadataSearch::new(web, audience::to_http_url(server));
    let resource = search.find_resource(asked).await?;
    let issuer = resource.as_ref().and_then(|resource| resource.authorization_servers.first());
    let server = match (wished, issuer) {
        (Some(place), _) => search.fetch_configured(place).await?,
        (None, Some(issuer)) => search.find_server(issuer).await?,
        (None, None) => {
            let is_named = asked.is_some_and(|asked| asked.resource_metadata.is_some());
            search.find_own_server(resource.is_some() || is_named).await?
        }
    };
    let named = resource.as_ref().map(|resource| resource.resource.clone());
    let audience = named.unwrap_or_else(|| audience::canonical_resource(&search.home));
    Ok(DiscoveryResult { resource, server, audience, tried: search.tried })
}

/// Fetches the metadata of an issuer that the user has configured.
///
/// # Errors
/// A [`DiscoverError`].
pub async fn fetch_issuer_metadata(web: &Web, issuer: &str) -> Result<AuthServerMetadata, DiscoverError> {
    let home = Url::parse(issuer).unwrap_or_else(|_| web.server().clone());
    MetadataSearch::new(web, home).find_server(issuer).await
}

#[cfg(test)]
mod tests;
