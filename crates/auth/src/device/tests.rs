//! The waiting for a person, on a clock that stands still until somebody waits.

use std::collections::VecDeque;

use serde_json::json;

use super::*;
use crate::client::Proof;
use crate::grant::Refusal;
use crate::grant::tests::secret;
use crate::tokens::{Kind, Tokens};
use crate::web::WebError;

fn waiting(lasts: u64, interval: u64) -> Started {
    Started {
        user_code: Untrusted::new("WDJB-MJHT"),
        page: Page::parse("https://as.example/device").unwrap(),
        page_with_code: None,
        lasts: Duration::from_secs(lasts),
        interval: Duration::from_secs(interval),
        code: secret("canary-device-code"),
    }
}

fn granted() -> Granted {
    let tokens = Tokens {
        access: secret("at"),
        kind: Kind::Bearer,
        refresh: None,
        given: SystemTime::UNIX_EPOCH,
        expires: None,
        scopes: Vec::new(),
    };
    Granted { tokens, id_token: None, proof: Proof::Nothing }
}

fn says(code: ErrorCode) -> TokenError {
    TokenError::Refused(Refusal { status: 400, code, description: None })
}

/// What comes of these answers, and the seconds at which the server was asked. Beyond them it says that nobody came yet.
async fn polled(
    started: &Started,
    answers: Vec<Result<Granted, TokenError>>,
) -> (Result<Granted, DeviceError>, Vec<u64>) {
    let (begin, mut asked, mut answers) = (Instant::now(), Vec::new(), VecDeque::from(answers));
    let result = poll(started, || {
        asked.push(begin.elapsed().as_secs());
        let answer = answers.pop_front();
        std::future::ready(answer.unwrap_or_else(|| Err(says(ErrorCode::AuthorizationPending))))
    });
    let result = result.await;
    (result, asked)
}

// A8
#[tokio::test(start_paused = true)]
async fn the_server_is_asked_at_its_interval_until_somebody_has_signed_in() {
    let pending = || Err(says(ErrorCode::AuthorizationPending));
    let (result, asked) = polled(&waiting(600, 5), vec![pending(), pending(), Ok(granted())]).await;
    assert_eq!(result.unwrap(), granted());
    assert_eq!(asked, [5, 10, 15]);
}

// A8
#[tokio::test(start_paused = true)]
async fn a_server_that_wants_to_be_asked_less_often_is() {
    let slower = || Err(says(ErrorCode::SlowDown));
    let (result, asked) = polled(&waiting(600, 5), vec![slower(), slower(), Ok(granted())]).await;
    assert!(result.is_ok());
    assert_eq!(asked, [5, 15, 30]);
}

// A8
#[tokio::test(start_paused = true)]
async fn trouble_on_the_way_ends_nothing_and_slows_the_asking_down() {
    let late = || Err(TokenError::Web(WebError::Late { after: Duration::from_secs(10) }));
    let busy = Err(TokenError::Unavailable { status: 503, retry_after: None });
    let (result, asked) =
        polled(&waiting(600, 5), vec![late(), busy, late(), late(), late(), Ok(granted())]).await;
    assert!(result.is_ok());
    assert_eq!(asked, [5, 15, 35, 75, 135, 195]);
}

// A8
#[tokio::test(start_paused = true)]
async fn the_asking_ends_with_the_code_and_not_a_moment_later() {
    let (result, asked) = polled(&waiting(20, 5), vec![]).await;
    assert!(matches!(result, Err(DeviceError::Expired)));
    assert_eq!(asked, [5, 10, 15]);
}

// A8
#[tokio::test(start_paused = true)]
async fn a_final_answer_ends_the_asking_at_once() {
    let (declined, asked) = polled(&waiting(600, 5), vec![Err(says(ErrorCode::AccessDenied))]).await;
    assert!(matches!(declined, Err(DeviceError::Declined)));
    assert_eq!(asked, [5]);
    let (expired, _) = polled(&waiting(600, 5), vec![Err(says(ErrorCode::ExpiredToken))]).await;
    assert!(matches!(expired, Err(DeviceError::Expired)));
    for error in [says(ErrorCode::InvalidGrant), says(ErrorCode::Unsaid), TokenError::NotBound] {
        let (other, asked) = polled(&waiting(600, 5), vec![Err(error)]).await;
        assert!(matches!(other, Err(DeviceError::Asked(_))));
        assert_eq!(asked, [5]);
    }
}

fn read(change: &[(&str, Value)]) -> Result<Started, DeviceError> {
    let mut answer = json!({
        "device_code": "canary-device-code", "user_code": "WDJB-MJHT",
        "verification_uri": "https://as.example/device", "expires_in": 900, "interval": 7,
    });
    for (name, value) in change {
        answer[*name] = value.clone();
    }
    started(answer.as_object().unwrap())
}

// A8 H15
#[test]
fn what_the_server_says_about_time_is_bounded() {
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
fn a_page_that_is_not_one_to_send_people_to_ends_the_sign_in() {
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
fn the_code_for_people_is_kept_and_the_one_for_us_is_not_shown() {
    let started = read(&[("user_code", json!("\u{1b}[2J".repeat(100)))]).unwrap();
    assert_eq!(started.user_code.raw().chars().count(), USER_CODE_CHARS);
    assert!(!format!("{started:?}").contains("canary"));
    for field in ["device_code", "user_code", "verification_uri"] {
        let error = read(&[(field, json!(""))]).unwrap_err();
        let DeviceError::Asked(TokenError::Malformed(error)) = error else { panic!("{error:?}") };
        assert!(matches!(error, AnswerError::Missing { .. }));
    }
}
