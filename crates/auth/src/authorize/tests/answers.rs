//! What counts as an answer, from a browser and from a clipboard.

use mcparley_model::explain::Explain as _;
use mcparley_model::limits::CALLBACK_HEAD_BYTES;

use super::*;
use crate::authorize::{AnswerError, AuthorizeError};

// B79
#[test]
fn what_is_unclear_is_no_answer() {
    let table = [
        ("", AnswerError::Neither),
        ("code=", AnswerError::Neither),
        ("state=s", AnswerError::Neither),
        ("code=a&error=b", AnswerError::Both),
        ("code=a&code=a", AnswerError::Twice { name: "code" }),
        ("code=a&c%6fde=b", AnswerError::Twice { name: "code" }),
        ("code=a&state=1&state=2", AnswerError::Twice { name: "state" }),
        ("code=a&iss=1&iss=2", AnswerError::Twice { name: "iss" }),
        ("error=a&error=b", AnswerError::Twice { name: "error" }),
    ];
    for (query, expected) in table {
        assert_eq!(Answer::from_query(query).unwrap_err(), expected, "{query}");
    }
    let long = format!("code={}", "a".repeat(1_000_000));
    let expected = AnswerError::TooLong { limit: CALLBACK_HEAD_BYTES };
    assert_eq!(Answer::from_query(&long).unwrap_err(), expected);
    assert_eq!(Answer::from_pasted(&long, &redirect()).unwrap_err(), expected);
    assert!(Answer::from_query("code=a&foo=1&foo=2").is_ok());
}

// A5 A8
#[test]
fn what_a_person_pastes_is_taken_in_many_forms() {
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
        let answer = Answer::from_pasted(&text, &redirect()).unwrap();
        let code = attempt.expected().judge(&answer).unwrap();
        assert_eq!(code.expose(), "a+b", "{text}");
    }
}

// A5 A8
#[test]
fn other_addresses_and_bare_codes_are_refused_with_advice() {
    let expected = "it does not begin with `http://127.0.0.1:50000/callback`";
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
        let error = Answer::from_pasted(text, &redirect()).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
        assert!(error.hint().is_some());
    }
    for text in ["", "   ", "abcdef", "?", "http://127.0.0.1:50000/callback?"] {
        assert_eq!(Answer::from_pasted(text, &redirect()).unwrap_err(), AnswerError::Neither, "{text}");
    }
}

// A1
#[test]
fn a_no_is_told_by_its_kind_with_cleaned_words() {
    let table = [
        ("error=access_denied", "access was denied"),
        ("error=invalid_scope&error_description=no%20x", "it does not give these scopes: no x"),
        ("error=server_error&error_description=", "it is broken"),
        ("error=a%1b%5B31m", "`a\\x1b[31m`"),
        ("error=access_denied&error_description=a%0Ab%1b%5B2J", "access was denied: a\\nb\\x1b[2J"),
    ];
    for (query, expected) in table {
        let (attempt, _) = begin(&server(), &[]);
        let answer = answer(&attempt, &format!("{query}&iss=https://as.example"));
        let error = attempt.accept(&answer).unwrap_err();
        assert_eq!(error.to_string(), format!("the authorization server refused: {expected}"));
    }
}

// A1
#[test]
fn a_long_no_is_cut_and_a_wrong_scope_has_advice() {
    let (attempt, _) = begin(&server(), &[]);
    let said = "x".repeat(5000);
    let answer =
        answer(&attempt, &format!("error=invalid_scope&error_description={said}&iss=https://as.example"));
    let error = attempt.accept(&answer).unwrap_err();
    assert!(error.to_string().len() < 400, "{error}");
    assert!(matches!(&error, AuthorizeError::Refused { .. }));
    assert!(error.hint().unwrap().contains("oauth.scopes"));
}
