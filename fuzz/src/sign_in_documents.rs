//! Oracle of the documents of a sign-in: challenges, metadata, authorization responses.
//!
//! What was parsed and is written in its canonical form parses to the same value. An authorization response is
//! accepted only if each of its parameters occurs once and is the expected one.

use mcparley_auth::BrowserPage;
use mcparley_auth::TokenChallenge;
use mcparley_auth::authorize::{
    AuthorizationAttempt, AuthorizationRequest, AuthorizationResponse, IdTokenDemand,
};
use mcparley_auth::client::{ClientAuthMethod, ClientIdOrigin, OAuthClient};
use mcparley_auth::discover::{parse_resource_metadata, parse_server_metadata};
use mcparley_auth::metadata::{AuthServerMetadata, ResourceMetadata};
use mcparley_auth::tokens::Kind;
use mcparley_model::limits::OAUTH_NAMES;
use serde_json::{Value, json};
use url::{Url, form_urlencoded};

const ISSUER: &str = "https://as.example";

/// Where a browser is sent back to.
const REDIRECT: &str = "http://127.0.0.1:50000/callback";

/// Checks one text as each of the documents; `STATE` in it stands for the state of the attempt.
pub fn check_documents(data: &[u8]) {
    check_metadata(data);
    let Ok(text) = std::str::from_utf8(data) else { return };
    check_challenge(text);
    check_page(text);
    check_response(text);
}

fn check_challenge(text: &str) {
    let Some(challenge) = TokenChallenge::parse(text) else { return };
    assert!(challenge.scope.len() <= OAUTH_NAMES);
    assert!(challenge.scope.iter().all(|scope| is_scope(scope)), "{:?}", challenge.scope);
    if let Some(error) = &challenge.error {
        assert!(error.bytes().all(|byte| matches!(byte, b' '..=b'~') && !b"\"\\".contains(&byte)), "{error}");
    }
    assert_eq!(TokenChallenge::parse(&write_challenge(&challenge)).as_ref(), Some(&challenge), "{text:?}");
}

fn is_scope(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'!'..=b'~') && !b"\"\\".contains(&byte))
}

/// The challenge in its canonical form.
fn write_challenge(challenge: &TokenChallenge) -> String {
    let description = challenge.description.as_ref().map(|description| description.raw().to_owned());
    let scope = Some(challenge.scope.join(" ")).filter(|scope| !scope.is_empty());
    let parameters = [
        ("error", challenge.error.clone()),
        ("scope", scope),
        ("resource_metadata", challenge.resource_metadata.clone()),
        ("error_description", description),
    ];
    let written = parameters.into_iter().filter_map(|(name, value)| {
        let value = value?.replace('\\', "\\\\").replace('"', "\\\"");
        Some(format!("{name}=\"{value}\""))
    });
    let written = format!("{} {}", challenge.scheme.as_str(), written.collect::<Vec<_>>().join(", "));
    let other = if challenge.scheme == Kind::Bearer { Kind::Dpop } else { Kind::Bearer };
    if challenge.takes_either { format!("{written}, {}", other.as_str()) } else { written }
}

fn check_metadata(data: &[u8]) {
    if let Ok(server) = parse_server_metadata(data) {
        check_names(&[
            Some(&server.scopes),
            server.grants.as_ref(),
            server.signing.as_ref(),
            Some(&server.dpop),
        ]);
        assert!(server.scopes.iter().all(|scope| is_scope(scope)));
        let written = write_server(&server).to_string();
        assert_eq!(parse_server_metadata(written.as_bytes()), Ok(server), "{written}");
    }
    if let Ok(resource) = parse_resource_metadata(data) {
        check_names(&[Some(&resource.scopes), Some(&resource.authorization_servers)]);
        let ResourceMetadata { resource: name, authorization_servers, scopes, dpop_required } = &resource;
        let written = json!({
            "resource": name,
            "authorization_servers": authorization_servers,
            "scopes_supported": scopes,
            "dpop_bound_access_tokens_required": dpop_required,
        });
        assert_eq!(parse_resource_metadata(written.to_string().as_bytes()), Ok(resource));
    }
}

