//! Who we are, and what a registration says and brings.

use super::*;
use crate::grant::tests::{client, secret, server, words};

const REGISTRATION: Registration<'static> =
    Registration { name: "files", redirect: None, scopes: &[], device: false };

// A1
#[test]
fn the_identity_is_the_configured_one_then_the_document_then_a_registration() {
    let document = Url::parse("https://host.example/client.json").unwrap();
    let key = secret("canary");
    let configured = Configured { id: "client", secret: Some(&key) };
    let with = Known { configured: Some(configured), document: Some(&document), ..Known::default() };
    let without = Known { configured: None, ..with };
    let taking = Server { takes_documents: true, ..server() };
    let closed = Server { registration_endpoint: None, ..server() };

    let known = Client { secret: Some(key.clone()), proof: Proof::Basic, ..client() };
    assert_eq!(identify(&taking, &with).unwrap(), Identity::Known(known));
    let described = Client { id: document.to_string(), origin: Origin::Document, ..client() };
    assert_eq!(identify(&taking, &without).unwrap(), Identity::Known(described));
    assert_eq!(identify(&server(), &without).unwrap(), Identity::Unregistered);
    assert_eq!(identify(&taking, &Known::default()).unwrap(), Identity::Unregistered);
    let error = identify(&closed, &without).unwrap_err();
    assert!(matches!(error, RegisterError::NoWay));
    assert!(error.hint().unwrap().contains("`oauth.clientId`"));
}

// A1
#[test]
fn a_registration_is_that_of_a_native_program() {
    let (redirect, scopes) = (Url::parse("http://127.0.0.1:7777/callback").unwrap(), words(&["a", "b"]));
    let registration = Registration { redirect: Some(&redirect), scopes: &scopes, ..REGISTRATION };
    let wanted = json!({
        "client_name": "mcparley (files)",
        "redirect_uris": ["http://127.0.0.1:7777/callback"],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
        "scope": "a b",
    });
    assert_eq!(body(&server(), &registration), wanted);
}

// A1 A8
#[test]
fn a_registration_asks_for_nothing_the_server_does_not_have() {
    let strict = Server {
        grants: Some(words(&["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"])),
        proofs: Some(vec![Proof::Post, Proof::Basic]),
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
    assert_eq!(body(&strict, &Registration { device: true, ..REGISTRATION }), wanted);
}

// A1
#[test]
fn the_proof_is_the_one_the_registration_answered() {
    let table = [
        (json!(null), None, None, Proof::Nothing),
        (json!("client_secret_basic"), None, None, Proof::Nothing),
        (json!(null), Some("s"), Some("s"), Proof::Basic),
        (json!("none"), Some("s"), Some("s"), Proof::Nothing),
        (json!("client_secret_post"), Some("s"), Some("s"), Proof::Post),
        (json!("client_secret_jwt"), Some("s"), Some("s"), Proof::Basic),
    ];
    for (method, given, kept, proof) in table {
        let answer =
            json!({"client_id": "client", "client_secret": given, "token_endpoint_auth_method": method});
        let registered = registered(answer.as_object().unwrap(), &server(), &REGISTRATION).unwrap();
        let wanted = Client { secret: kept.map(secret), proof, origin: Origin::Registered, ..client() };
        assert_eq!(registered.client, wanted, "{answer}");
    }
}

// A1
#[test]
fn a_secret_ends_when_the_server_says_and_zero_is_never() {
    for (ends, wanted) in [(json!(0), None), (json!(100), Some(100)), (json!(-1), None), (json!("x"), None)] {
        let answer = json!({"client_id": "c", "client_secret": "s", "client_secret_expires_at": ends});
        let registered = registered(answer.as_object().unwrap(), &server(), &REGISTRATION).unwrap();
        assert_eq!(registered.secret_ends, wanted.map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds)));
    }
}

// A1
#[test]
fn an_answer_without_a_usable_id_registers_nobody() {
    for id in [json!(null), json!(""), json!(5), json!("a\r\nb"), json!("x".repeat(100_000))] {
        let answer = json!({"client_id": id});
        let error = registered(answer.as_object().unwrap(), &server(), &REGISTRATION).unwrap_err();
        assert_eq!(error, AnswerError::Missing { field: "client_id" }, "{id:.30}");
    }
}
