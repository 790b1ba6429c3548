//! Test servers and authorization servers on this machine, with metadata.

mod believed;
mod order;

use mcparley_wire::transport::http::Network;
use serde_json::{Value, json};
use url::Url;

use super::*;
use crate::web::site::Site;

/// The metadata of a server.
fn resource(name: &str, issuer: &str) -> String {
    json!({"resource": name, "authorization_servers": [issuer]}).to_string()
}

/// The metadata of an authorization server, with its endpoints below `base`.
fn server(issuer: &str, base: &str) -> Value {
    json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{base}/authorize"),
        "token_endpoint": format!("{base}/token"),
        "code_challenge_methods_supported": ["S256"],
    })
}

/// A challenge that names a metadata place.
fn naming(place: &str) -> TokenChallenge {
    TokenChallenge::parse(&format!("Bearer resource_metadata=\"{place}\"")).unwrap()
}

async fn found(site: &Site, asked: Option<&TokenChallenge>) -> Result<DiscoveryResult, DiscoverError> {
    let url = site.url("/mcp");
    discover_for_browser(&Web::new(&Network::default(), &url), &url, asked, None).await
}

fn paths(tried: &[DiscoveryAttempt]) -> Vec<(String, String)> {
    tried.iter().map(|tried| (tried.url.path().to_owned(), tried.failure.to_string())).collect()
}

fn wellknown(name: &str) -> String {
    format!("/.well-known/{name}")
}

/// A server and its authorization server at one origin, with `description` as the metadata of the latter.
fn with_server(description: impl Fn(&str) -> Value + Send + Sync + 'static) -> Site {
    Site::with_json_pages(move |origin, path| match path {
        "/.well-known/oauth-protected-resource/mcp" => {
            Some(resource(&format!("{origin}/mcp"), &format!("{origin}/tenant")))
        }
        "/.well-known/oauth-authorization-server/tenant" => Some(description(origin).to_string()),
        _ => None,
    })
}

async fn error(site: &Site) -> DiscoverError {
    found(site, None).await.unwrap_err()
}

fn parse(url: &str) -> Url {
    Url::parse(url).unwrap()
}
