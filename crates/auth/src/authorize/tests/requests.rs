//! The parameters of the page that is opened.

use std::collections::{BTreeMap, BTreeSet};

use aws_lc_rs::digest;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::*;
use crate::authorize::AuthorizeError;

fn parameters(page: &BrowserPage) -> BTreeMap<String, String> {
    let pairs: Vec<(String, String)> = page.url().query_pairs().into_owned().collect();
    let parameters: BTreeMap<String, String> = pairs.iter().cloned().collect();
    assert_eq!(pairs.len(), parameters.len(), "a parameter stands twice: {pairs:?}");
    parameters
}

// A1
#[test]
fn authorization_request_has_exactly_the_required_parameters() {
    let (attempt, page) = begin(&server(), &["read", "write"]);
    let parameters = parameters(&page);
    let code = attempt.expected_response().state().expose().clone();
    let verifier = attempt.verifier.expose();
    let challenge = URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, verifier.as_bytes()));
    let expected = [
        ("client_id", "the client"),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
        ("redirect_uri", "http://127.0.0.1:50000/callback"),
        ("resource", "https://mcp.example/mcp"),
        ("response_type", "code"),
        ("scope", "read write"),
        ("state", &code),
    ];
    let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(parameters, BTreeMap::from(expected));
    assert_eq!(page.url().path(), "/authorize");
}

// A1 (RFC 7636, appendix B)
#[test]
fn pkce_challenge_matches_the_example_of_the_specification() {
    let verifier = Secret::new("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".to_owned());
    assert_eq!(crate::authorize::pkce_challenge(&verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
}

// A1
#[test]
fn scope_is_omitted_when_empty_and_offline_access_prompts_for_consent() {
    let (_, page) = begin(&server(), &[]);
    assert!(!parameters(&page).contains_key("scope"));
    let (_, page) = begin(&server(), &["read", "offline_access"]);
    let parameters = parameters(&page);
    assert_eq!(parameters["scope"], "read offline_access");
    assert_eq!(parameters["prompt"], "consent");
}

// A1
#[test]
fn endpoint_parameters_are_kept_unless_they_collide_with_ours() {
    let mut server = server();
    server.authorization_endpoint = Some(url("https://as.example/a?tenant=a%20b&state=theirs&state=2#part"));
    let (attempt, page) = begin(&server, &[]);
    let parameters = parameters(&page);
    assert_eq!(parameters["tenant"], "a b");
    assert_eq!(parameters["state"], *attempt.state().expose());
    assert_eq!(page.url().fragment(), None);
}

// A6
#[test]
fn id_token_request_has_a_nonce() {
    let mut server = server();
    server.has_s256 = false;
    let wish = AuthorizationRequest {
        redirect: &redirect(),
        resource: None,
        scopes: &["email".to_owned()],
        identity: IdTokenDemand::Requested,
        dpop_jkt: Some("thumb"),
        state_prefix: None,
    };
    let (attempt, page) = AuthorizationAttempt::begin_authorization(&server, &client(), &wish).unwrap();
    let parameters = parameters(&page);
    assert_eq!(parameters["scope"], "openid email");
    assert_eq!(parameters["dpop_jkt"], "thumb");
    assert!(!parameters.contains_key("resource"));
    let answer = answer(&attempt, "code=c&iss=https://as.example");
    let code = attempt.accept_response(&answer).unwrap();
    assert_eq!(code.nonce.unwrap().expose(), &parameters["nonce"]);
}

// A1 H17
#[test]
fn attempts_do_not_share_state_verifier_or_nonce() {
    let mut seen = BTreeSet::new();
    for _ in 0..100 {
        let (attempt, _) = begin(&server(), &[]);
        for secret in [attempt.state(), &attempt.verifier] {
            assert_eq!(secret.expose().len(), 43);
            assert!(
                secret.expose().bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
            );
            assert!(seen.insert(secret.expose().clone()));
        }
    }
}

// B65 B75
#[test]
fn server_without_page_or_pkce_is_refused_before_a_page_is_opened() {
    let refused = |server: AuthServerMetadata| {
        let wish = AuthorizationRequest {
            redirect: &redirect(),
            resource: None,
            scopes: &[],
            identity: IdTokenDemand::NotRequested,
            dpop_jkt: None,
            state_prefix: None,
        };
        AuthorizationAttempt::begin_authorization(&server, &client(), &wish).err()
    };
    let at = |place: &str| AuthServerMetadata { authorization_endpoint: Some(url(place)), ..server() };
    assert_eq!(
        refused(AuthServerMetadata { authorization_endpoint: None, ..server() }),
        Some(AuthorizeError::NoEndpoint)
    );
    assert_eq!(refused(AuthServerMetadata { has_s256: false, ..server() }), Some(AuthorizeError::NoPkce));
    assert_eq!(
        refused(AuthServerMetadata { has_s256: false, source: MetadataSource::Assumed, ..server() }),
        None
    );
    for place in
        ["javascript:alert(1)", "file:///etc/passwd", "http://evil.example/", "https://a@as.example/"]
    {
        assert!(matches!(refused(at(place)), Some(AuthorizeError::Endpoint(_))), "{place}");
    }
}

// B62
#[test]
fn attempt_prints_no_secret() {
    let (attempt, page) = begin(&server(), &[]);
    let secrets = [attempt.state().expose().clone(), attempt.verifier.expose().clone()];
    let answer = answer(&attempt, "code=code-canary&iss=https://as.example");
    let before = format!("{attempt:?} {page:?} {answer:?}");
    let code = attempt.accept_response(&answer).unwrap();
    assert_eq!((code.code.expose().as_str(), code.verifier.expose()), ("code-canary", &secrets[1]));
    let printed = format!("{before} {code:?}");
    assert!(!printed.contains("canary"), "{printed}");
    for secret in secrets {
        assert!(!printed.contains(&secret), "{printed}");
    }
}
