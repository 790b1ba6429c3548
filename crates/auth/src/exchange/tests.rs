//! Tokens that are refused before a request is sent.

use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use super::*;
use crate::grant::tests::{client, secret, server};
use crate::jwt::{JwtError, sign_token};

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn token(kind: &str, claims: &Value) -> Secret<String> {
    sign_token(&json!({"alg": "ES256", "typ": kind}), claims, |_| Ok(vec![1])).unwrap()
}

fn changed(mut claims: Value, name: &str, value: Value) -> Value {
    claims[name] = value;
    claims
}

fn who() -> Value {
    json!({"iss": "https://idp.example", "sub": "U1", "aud": "us", "exp": 1_800_000_300, "nonce": "n"})
}

fn id_token(claims: &Value) -> Result<IdToken, TokenFlaw> {
    let nonce = secret("n");
    let expected = ExpectedIdToken { issuer: "https://idp.example", client: "us", nonce: Some(&nonce) };
    IdToken::verify_claims(token("JWT", claims), &expected, now())
}

// A6 B83
#[test]
fn id_token_is_valid_only_with_the_expected_claims() {
    let good = id_token(&who()).unwrap();
    assert_eq!((good.subject(), good.expires()), ("U1", now() + Duration::from_secs(300)));
    let table = [
        ("iss", json!("https://idp.example/"), TokenFlaw::Issuer),
        ("iss", json!(null), TokenFlaw::Issuer),
        ("aud", json!("others"), TokenFlaw::Audience),
        ("aud", json!([]), TokenFlaw::Audience),
        ("azp", json!("others"), TokenFlaw::Client),
        ("nonce", json!("other"), TokenFlaw::Nonce),
        ("nonce", json!(null), TokenFlaw::Nonce),
        ("exp", json!(1_800_000_000), TokenFlaw::Expired),
        ("exp", json!(null), TokenFlaw::Expired),
        ("exp", json!("1800000300"), TokenFlaw::Expired),
        ("sub", json!(null), TokenFlaw::Subject),
        ("sub", json!(""), TokenFlaw::Subject),
    ];
    for (name, value, wanted) in table {
        assert_eq!(id_token(&changed(who(), name, value)).unwrap_err(), wanted, "{name}");
    }
    assert!(id_token(&changed(who(), "aud", json!(["others", "us"]))).is_ok());
    let stored = ExpectedIdToken { issuer: "https://idp.example", client: "us", nonce: None };
    assert!(IdToken::verify_claims(token("JWT", &who()), &stored, now()).is_ok());
    let unreadable = IdToken::verify_claims(secret("canary"), &stored, now()).unwrap_err();
    assert_eq!(unreadable, TokenFlaw::Unreadable(JwtError::Shape));
}

const WANTED: IdJagRequest<'static> = IdJagRequest {
    audience: "https://as.example",
    client: "client",
    resource: "https://mcp.example/mcp",
    scopes: &[],
};

fn word() -> Value {
    json!({
        "iss": "https://idp.example", "sub": "U1", "aud": "https://as.example", "client_id": "client",
        "resource": "https://mcp.example/mcp", "exp": 1_800_000_300, "jti": "j",
    })
}

fn given(kind: &str, claims: &Value) -> Result<IdJag, TokenFlaw> {
    IdJag::verify_claims(token(kind, claims), "https://idp.example", &WANTED, now())
}

// A6 B83
#[test]
fn id_jag_is_valid_only_for_the_requested_server_client_and_resource() {
    let table = [
        ("iss", json!("https://evil.example"), TokenFlaw::Issuer),
        ("aud", json!("https://other.example"), TokenFlaw::Audience),
        ("aud", json!("https://as.example/"), TokenFlaw::Audience),
        ("aud", json!(["https://as.example", "https://other.example"]), TokenFlaw::Audience),
        ("aud", json!(null), TokenFlaw::Audience),
        ("resource", json!("https://other.example/mcp"), TokenFlaw::Resource),
        ("resource", json!(["https://mcp.example/mcp", "https://other.example/mcp"]), TokenFlaw::Resource),
        ("resource", json!(null), TokenFlaw::Resource),
        ("client_id", json!("us"), TokenFlaw::Client),
        ("client_id", json!(null), TokenFlaw::Client),
        ("exp", json!(1_799_999_999), TokenFlaw::Expired),
        ("exp", json!(null), TokenFlaw::Expired),
    ];
    for (name, value, wanted) in table {
        let claims = changed(word(), name, value);
        assert_eq!(given("oauth-id-jag+jwt", &claims).unwrap_err(), wanted, "{claims}");
    }
    assert_eq!(given("JWT", &word()).unwrap_err(), TokenFlaw::Kind);
    assert_eq!(given("oauth-id-jag+jwt", &word()).unwrap().resource(), WANTED.resource);
    assert!(given("oauth-id-jag+jwt", &changed(word(), "aud", json!(["https://as.example"]))).is_ok());
}

// A6 B83 H34
#[test]
fn tokens_are_not_returned_for_another_party_or_after_expiry() {
    let provider = AuthServerMetadata { issuer: "https://idp.example".to_owned(), ..server() };
    let us = OAuthClient { id: "us".to_owned(), ..client() };
    let later = now() + Duration::from_secs(300);
    let id_token = id_token(&who()).unwrap();
    assert!(id_token.token_for_provider(&provider, &us, now()).is_ok());
    assert_eq!(id_token.token_for_provider(&server(), &us, now()), Err(TokenFlaw::Issuer));
    assert_eq!(id_token.token_for_provider(&provider, &client(), now()), Err(TokenFlaw::Client));
    assert_eq!(id_token.token_for_provider(&provider, &us, later), Err(TokenFlaw::Expired));

    let id_jag = given("oauth-id-jag+jwt", &word()).unwrap();
    assert!(id_jag.token_for_server(&server(), &client(), now()).is_ok());
    assert_eq!(id_jag.token_for_server(&provider, &client(), now()), Err(TokenFlaw::Audience));
    assert_eq!(id_jag.token_for_server(&server(), &us, now()), Err(TokenFlaw::Client));
    assert_eq!(id_jag.token_for_server(&server(), &client(), later), Err(TokenFlaw::Expired));
}
