//! Fetches one description from one place, and decides whether it is believed.

use mcparley_model::text::Untrusted;
use url::Url;

use super::error::Miss;
use super::{audience, document};
use crate::metadata::{Resource, Server};
use crate::web::{Page, Web};

/// What is said there about the server at `home`.
pub(super) async fn resource(web: &Web, place: &Url, home: &Url) -> Result<Resource, Miss> {
    let page = json(web.get(place).await?)?;
    let resource = document::resource(&page.body)?;
    match audience::is_of(&resource.resource, home) {
        true => Ok(resource),
        false => Err(Miss::Resource { said: Untrusted::new(resource.resource) }),
    }
}

/// What is said there about an authorization server that has one of these `names`. They are compared as they stand: no
/// slash, no case, no port is evened out (RFC 8414, section 3.3).
pub(super) async fn server(web: &Web, place: &Url, names: &[&str]) -> Result<Server, Miss> {
    let page = json(web.get(place).await?)?;
    let server = document::server(&page.body)?;
    if !names.contains(&server.issuer.as_str()) {
        let wanted = names.first().copied().unwrap_or_default().to_owned();
        return Err(Miss::Issuer { said: Untrusted::new(server.issuer), wanted });
    }
    let server = usable(web, server).await?;
    check_token_endpoint(place, &server)?;
    Ok(server)
}

/// What is said at a place that a person has named, about whoever is at home there.
pub(super) async fn wished(web: &Web, place: &Url) -> Result<Server, Miss> {
    let web = &web.trusting(place);
    let page = json(web.get(place).await?)?;
    let server = document::server(&page.body)?;
    let base = issuer_url(&server.issuer);
    if base.is_none_or(|base| base.origin() != place.origin()) {
        let wanted = place.origin().ascii_serialization();
        return Err(Miss::Issuer { said: Untrusted::new(server.issuer), wanted });
    }
    let server = usable(web, server).await?;
    check_token_endpoint(place, &server)?;
    Ok(server)
}

/// Codes and secrets go to the token endpoint. One at another origin than the issuer is believed only where the issuer's
/// own description says so over `https`: what is said over `http` may be anybody's (B71).
fn check_token_endpoint(place: &Url, server: &Server) -> Result<(), Miss> {
    let endpoint = &server.token_endpoint;
    if endpoint.origin() == place.origin() || place.scheme() == "https" {
        return Ok(());
    }
    Err(Miss::TokenOrigin { said: Untrusted::new(endpoint.origin().ascii_serialization()) })
}

/// The URL behind an issuer's name, if it can be one: a query and a fragment have no place in it (RFC 8414, section 2).
pub(super) fn issuer_url(name: &str) -> Option<Url> {
    let url = Url::parse(name).ok()?;
    let is_plain = url.query().is_none() && url.fragment().is_none();
    let is_open = url.username().is_empty() && url.password().is_none();
    (is_plain && is_open && matches!(url.scheme(), "http" | "https")).then_some(url)
}

/// Every endpoint is judged now: the page of a sign-in is opened by a browser, which would not ask us.
async fn usable(web: &Web, server: Server) -> Result<Server, Miss> {
    let endpoints = [
        ("authorization_endpoint", server.authorization_endpoint.as_ref()),
        ("token_endpoint", Some(&server.token_endpoint)),
        ("registration_endpoint", server.registration_endpoint.as_ref()),
        ("device_authorization_endpoint", server.device_endpoint.as_ref()),
        ("revocation_endpoint", server.revocation_endpoint.as_ref()),
    ];
    for (field, endpoint) in endpoints {
        if let Some(endpoint) = endpoint {
            web.check(endpoint).await.map_err(|why| Miss::Endpoint { field, why })?;
        }
    }
    Ok(server)
}

/// The answer, if it is a description at all.
fn json(page: Page) -> Result<Page, Miss> {
    if page.status != 200 {
        return Err(Miss::Status(page.status));
    }
    let kind = page.header("content-type");
    let essence =
        kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim().to_ascii_lowercase();
    match essence == "application/json" || essence.ends_with("+json") {
        true => Ok(page),
        false => Err(Miss::Type { kind: kind.map(Untrusted::new) }),
    }
}
