//! The issuer of an authorization response (RFC 9207).

use super::*;
use crate::authorize::{AuthorizeError, RefusalKind};

/// The verdicts on a success and on a refusal with this issuer.
fn verdicts(names_issuer: bool, named: Option<&str>) -> [Result<(), AuthorizeError>; 2] {
    let server = AuthServerMetadata { names_issuer, ..server() };
    let iss = named.map(|issuer| format!("&iss={issuer}")).unwrap_or_default();
    ["code=c", "error=access_denied&error_description=text-canary"].map(|outcome| {
        let (attempt, _) = begin(&server, &[]);
        let answer = answer(&attempt, &format!("{outcome}{iss}"));
        attempt.accept_response(&answer).map(|_| ())
    })
}

// B74 H16
#[test]
fn issuer_is_checked_by_the_table_of_the_protocol() {
    // The decoded values are compared, without normalization.
    let others = [
        "https://as.example/",
        "https://AS.example",
        "HTTPS://as.example",
        "https://as.example:443",
        "https://as.exampl%2565",
        "https://evil.example",
        "",
    ];
    for names_issuer in [true, false] {
        for same in ["https://as.example", "https%3A%2F%2Fas.example"] {
            let [yes, no] = verdicts(names_issuer, Some(same));
            assert_eq!(yes, Ok(()));
            assert!(no.unwrap_err().to_string().contains("text-canary"));
        }
        for other in others {
            for verdict in verdicts(names_issuer, Some(other)) {
                let error = verdict.unwrap_err();
                assert!(matches!(error, AuthorizeError::WrongIssuer { .. }), "{other}: {error:?}");
                assert!(!format!("{error:?} {error}").contains("canary"), "{error:?}");
            }
        }
    }
    for verdict in verdicts(true, None) {
        let error = verdict.unwrap_err();
        assert_eq!(error.to_string(), "the response does not name `https://as.example` as its issuer");
    }
    let [yes, no] = verdicts(false, None);
    assert_eq!(yes, Ok(()));
    let AuthorizeError::Refused { refusal } = no.unwrap_err() else { panic!("another error") };
    assert_eq!(refusal.kind, RefusalKind::Denied);
}

// B79
#[test]
fn response_to_another_attempt_is_refused() {
    let (attempt, _) = begin(&server(), &[]);
    let (other, _) = begin(&server(), &[]);
    let state = attempt.state().expose();
    let short = &state[..state.len() - 1];
    let answers = [
        answer(&other, "code=c&iss=https://as.example"),
        AuthorizationResponse::from_query("code=c&iss=https://as.example").unwrap(),
        AuthorizationResponse::from_query("code=c&state=&iss=https://as.example").unwrap(),
        AuthorizationResponse::from_query(&format!("code=c&state={short}&iss=https://as.example")).unwrap(),
        AuthorizationResponse::from_query(&format!("code=c&state={state}x&iss=https://as.example")).unwrap(),
        AuthorizationResponse::from_query("error=access_denied&error_description=canary").unwrap(),
    ];
    for answer in answers {
        assert!(!attempt.matches_state(&answer));
        assert_eq!(
            attempt.expected_response().verify_response(&answer).unwrap_err(),
            AuthorizeError::StateMismatch
        );
    }
}
