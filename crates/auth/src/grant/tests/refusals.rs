//! The classification of error responses.

use mcparley_model::explain::Explain as _;
use mcparley_model::text::Untrusted;

use super::*;

fn error(status: u16, body: &str) -> TokenError {
    refusal::check_response(&page(status, body), &[]).unwrap_err()
}

// B77
#[test]
fn error_response_is_never_taken_for_a_success() {
    let table = [
        (200, r#"{"error": "invalid_grant"}"#),
        (200, r#"{"access_token": "at", "token_type": "Bearer", "error": "invalid_grant"}"#),
        (200, r#"{"access_token": "at", "error": {"code": 5}}"#),
        (400, r#"{"access_token": "at", "token_type": "Bearer"}"#),
        (302, r#"{"access_token": "at"}"#),
        (100, ""),
        (404, "<html>"),
        (503, r#"{"access_token": "at"}"#),
    ];
    for (status, body) in table {
        assert!(refusal::check_response(&page(status, body), &[]).is_err(), "{status} {body}");
    }
    assert!(refusal::check_response(&page(200, r#"{"error": null}"#), &[]).is_ok());
}

// A3
#[test]
fn grant_is_dead_only_when_the_server_says_so() {
    let table = [
        (400, r#"{"error": "invalid_grant"}"#, true, false),
        (401, r#"{"error": "invalid_client"}"#, true, true),
        (400, r#"{"error": "unauthorized_client"}"#, true, true),
        (200, r#"{"error": "invalid_grant"}"#, true, false),
        (400, r#"{"error": "invalid_request"}"#, false, false),
        (400, r#"{"error": "invalid_scope"}"#, false, false),
        (400, r#"{"error": "invalid_target"}"#, false, false),
        (400, r#"{"error": "INVALID_GRANT"}"#, false, false),
        (400, r#"{"error": "no invalid_grant"}"#, false, false),
        (400, r#"{"error": "access_denied", "error_description": "invalid_grant"}"#, false, false),
        (401, "", false, false),
        (403, "<html>invalid_grant</html>", false, false),
        (404, "{}", false, false),
        (500, r#"{"error": "invalid_grant"}"#, false, false),
        (429, r#"{"error": "invalid_client"}"#, false, false),
    ];
    for (status, body, dead, unknown) in table {
        let error = error(status, body);
        assert_eq!((error.is_grant_dead(), error.is_unknown_client()), (dead, unknown), "{status} {body}");
    }
}

// A3
#[test]
fn failing_server_is_distinguished_from_a_refusal() {
    let table = [
        (500, "", true),
        (502, "<html>", true),
        (408, "", true),
        (429, "{}", true),
        (400, r#"{"error": "temporarily_unavailable"}"#, true),
        (200, r#"{"error": "server_error"}"#, true),
        (429, r#"{"error": "slow_down"}"#, false),
        (400, "", false),
        (404, "", false),
    ];
    for (status, body, passing) in table {
        assert_eq!(error(status, body).is_transient(), passing, "{status} {body}");
    }
    let mut busy = page(503, "");
    busy.headers.push(("retry-after".to_owned(), "120".to_owned()));
    let busy = refusal::check_response(&busy, &[]).unwrap_err();
    assert_eq!(busy.to_string(), "the authorization server is unavailable: status 503");
    assert_eq!(busy.hint().as_deref(), Some("try again in 120 s"));
}

// A8
#[test]
fn refusal_description_is_bounded_and_escaped() {
    let pending = error(400, r#"{"error": "authorization_pending"}"#);
    assert_eq!(pending.code(), Some(&OAuthErrorCode::AuthorizationPending));
    assert_eq!(pending.to_string(), "the authorization server refused: `authorization_pending`");
    let other = error(403, r#"{"error": "quota\u001b[2J", "error_description": "no more"}"#);
    assert_eq!(other.code(), Some(&OAuthErrorCode::Other(Untrusted::new("quota\u{1b}[2J"))));
    assert!(!other.to_string().contains('\u{1b}'));
    assert!(other.to_string().ends_with(": no more"));
    assert_eq!(error(404, "").to_string(), "the authorization server refused: no reason given");
    let long = format!(r#"{{"error": "{0}", "error_description": "{0}"}}"#, "x".repeat(100_000));
    assert!(error(400, &long).to_string().len() < 1000);
}

// B62
#[test]
fn sent_parameters_are_masked_in_the_description() {
    let sent = [("refresh_token", secret("canary-refresh")), ("scope", secret("files:write"))];
    let body = r#"{"error": "invalid_grant", "error_description": "canary-refresh lacks files:write"}"#;
    let error = refusal::check_response(&page(400, body), &sent).unwrap_err();
    assert_eq!(error.to_string(), "the authorization server refused: `invalid_grant`: *** lacks files:write");
}
