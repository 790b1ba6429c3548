//! Authorization requests, and the responses that are accepted.

mod answers;
mod issuers;
mod mutations;
mod requests;

use mcparley_model::secret::Secret;
use url::Url;

use super::{AuthorizationAttempt, AuthorizationRequest, AuthorizationResponse, IdTokenDemand};
use crate::browser_page::BrowserPage;
use crate::client::{ClientAuthMethod, ClientIdOrigin, OAuthClient};
use crate::metadata::{AuthServerMetadata, MetadataSource};

const ISSUER: &str = "https://as.example";

/// The metadata of an authorization server.
fn server() -> AuthServerMetadata {
    AuthServerMetadata {
        authorization_endpoint: Some(url("https://as.example/authorize")),
        has_s256: true,
        names_issuer: true,
        ..AuthServerMetadata::new(ISSUER.to_owned(), url("https://as.example/token"))
    }
}

fn client() -> OAuthClient {
    OAuthClient {
        id: "the client".to_owned(),
        secret: Some(Secret::new("secret-canary".to_owned())),
        proof: ClientAuthMethod::Basic,
        redirect: None,
        origin: ClientIdOrigin::Registered,
        scopes: Vec::new(),
    }
}

fn begin(server: &AuthServerMetadata, scopes: &[&str]) -> (AuthorizationAttempt, BrowserPage) {
    let scopes: Vec<String> = scopes.iter().map(ToString::to_string).collect();
    let wish = AuthorizationRequest {
        redirect: &redirect(),
        resource: Some("https://mcp.example/mcp"),
        scopes: &scopes,
        identity: IdTokenDemand::NotRequested,
        dpop_jkt: None,
        state_prefix: None,
    };
    AuthorizationAttempt::begin_authorization(server, &client(), &wish).unwrap()
}

fn redirect() -> Url {
    url("http://127.0.0.1:50000/callback")
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

/// A response with the right state and more parameters.
fn answer(attempt: &AuthorizationAttempt, rest: &str) -> AuthorizationResponse {
    AuthorizationResponse::from_query(&format!("state={}&{rest}", attempt.state().expose())).unwrap()
}
