//! The choice of the client, and the content of a registration.

use super::*;
use crate::grant::tests::{client, secret, server, words};

const REGISTRATION: RegistrationRequest<'static> =
    RegistrationRequest { name: "files", redirect: None, scopes: &[], device: false };

// A1
#[test]
fn client_is_the_configured_one_then_the_document_then_a_registration() {
    let document = Url::parse("https://host.example/client.json").unwrap();
    let key = secret("canary");
    let configured = ConfiguredClient { id: "client", secret: Some(&key) };
    let with = ClientCandidates {
        configured: Some(configured),
        document: Some(&document),
        ..ClientCandidates::default()
    };
    let without = ClientCandidates { configured: None, ..with };
    let taking = AuthServerMetadata { takes_documents: true, ..server() };
    let closed = AuthServerMetadata { registration_endpoint: None, ..server() };

    let known = OAuthClient { secret: Some(key.clone()), proof: ClientAuthMethod::Basic, ..client() };
    assert_eq!(choose_client(&taking, &with).unwrap(), ClientChoice::Known(known));
    let described = OAuthClient { id: document.to_string(), origin: ClientIdOrigin::Document, ..client() };
    assert_eq!(choose_client(&taking, &without).unwrap(), ClientChoice::Known(described));
    assert_eq!(choose_client(&server(), &without).unwrap(), ClientChoice::Unregistered);
    assert_eq!(choose_client(&taking, &ClientCandidates::default()).unwrap(), ClientChoice::Unregistered);
    let error = choose_client(&closed, &without).unwrap_err();
    assert!(matches!(error, RegisterError::Unsupported));
    assert!(error.hint().unwrap().contains("`oauth.clientId`"));
}

// A1
#[test]
fn registration_is_for_a_native_application() {
    let (redirect, scopes) = (Url::parse("http://127.0.0.1:7777/callback").unwrap(), words(&["a", "b"]));
    let registration = RegistrationRequest { redirect: Some(&redirect), scopes: &scopes, ..REGISTRATION };
    let wanted = json!({
        "client_name": "mcparley (files)",
        "redirect_uris": ["http://127.0.0.1:7777/callback"],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
        "scope": "a b",
    });
    assert_eq!(request_body(&server(), &registration), wanted);
}

// A1 A8
#[test]
fn registration_requests_only_what_the_server_supports() {
    let strict = AuthServerMetadata {
        grants: Some(words(&["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"])),
        proofs: Some(vec![ClientAuthMethod::Post, ClientAuthMethod::Basic]),
        ..server()
    };
    let wanted = json!({
        "client_name": "mcparley (files)",
        "redirect_uris": [],
        "grant_types": ["urn:ietf:params:oauth:grant-type:device_code"],
        "response_types": [],
        "token_endpoint_auth_method": "client_secret_post",
        "application_type": "native",
    });
    assert_eq!(request_body(&strict, &RegistrationRequest { device: true, ..REGISTRATION }), wanted);
}

// A1
#[test]
fn auth_method_is_the_registered_one() {
    let table = [
        (json!(null), None, None, ClientAuthMethod::Nothing),
        (json!("client_secret_basic"), None, None, ClientAuthMethod::Nothing),
        (json!(null), Some("s"), Some("s"), ClientAuthMethod::Basic),
        (json!("none"), Some("s"), Some("s"), ClientAuthMethod::Nothing),
        (json!("client_secret_post"), Some("s"), Some("s"), ClientAuthMethod::Post),
        (json!("client_secret_jwt"), Some("s"), Some("s"), ClientAuthMethod::Basic),
    ];
    for (method, given, kept, proof) in table {
        let answer =
            json!({"client_id": "client", "client_secret": given, "token_endpoint_auth_method": method});
        let registered = parse_registration(answer.as_object().unwrap(), &server(), &REGISTRATION).unwrap();
        let wanted =
            OAuthClient { secret: kept.map(secret), proof, origin: ClientIdOrigin::Registered, ..client() };
        assert_eq!(registered.client, wanted, "{answer}");
    }
}

// A1
#[test]
fn secret_expiry_is_parsed_and_zero_means_never() {
    for (ends, wanted) in [(json!(0), None), (json!(100), Some(100)), (json!(-1), None), (json!("x"), None)] {
        let answer = json!({"client_id": "c", "client_secret": "s", "client_secret_expires_at": ends});
        let registered = parse_registration(answer.as_object().unwrap(), &server(), &REGISTRATION).unwrap();
        assert_eq!(registered.secret_ends, wanted.map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds)));
    }
}

// A1
#[test]
fn response_without_a_usable_id_is_no_registration() {
    for id in [json!(null), json!(""), json!(5), json!("a\r\nb"), json!("x".repeat(100_000))] {
        let answer = json!({"client_id": id});
        let error = parse_registration(answer.as_object().unwrap(), &server(), &REGISTRATION).unwrap_err();
        assert_eq!(error, TokenResponseError::Missing { field: "client_id" }, "{id:.30}");
    }
}
