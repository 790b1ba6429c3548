//! What is refused before anything is sent.

use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use super::*;
use crate::grant::tests::{client, secret, server};
use crate::jwt::{JwtError, signed};

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn token(kind: &str, claims: &Value) -> Secret<String> {
    signed(&json!({"alg": "ES256", "typ": kind}), claims, |_| Ok(vec![1])).unwrap()
}

fn changed(mut claims: Value, name: &str, value: Value) -> Value {
    claims[name] = value;
    claims
}

fn who() -> Value {
    json!({"iss": "https://idp.example", "sub": "U1", "aud": "us", "exp": 1_800_000_300, "nonce": "n"})
}

fn id_token(claims: &Value) -> Result<IdToken, Flaw> {
    let nonce = secret("n");
    let expected = Expected { issuer: "https://idp.example", client: "us", nonce: Some(&nonce) };
    IdToken::checked(token("JWT", claims), &expected, now())
}

// A6 B83
#[test]
fn an_id_token_counts_only_from_its_provider_for_us_now_and_for_this_request() {
    let good = id_token(&who()).unwrap();
    assert_eq!((good.subject(), good.expires()), ("U1", now() + Duration::from_secs(300)));
    let table = [
        ("iss", json!("https://idp.example/"), Flaw::Issuer),
        ("iss", json!(null), Flaw::Issuer),
        ("aud", json!("others"), Flaw::Audience),
        ("aud", json!([]), Flaw::Audience),
        ("azp", json!("others"), Flaw::Client),
        ("nonce", json!("other"), Flaw::Nonce),
        ("nonce", json!(null), Flaw::Nonce),
        ("exp", json!(1_800_000_000), Flaw::Expired),
        ("exp", json!(null), Flaw::Expired),
        ("exp", json!("1800000300"), Flaw::Expired),
        ("sub", json!(null), Flaw::Subject),
        ("sub", json!(""), Flaw::Subject),
    ];
    for (name, value, wanted) in table {
        assert_eq!(id_token(&changed(who(), name, value)).unwrap_err(), wanted, "{name}");
    }
    assert!(id_token(&changed(who(), "aud", json!(["others", "us"]))).is_ok());
    let stored = Expected { issuer: "https://idp.example", client: "us", nonce: None };
    assert!(IdToken::checked(token("JWT", &who()), &stored, now()).is_ok());
    let unreadable = IdToken::checked(secret("canary"), &stored, now()).unwrap_err();
    assert_eq!(unreadable, Flaw::Unreadable(JwtError::Shape));
}

const WANTED: Wanted<'static> = Wanted {
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

fn given(kind: &str, claims: &Value) -> Result<IdJag, Flaw> {
    IdJag::checked(token(kind, claims), "https://idp.example", &WANTED, now())
}

// A6 B83
#[test]
fn an_id_jag_counts_only_for_the_server_client_and_resource_it_was_asked_for() {
    let table = [
        ("iss", json!("https://evil.example"), Flaw::Issuer),
        ("aud", json!("https://other.example"), Flaw::Audience),
        ("aud", json!("https://as.example/"), Flaw::Audience),
        ("aud", json!(["https://as.example", "https://other.example"]), Flaw::Audience),
        ("aud", json!(null), Flaw::Audience),
        ("resource", json!("https://other.example/mcp"), Flaw::Resource),
        ("resource", json!(["https://mcp.example/mcp", "https://other.example/mcp"]), Flaw::Resource),
        ("resource", json!(null), Flaw::Resource),
        ("client_id", json!("us"), Flaw::Client),
        ("client_id", json!(null), Flaw::Client),
        ("exp", json!(1_799_999_999), Flaw::Expired),
        ("exp", json!(null), Flaw::Expired),
    ];
    for (name, value, wanted) in table {
        let claims = changed(word(), name, value);
        assert_eq!(given("oauth-id-jag+jwt", &claims).unwrap_err(), wanted, "{claims}");
    }
    assert_eq!(given("JWT", &word()).unwrap_err(), Flaw::Kind);
    assert_eq!(given("oauth-id-jag+jwt", &word()).unwrap().resource(), WANTED.resource);
    assert!(given("oauth-id-jag+jwt", &changed(word(), "aud", json!(["https://as.example"]))).is_ok());
}

// A6 B83 H34
#[test]
fn neither_is_handed_out_for_another_party_or_after_its_end() {
    let provider = Server { issuer: "https://idp.example".to_owned(), ..server() };
    let us = Client { id: "us".to_owned(), ..client() };
    let later = now() + Duration::from_secs(300);
    let id_token = id_token(&who()).unwrap();
    assert!(id_token.for_provider(&provider, &us, now()).is_ok());
    assert_eq!(id_token.for_provider(&server(), &us, now()), Err(Flaw::Issuer));
    assert_eq!(id_token.for_provider(&provider, &client(), now()), Err(Flaw::Client));
    assert_eq!(id_token.for_provider(&provider, &us, later), Err(Flaw::Expired));

    let id_jag = given("oauth-id-jag+jwt", &word()).unwrap();
    assert!(id_jag.for_server(&server(), &client(), now()).is_ok());
    assert_eq!(id_jag.for_server(&provider, &client(), now()), Err(Flaw::Audience));
    assert_eq!(id_jag.for_server(&server(), &us, now()), Err(Flaw::Client));
    assert_eq!(id_jag.for_server(&server(), &client(), later), Err(Flaw::Expired));
}
