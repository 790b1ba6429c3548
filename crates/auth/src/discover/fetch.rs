//! Fetches metadata from one place, and decides whether it is trusted.

use mcparley_model::text::Untrusted;
use url::Url;

use super::error::DiscoveryFailure;
use super::{audience, document};
use crate::metadata::{AuthServerMetadata, ResourceMetadata};
use crate::web::{Web, WebResponse};

/// Fetches the metadata of the server at `home`.
pub(super) async fn fetch_resource(
    web: &Web,
    place: &Url,
    home: &Url,
) -> Result<ResourceMetadata, DiscoveryFailure> {
    let page = require_json(web.fetch_document(place).await?)?;
    let resource = document::parse_resource_metadata(&page.body)?;
    if audience::is_resource_of(&resource.resource, home) {
        Ok(resource)
    } else {
        Err(DiscoveryFailure::Resource { said: Untrusted::new(resource.resource) })
    }
}

/// Fetches the metadata of an authorization server that has one of these `names`. They are compared byte for
/// byte: no slash, case or port is normalized (RFC 8414, section 3.3).
pub(super) async fn fetch_server(
    web: &Web,
    place: &Url,
    names: &[&str],
) -> Result<AuthServerMetadata, DiscoveryFailure> {
    let page = require_json(web.fetch_document(place).await?)?;
    let server = document::parse_server_metadata(&page.body)?;
    if !names.contains(&server.issuer.as_str()) {
        let wanted = names.first().copied().unwrap_or_default().to_owned();
        return Err(DiscoveryFailure::Issuer { said: Untrusted::new(server.issuer), wanted });
    }
    let server = check_endpoints(web, server).await?;
    check_token_endpoint(place, &server)?;
    Ok(server)
}

/// Fetches the metadata at a place that the user has configured. Its issuer must be at the same origin.
pub(super) async fn fetch_configured(web: &Web, place: &Url) -> Result<AuthServerMetadata, DiscoveryFailure> {
    let web = &web.with_trusted_place(place);
    let page = require_json(web.fetch_document(place).await?)?;
    let server = document::parse_server_metadata(&page.body)?;
    let base = issuer_url(&server.issuer);
    if base.is_none_or(|base| base.origin() != place.origin()) {
        let wanted = place.origin().ascii_serialization();
        return Err(DiscoveryFailure::Issuer { said: Untrusted::new(server.issuer), wanted });
    }
    let server = check_endpoints(web, server).await?;
    check_token_endpoint(place, &server)?;
    Ok(server)
}

/// Checks the token endpoint, which receives codes and secrets. One at another origin than the issuer is
/// trusted only if the issuer's own metadata came over `https`: over `http` anyone on the network could have
/// written it.
fn check_token_endpoint(place: &Url, server: &AuthServerMetadata) -> Result<(), DiscoveryFailure> {
    let endpoint = &server.token_endpoint;
    if endpoint.origin() == place.origin() || place.scheme() == "https" {
        return Ok(());
    }
    Err(DiscoveryFailure::TokenOrigin { said: Untrusted::new(endpoint.origin().ascii_serialization()) })
}

/// Parses an issuer's name as a URL: it must not have a query or a fragment (RFC 8414, section 2).
pub(super) fn issuer_url(name: &str) -> Option<Url> {
    let url = Url::parse(name).ok()?;
    let is_plain = url.query().is_none() && url.fragment().is_none();
    let is_open = url.username().is_empty() && url.password().is_none();
    (is_plain && is_open && matches!(url.scheme(), "http" | "https")).then_some(url)
}

/// Checks every endpoint now: the sign-in page is opened by a browser, which makes no such checks.
async fn check_endpoints(
    web: &Web,
    server: AuthServerMetadata,
) -> Result<AuthServerMetadata, DiscoveryFailure> {
    let endpoints = [
        ("authorization_endpoint", server.authorization_endpoint.as_ref()),
        ("token_endpoint", Some(&server.token_endpoint)),
        ("registration_endpoint", server.registration_endpoint.as_ref()),
        ("device_authorization_endpoint", server.device_endpoint.as_ref()),
        ("revocation_endpoint", server.revocation_endpoint.as_ref()),
        ("jwks_uri", server.key_set.as_ref()),
    ];
    for (field, endpoint) in endpoints {
        if let Some(endpoint) = endpoint {
            web.check_url(endpoint).await.map_err(|why| DiscoveryFailure::Endpoint { field, why })?;
        }
    }
    Ok(server)
}

/// Returns the response if it is a JSON document.
fn require_json(page: WebResponse) -> Result<WebResponse, DiscoveryFailure> {
    if page.status != 200 {
        return Err(DiscoveryFailure::Status(page.status));
    }
    let kind = page.header("content-type");
    let essence =
        kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim().to_ascii_lowercase();
    if essence == "application/json" || essence.ends_with("+json") {
        Ok(page)
    } else {
        Err(DiscoveryFailure::Type { kind: kind.map(Untrusted::new) })
    }
}
