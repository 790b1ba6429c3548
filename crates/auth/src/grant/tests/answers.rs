//! What servers give, in all the forms they give it in.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcparley_model::limits::{TOKEN_BYTES, TOKEN_LIFE};
use mcparley_model::text::Untrusted;
use serde_json::{Value, json};

use super::*;
use crate::tokens::{Kind, Tokens};

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn read(grant: Grant<'_>, body: &Value) -> Result<Granted, AnswerError> {
    let (server, client, scopes) = (server(), client(), words(&["asked"]));
    let request = TokenRequest { server: &server, client: &client, grant, resource: None, scopes: &scopes };
    answer::granted(&answer::object(&page(200, &body.to_string()))?, &request, now())
}

fn with(name: &str, value: Value) -> Value {
    let mut body = json!({"access_token": "at", "token_type": "Bearer"});
    body[name] = value;
    body
}

fn given(name: &str, value: Value) -> Tokens {
    read(Grant::ClientCredentials, &with(name, value)).unwrap().tokens
}

// B77
#[test]
fn a_whole_answer_is_read_whole() {
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
    let wanted = Granted { tokens, id_token: Some(secret("it")), proof: Proof::Nothing };
    assert_eq!(read(Grant::ClientCredentials, &body), Ok(wanted));
}

// B77
#[test]
fn a_life_is_believed_in_every_form_that_makes_sense() {
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
fn a_token_of_a_life_of_nothing_is_not_renewed_before_it_is_refused() {
    let tokens = given("expires_in", json!(0));
    assert!(!tokens.is_over(now() + Duration::from_secs(86_400)));
}

// B77
#[test]
fn only_kinds_of_tokens_that_we_can_carry_are_taken() {
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
            read(Grant::ClientCredentials, &with("token_type", kind)).map(|granted| granted.tokens.kind);
        assert_eq!(read, wanted.map_err(|kind| AnswerError::UnknownKind { kind: Untrusted::new(kind) }));
    }
    assert_eq!(
        read(Grant::ClientCredentials, &json!({"access_token": "at"})).unwrap().tokens.kind,
        Kind::Bearer
    );
}

// B77
#[test]
fn a_refresh_token_that_is_not_replaced_is_kept() {
    let old = secret("old");
    let table = [(Value::Null, "old"), (json!(""), "old"), (json!(7), "old"), (json!("new"), "new")];
    for (answered, wanted) in table {
        let granted = read(Grant::Refresh { token: &old }, &with("refresh_token", answered)).unwrap();
        assert_eq!(granted.tokens.refresh, Some(secret(wanted)));
    }
    assert_eq!(given("refresh_token", Value::Null).refresh, None);
}

// B77
#[test]
fn scopes_are_those_of_the_answer_or_else_those_asked_for() {
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
    let missing = AnswerError::Missing { field: "access_token" };
    let table = [
        (Value::Null, missing.clone()),
        (json!(""), missing.clone()),
        (json!(["at"]), missing),
        (json!("a\r\nx-evil: 1"), AnswerError::BadToken),
        (json!("a b"), AnswerError::BadToken),
        (json!("a\u{0}"), AnswerError::BadToken),
        (json!("tökén"), AnswerError::BadToken),
        (json!("x".repeat(TOKEN_BYTES + 1)), AnswerError::BadToken),
    ];
    for (token, wanted) in table {
        assert_eq!(read(Grant::ClientCredentials, &with("access_token", token)), Err(wanted));
    }
    let longest = json!("x".repeat(TOKEN_BYTES));
    assert!(read(Grant::ClientCredentials, &with("access_token", longest)).is_ok());
}

// B77
#[test]
fn an_answer_that_is_no_object_gives_nothing() {
    for body in ["", "null", "[]", "access_token=at&token_type=bearer", "<html>", "{"] {
        assert_eq!(answer::object(&page(200, body)), Err(AnswerError::NotAnObject), "{body}");
    }
}