fn check_names(lists: &[Option<&Vec<String>>]) {
    assert!(lists.iter().flatten().all(|list| list.len() <= OAUTH_NAMES));
}

fn write_server(server: &AuthServerMetadata) -> Value {
    let proofs = server.proofs.as_ref();
    let proofs = proofs.map(|proofs| proofs.iter().map(|proof| proof.as_str()).collect::<Vec<_>>());
    json!({
        "issuer": server.issuer,
        "authorization_endpoint": server.authorization_endpoint,
        "token_endpoint": server.token_endpoint,
        "registration_endpoint": server.registration_endpoint,
        "device_authorization_endpoint": server.device_endpoint,
        "revocation_endpoint": server.revocation_endpoint,
        "jwks_uri": server.key_set,
        "scopes_supported": server.scopes,
        "grant_types_supported": server.grants,
        "token_endpoint_auth_methods_supported": proofs,
        "token_endpoint_auth_signing_alg_values_supported": server.signing,
        "code_challenge_methods_supported": server.has_s256.then_some(["S256"]),
        "authorization_response_iss_parameter_supported": server.names_issuer,
        "client_id_metadata_document_supported": server.takes_documents,
        "dpop_signing_alg_values_supported": server.dpop,
    })
}

/// A page that is opened is on the web, and harmless as an argument of a program.
fn check_page(text: &str) {
    let Ok(page) = BrowserPage::parse(text) else { return };
    let is_web = ["https://", "http://127.", "http://localhost", "http://[::1]"];
    assert!(is_web.iter().any(|start| page.as_str().starts_with(start)), "{}", page.as_str());
    let is_harmless = |byte: u8| byte.is_ascii_graphic() && !b"\"'`$()<>\\^{}|".contains(&byte);
    assert!(page.as_str().bytes().all(is_harmless), "{}", page.as_str());
    assert_eq!(BrowserPage::parse(page.as_str()), Ok(page));
}

fn check_response(text: &str) {
    let Some(attempt) = begin_attempt() else { return };
    let state = attempt.state().expose().clone();
    let query = text.replace("STATE", &state);
    if let Ok(redirect) = Url::parse(REDIRECT)
        && let Ok(pasted) = AuthorizationResponse::from_pasted(&query, &redirect)
    {
        assert!(!attempt.matches_state(&pasted) || query.replace(['\r', '\n', '\t'], "").contains(&state));
    }
    let Ok(response) = AuthorizationResponse::from_query(&query) else { return };
    let Ok(code) = attempt.accept_response(&response) else { return };
    let values = |name: &str| -> Vec<String> {
        let pairs = form_urlencoded::parse(query.as_bytes());
        pairs.filter(|(known, _)| known == name).map(|(_, value)| value.into_owned()).collect()
    };
    assert_eq!(values("state"), [state]);
    assert_eq!(values("iss"), [ISSUER]);
    assert_eq!(values("code"), [code.code.expose().clone()]);
    assert!(!code.code.expose().is_empty() && values("error").iter().all(String::is_empty));
}

fn begin_attempt() -> Option<AuthorizationAttempt> {
    let server = AuthServerMetadata {
        authorization_endpoint: Url::parse("https://as.example/authorize").ok(),
        has_s256: true,
        names_issuer: true,
        ..AuthServerMetadata::new(ISSUER.to_owned(), Url::parse("https://as.example/token").ok()?)
    };
    let client = OAuthClient {
        id: "client".to_owned(),
        secret: None,
        proof: ClientAuthMethod::Nothing,
        redirect: None,
        origin: ClientIdOrigin::Registered,
        scopes: Vec::new(),
    };
    let redirect = Url::parse(REDIRECT).ok()?;
    let request = AuthorizationRequest {
        redirect: &redirect,
        resource: None,
        scopes: &[],
        identity: IdTokenDemand::NotRequested,
        dpop_jkt: None,
        state_prefix: None,
    };
    AuthorizationAttempt::begin_authorization(&server, &client, &request).ok().map(|(attempt, _)| attempt)
}
