//! Polling for the user's sign-in, on a paused clock.

use std::collections::VecDeque;

use serde_json::json;

use super::*;
use crate::client::ClientAuthMethod;
use crate::grant::TokenRefusal;
use crate::grant::tests::secret;
use crate::tokens::{Kind, Tokens};
use crate::web::WebError;

fn waiting(lasts: u64, interval: u64) -> DeviceAuthorization {
    DeviceAuthorization {
        user_code: Untrusted::new("WDJB-MJHT"),
        page: BrowserPage::parse("https://as.example/device").unwrap(),
        page_with_code: None,
        lasts: Duration::from_secs(lasts),
        interval: Duration::from_secs(interval),
        code: secret("canary-device-code"),
    }
}

fn granted() -> TokenResponse {
    let tokens = Tokens {
        access: secret("at"),
        kind: Kind::Bearer,
        refresh: None,
        given: SystemTime::UNIX_EPOCH,
        expires: None,
        scopes: Vec::new(),
    };
    TokenResponse { tokens, id_token: None, proof: ClientAuthMethod::Nothing }
}

fn says(code: OAuthErrorCode) -> TokenError {
    TokenError::Refused(TokenRefusal { status: 400, code, description: None })
}

/// The outcome of these answers, and the seconds at which the server was polled. Further polls are pending.
async fn polled(
    started: &DeviceAuthorization,
    answers: Vec<Result<TokenResponse, TokenError>>,
) -> (Result<TokenResponse, DeviceError>, Vec<u64>) {
    let (begin, mut asked, mut answers) = (Instant::now(), Vec::new(), VecDeque::from(answers));
    let result = poll_until_granted(started, || {
        asked.push(begin.elapsed().as_secs());
        let answer = answers.pop_front();
        std::future::ready(answer.unwrap_or_else(|| Err(says(OAuthErrorCode::AuthorizationPending))))
    });
    let result = result.await;
    (result, asked)
}

// A8
#[tokio::test(start_paused = true)]
async fn server_is_polled_at_its_interval_until_the_user_has_signed_in() {
    let pending = || Err(says(OAuthErrorCode::AuthorizationPending));
    let (result, asked) = polled(&waiting(600, 5), vec![pending(), pending(), Ok(granted())]).await;
    assert_eq!(result.unwrap(), granted());
    assert_eq!(asked, [5, 10, 15]);
}

// A8
#[tokio::test(start_paused = true)]
async fn slow_down_lengthens_the_polling_interval() {
    let slower = || Err(says(OAuthErrorCode::SlowDown));
    let (result, asked) = polled(&waiting(600, 5), vec![slower(), slower(), Ok(granted())]).await;
    assert!(result.is_ok());
    assert_eq!(asked, [5, 15, 30]);
}

// A8
#[tokio::test(start_paused = true)]
async fn transient_error_backs_off_and_does_not_end_polling() {
    let late = || Err(TokenError::Web(WebError::TimedOut { after: Duration::from_secs(10) }));
    let busy = Err(TokenError::Unavailable { status: 503, retry_after: None });
    let (result, asked) =
        polled(&waiting(600, 5), vec![late(), busy, late(), late(), late(), Ok(granted())]).await;
    assert!(result.is_ok());
    assert_eq!(asked, [5, 15, 35, 75, 135, 195]);
}

// A8
#[tokio::test(start_paused = true)]
async fn polling_ends_when_the_code_expires() {
    let (result, asked) = polled(&waiting(20, 5), vec![]).await;
    assert!(matches!(result, Err(DeviceError::Expired)));
    assert_eq!(asked, [5, 10, 15]);
}

// A8
#[tokio::test(start_paused = true)]
async fn final_error_ends_polling_at_once() {
    let (declined, asked) = polled(&waiting(600, 5), vec![Err(says(OAuthErrorCode::AccessDenied))]).await;
    assert!(matches!(declined, Err(DeviceError::Declined)));
    assert_eq!(asked, [5]);
    let (expired, _) = polled(&waiting(600, 5), vec![Err(says(OAuthErrorCode::ExpiredToken))]).await;
    assert!(matches!(expired, Err(DeviceError::Expired)));
    for error in [says(OAuthErrorCode::InvalidGrant), says(OAuthErrorCode::Missing), TokenError::NotBound] {
        let (other, asked) = polled(&waiting(600, 5), vec![Err(error)]).await;
        assert!(matches!(other, Err(DeviceError::Asked(_))));
        assert_eq!(asked, [5]);
    }
}

fn read(change: &[(&str, Value)]) -> Result<DeviceAuthorization, DeviceError> {
    let mut answer = json!({
        "device_code": "canary-device-code", "user_code": "WDJB-MJHT",
        "verification_uri": "https://as.example/device", "expires_in": 900, "interval": 7,
    });
    for (name, value) in change {
        answer[*name] = value.clone();
    }
    parse_authorization(answer.as_object().unwrap())
}

// A8 H15
#[test]
fn intervals_and_lifetimes_of_the_server_are_bounded() {
    let table = [
        (json!(null), json!(null), 1800, 5),
        (json!(900), json!(7), 900, 7),
        (json!(0), json!(0), 0, 1),
        (json!(1_000_000_000_u64), json!(1_000_000_000_u64), 1800, 60),
        (json!("soon"), json!(-5), 1800, 5),
    ];
    for (expires, interval, lasts, every) in table {
        let started = read(&[("expires_in", expires), ("interval", interval)]).unwrap();
        assert_eq!((started.lasts.as_secs(), started.interval.as_secs()), (lasts, every));
    }
}

// A8 B65
#[test]
fn page_that_must_not_be_opened_ends_the_device_sign_in() {
    for page in [
        "javascript:alert(1)",
        "http://evil.example/",
        "file:///etc/passwd",
        "--flag",
        "https://a:b@c.example/",
    ] {
        for field in ["verification_uri", "verification_uri_complete"] {
            assert!(matches!(read(&[(field, json!(page))]), Err(DeviceError::Page(_))), "{field} {page}");
        }
    }
}

// A8 B62
#[test]
fn user_code_is_kept_and_device_code_is_not_printed() {
    let started = read(&[("user_code", json!("\u{1b}[2J".repeat(100)))]).unwrap();
    assert_eq!(started.user_code.raw().chars().count(), USER_CODE_CHARS);
    assert!(!format!("{started:?}").contains("canary"));
    for field in ["device_code", "user_code", "verification_uri"] {
        let error = read(&[(field, json!(""))]).unwrap_err();
        let DeviceError::Asked(TokenError::Malformed(error)) = error else { panic!("{error:?}") };
        assert!(matches!(error, TokenResponseError::Missing { .. }));
    }
}
