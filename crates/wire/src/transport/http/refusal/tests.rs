//! Classification of error statuses, line by line.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use mcparley_model::limits::RETRY_AFTER_LONGEST;
use reqwest::header::{HeaderMap, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};

use super::HttpRefusal;

fn meaning(status: u16, body: &str, session: Option<&str>) -> String {
    let mut headers = HeaderMap::new();
    headers.append(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    headers.append(WWW_AUTHENTICATE, HeaderValue::from_static("Basic"));
    let body = Bytes::copy_from_slice(body.as_bytes());
    HttpRefusal { status, headers: &headers, body, call: Some(7), session }.to_failure().to_string()
}

// L7 F47 F48 F50
#[test]
fn a_session_has_expired_only_if_there_was_one() {
    let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}"#;
    let other = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}"#;
    let cases = [
        (404, error, Some("s1"), "the session has expired"),
        (404, "", Some("s1"), "the session has expired"),
        (400, error, Some("s1"), "the session has expired"),
        (400, "unknown: S1", Some("s1"), "the session has expired"),
        (400, other, Some("s1"), "the server answered with error -32000: no"),
        (404, error, None, "the server answered with error -32001: Session not found"),
        (400, error, None, "the server answered with error -32001: Session not found"),
        (404, "no such page", None, "the server answered with status 404: no such page"),
        (500, "session", Some("s1"), "the server answered with status 500: session"),
    ];
    for (status, body, session, expected) in cases {
        assert_eq!(meaning(status, body, session), expected, "{status} {body} {session:?}");
    }
}

#[test]
fn rpc_error_in_the_body_counts_if_it_can_be_for_this_request() {
    let error =
        |id: &str| format!(r#" {{"jsonrpc":"2.0","id":{id},"error":{{"code":-32022,"message":"m"}}}}"#);
    for id in ["7", "\"7\"", "null"] {
        assert_eq!(meaning(400, &error(id), None), "the server answered with error -32022: m");
    }
    for id in ["8", "\"x\""] {
        assert!(meaning(400, &error(id), None).starts_with("the server answered with status 400"));
    }
    assert_eq!(meaning(401, &error("7"), Some("s1")), "the server requires sign-in");
    assert_eq!(meaning(403, &error("7"), Some("s1")), "the server denied access");
}

fn retry_after(text: &'static str, now: SystemTime) -> Option<Duration> {
    let mut headers = HeaderMap::new();
    headers.insert(RETRY_AFTER, HeaderValue::from_static(text));
    HttpRefusal { status: 429, headers: &headers, body: Bytes::new(), call: None, session: None }
        .retry_after(now)
}

// F52
#[test]
fn retry_after_is_parsed_as_seconds_or_as_a_date() {
    for (text, expected) in [
        ("2", Some(2)),
        ("9999999", Some(9_999_999)),
        ("Thu, 01 Jan 1970 00:01:00 GMT", Some(60)),
        ("soon", None),
        ("-1", None),
        ("1.5", None),
        ("", None),
        ("99999999999999999999999", None),
        ("Thu, 99 Jan 1970 00:01:00 GMT", None),
    ] {
        let expected = expected.map(Duration::from_secs);
        assert_eq!(retry_after(text, SystemTime::UNIX_EPOCH), expected, "{text}");
    }
}

// F86: with a wrong local clock, a date is long past or far ahead; neither panics, and neither is waited for.
#[test]
fn retry_after_date_is_parsed_with_a_wrong_clock() {
    let century = Duration::from_secs(100 * 365 * 24 * 3600);
    let date = "Sun, 06 Nov 2022 08:49:37 GMT";
    assert_eq!(retry_after(date, SystemTime::UNIX_EPOCH + century), Some(Duration::ZERO));
    let far = retry_after(date, SystemTime::UNIX_EPOCH - century).unwrap();
    assert!(far > RETRY_AFTER_LONGEST, "{far:?}");
}

// F42 F55
#[test]
fn body_excerpt_is_cut_and_sanitized() {
    let text = meaning(502, &format!("a\u{1b}[31m\n {}", "x".repeat(1000)), None);
    assert!(!text.contains('\u{1b}') && text.chars().count() < 300, "{text}");
}
