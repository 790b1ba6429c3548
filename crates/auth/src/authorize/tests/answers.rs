//! Authorization responses, from a browser and from a clipboard.

use mcparley_model::explain::Explain as _;
use mcparley_model::limits::CALLBACK_HEAD_BYTES;

use super::*;
use crate::authorize::{AuthorizationResponseError, AuthorizeError};

// B79
#[test]
fn ambiguous_response_is_refused() {
    let table = [
        ("", AuthorizationResponseError::Neither),
        ("code=", AuthorizationResponseError::Neither),
        ("state=s", AuthorizationResponseError::Neither),
        ("code=a&error=b", AuthorizationResponseError::Both),
        ("code=a&code=a", AuthorizationResponseError::Duplicate { name: "code" }),
        ("code=a&c%6fde=b", AuthorizationResponseError::Duplicate { name: "code" }),
        ("code=a&state=1&state=2", AuthorizationResponseError::Duplicate { name: "state" }),
        ("code=a&iss=1&iss=2", AuthorizationResponseError::Duplicate { name: "iss" }),
        ("error=a&error=b", AuthorizationResponseError::Duplicate { name: "error" }),
    ];
    for (query, expected) in table {
        assert_eq!(AuthorizationResponse::from_query(query).unwrap_err(), expected, "{query}");
    }
    let long = format!("code={}", "a".repeat(1_000_000));
    let expected = AuthorizationResponseError::TooLong { limit: CALLBACK_HEAD_BYTES };
    assert_eq!(AuthorizationResponse::from_query(&long).unwrap_err(), expected);
    assert_eq!(AuthorizationResponse::from_pasted(&long, &redirect()).unwrap_err(), expected);
    assert!(AuthorizationResponse::from_query("code=a&foo=1&foo=2").is_ok());
}

// A5 A8
#[test]
fn pasted_address_is_accepted_in_many_forms() {
    let (attempt, _) = begin(&server(), &[]);
    let query = format!("code=a%2Bb&state={}&iss=https%3A%2F%2Fas.example", attempt.state().expose());
    let (first, second) = query.split_at(12);
    let texts = [
        format!("http://127.0.0.1:50000/callback?{query}"),
        format!("  \"http://127.0.0.1:50000/callback?{query}\"\n"),
        format!("<http://127.0.0.1:50000/callback?{query}>"),
        format!("'http://127.0.0.1:50000/callback?{query}#_=_'"),
        format!("127.0.0.1:50000/callback?{query}"),
        format!("HTTP://127.0.0.1:50000/callback?{query}"),
        format!("http://127.0.0.1:50000/callback?{first}\r\n{second}"),
        format!("?{query}"),
        format!("{query}#_=_"),
    ];
    for text in texts {
        let answer = AuthorizationResponse::from_pasted(&text, &redirect()).unwrap();
        let code = attempt.expected_response().verify_response(&answer).unwrap();
        assert_eq!(code.expose(), "a+b", "{text}");
    }
}

// A5 A8
#[test]
fn pasted_text_that_is_not_the_redirect_is_refused_with_a_hint() {
    let expected = "the address does not begin with `http://127.0.0.1:50000/callback`";
    for text in [
        "http://127.0.0.1:50001/callback?code=c&state=s",
        "https://127.0.0.1:50000/callback?code=c&state=s",
        "http://127.0.0.1:50000/other?code=c&state=s",
        "http://127.0.0.1:50000/callback/?code=c&state=s",
        "http://127.0.0.1:50000@evil.example/callback?code=c&state=s",
        "http://user@127.0.0.1:50000/callback?code=c&state=s",
        "https://evil.example/callback?code=c&state=s",
        "localhost:50000/callback?code=c&state=s",
        "https://as.example/authorize",
        "javascript://127.0.0.1:50000/callback?code=c",
    ] {
        let error = AuthorizationResponse::from_pasted(text, &redirect()).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
        assert!(error.hint().is_some());
    }
    for text in ["", "   ", "abcdef", "?", "http://127.0.0.1:50000/callback?"] {
        assert_eq!(
            AuthorizationResponse::from_pasted(text, &redirect()).unwrap_err(),
            AuthorizationResponseError::Neither,
            "{text}"
        );
    }
}

// A1
#[test]
fn refusal_names_its_kind_and_escapes_the_description() {
    let table = [
        ("error=access_denied", "access was denied"),
        ("error=invalid_scope&error_description=no%20x", "it does not grant these scopes: no x"),
        ("error=server_error&error_description=", "it has an internal error"),
        ("error=a%1b%5B31m", "`a\\x1b[31m`"),
        ("error=access_denied&error_description=a%0Ab%1b%5B2J", "access was denied: a\\nb\\x1b[2J"),
    ];
    for (query, expected) in table {
        let (attempt, _) = begin(&server(), &[]);
        let answer = answer(&attempt, &format!("{query}&iss=https://as.example"));
        let error = attempt.accept_response(&answer).unwrap_err();
        assert_eq!(error.to_string(), format!("the authorization server refused: {expected}"));
    }
}

// A1
#[test]
fn long_refusal_is_shortened_and_invalid_scope_has_a_hint() {
    let (attempt, _) = begin(&server(), &[]);
    let said = "x".repeat(5000);
    let answer =
        answer(&attempt, &format!("error=invalid_scope&error_description={said}&iss=https://as.example"));
    let error = attempt.accept_response(&answer).unwrap_err();
    assert!(error.to_string().len() < 400, "{error}");
    assert!(matches!(&error, AuthorizeError::Refused { .. }));
    assert!(error.hint().unwrap().contains("oauth.scopes"));
}
