//! Token responses, in all the forms that servers send.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcparley_model::limits::{TOKEN_BYTES, TOKEN_LIFE};
use mcparley_model::text::Untrusted;
use serde_json::{Value, json};

use super::*;
use crate::tokens::{Kind, Tokens};

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn read(grant: TokenGrant<'_>, body: &Value) -> Result<TokenResponse, TokenResponseError> {
    let (server, client, scopes) = (server(), client(), words(&["asked"]));
    let request = TokenRequest { server: &server, client: &client, grant, resource: None, scopes: &scopes };
    response::parse_token_response(&response::parse_object(&page(200, &body.to_string()))?, &request, now())
}

fn with(name: &str, value: Value) -> Value {
    let mut body = json!({"access_token": "at", "token_type": "Bearer"});
    body[name] = value;
    body
}

fn given(name: &str, value: Value) -> Tokens {
    read(TokenGrant::ClientCredentials, &with(name, value)).unwrap().tokens
}

// B77
#[test]
fn full_token_response_is_parsed() {
    let body = json!({
        "access_token": "at", "token_type": "bearer", "refresh_token": "rt", "expires_in": 3600,
        "scope": "a b", "id_token": "it", "extra": {},
    });
    let tokens = Tokens {
        access: secret("at"),
        kind: Kind::Bearer,
        refresh: Some(secret("rt")),
        given: now(),
        expires: Some(now() + Duration::from_secs(3600)),
        scopes: words(&["a", "b"]),
    };
    let wanted = TokenResponse { tokens, id_token: Some(secret("it")), proof: ClientAuthMethod::Nothing };
    assert_eq!(read(TokenGrant::ClientCredentials, &body), Ok(wanted));
}

// B77
#[test]
fn expiry_is_parsed_in_every_valid_form() {
    let table = [
        (Value::Null, None),
        (json!(3600), Some(3600)),
        (json!(3599.9), Some(3599)),
        (json!("3600"), Some(3600)),
        (json!(" 60 "), Some(60)),
        (json!(0), None),
        (json!(-1), None),
        (json!("-1"), None),
        (json!("0"), None),
        (json!(0.2), None),
        (json!("soon"), None),
        (json!("NaN"), None),
        (json!(true), None),
        (json!([3600]), None),
        (json!(u64::MAX), Some(TOKEN_LIFE.as_secs())),
        (json!(1e300), Some(TOKEN_LIFE.as_secs())),
        (json!("inf"), Some(TOKEN_LIFE.as_secs())),
    ];
    for (life, wanted) in table {
        let expires = given("expires_in", life.clone()).expires;
        assert_eq!(expires, wanted.map(|seconds| now() + Duration::from_secs(seconds)), "{life}");
    }
}

// B77
#[test]
fn token_with_zero_lifetime_is_not_renewed_before_it_is_refused() {
    let tokens = given("expires_in", json!(0));
    assert!(!tokens.is_expired(now() + Duration::from_secs(86_400)));
}

// B77
#[test]
fn unknown_token_type_is_refused() {
    let table = [
        (json!("Bearer"), Ok(Kind::Bearer)),
        (json!("BEARER"), Ok(Kind::Bearer)),
        (json!("dpop"), Ok(Kind::Dpop)),
        (Value::Null, Ok(Kind::Bearer)),
        (json!("mac"), Err("mac")),
        (json!("N_A"), Err("N_A")),
        (json!(""), Err("")),
        (json!(5), Err("")),
    ];
    for (kind, wanted) in table {
        let read =
            read(TokenGrant::ClientCredentials, &with("token_type", kind)).map(|granted| granted.tokens.kind);
        assert_eq!(
            read,
            wanted.map_err(|kind| TokenResponseError::UnknownKind { kind: Untrusted::new(kind) })
        );
    }
    assert_eq!(
        read(TokenGrant::ClientCredentials, &json!({"access_token": "at"})).unwrap().tokens.kind,
        Kind::Bearer
    );
}

// B77
#[test]
fn refresh_token_that_is_not_replaced_is_kept() {
    let old = secret("old");
    let table = [(Value::Null, "old"), (json!(""), "old"), (json!(7), "old"), (json!("new"), "new")];
    for (answered, wanted) in table {
        let granted = read(TokenGrant::Refresh { token: &old }, &with("refresh_token", answered)).unwrap();
        assert_eq!(granted.tokens.refresh, Some(secret(wanted)));
    }
    assert_eq!(given("refresh_token", Value::Null).refresh, None);
}

// B77
#[test]
fn scopes_are_those_of_the_response_or_else_the_requested_ones() {
    let table = [
        (Value::Null, vec!["asked"]),
        (json!(5), vec!["asked"]),
        (json!("other  more"), vec!["other", "more"]),
        (json!(["one", 2, "two"]), vec!["one", "two"]),
        (json!("good b\"ad \u{7f} gut"), vec!["good", "gut"]),
        (json!(""), vec![]),
    ];
    for (answered, wanted) in table {
        assert_eq!(given("scope", answered).scopes, words(&wanted));
    }
}

// B77
#[test]
fn a_token_that_could_break_a_header_is_refused() {
    let missing = TokenResponseError::Missing { field: "access_token" };
    let table = [
        (Value::Null, missing.clone()),
        (json!(""), missing.clone()),
        (json!(["at"]), missing),
        (json!("a\r\nx-evil: 1"), TokenResponseError::BadToken),
        (json!("a b"), TokenResponseError::BadToken),
        (json!("a\u{0}"), TokenResponseError::BadToken),
        (json!("tökén"), TokenResponseError::BadToken),
        (json!("x".repeat(TOKEN_BYTES + 1)), TokenResponseError::BadToken),
    ];
    for (token, wanted) in table {
        assert_eq!(read(TokenGrant::ClientCredentials, &with("access_token", token)), Err(wanted));
    }
    let longest = json!("x".repeat(TOKEN_BYTES));
    assert!(read(TokenGrant::ClientCredentials, &with("access_token", longest)).is_ok());
}

// B77
#[test]
fn response_that_is_no_object_is_refused() {
    for body in ["", "null", "[]", "access_token=at&token_type=bearer", "<html>", "{"] {
        assert_eq!(response::parse_object(&page(200, body)), Err(TokenResponseError::NotAnObject), "{body}");
    }
}
