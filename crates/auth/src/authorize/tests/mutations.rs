//! Damaged responses and addresses: no input panics, and none is accepted wrongly.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;
use url::form_urlencoded;

use super::*;

/// A text that is damaged in some places.
fn damaged(texts: &'static [&'static str]) -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\0".to_owned()),
        Just("\r\n".to_owned()),
        Just("%".to_owned()),
        Just("&code=".to_owned()),
        Just("&state=".to_owned()),
        Just("&iss=".to_owned()),
        Just("://".to_owned()),
        Just("@".to_owned()),
        Just("?".to_owned()),
        Just("#".to_owned()),
        Just("`$(x)`".to_owned()),
        any::<char>().prop_map(String::from),
    ];
    let edit = (any::<prop::sample::Index>(), 0_usize..3, piece);
    (prop::sample::select(texts), prop::collection::vec(edit, 0..4)).prop_map(|(text, edits)| {
        let mut characters: Vec<char> = text.chars().collect();
        for (place, removed, piece) in edits {
            let from = place.index(characters.len() + 1);
            let to = (from + removed).min(characters.len());
            characters.splice(from..to, piece.chars());
        }
        characters.into_iter().collect()
    })
}

/// The values of a parameter.
fn values(query: &str, name: &str) -> Vec<String> {
    let pairs = form_urlencoded::parse(query.as_bytes());
    pairs.filter(|(known, _)| known == name).map(|(_, value)| value.into_owned()).collect()
}

const QUERIES: &[&str] = &[
    "code=the-code&state=STATE&iss=https%3A%2F%2Fas.example",
    "state=STATE&code=a&code=b&iss=https://as.example",
    "error=access_denied&state=STATE&iss=https://as.example&error_description=<script>",
    "code=a",
];

const PASTED: &[&str] = &[
    "http://127.0.0.1:50000/callback?code=a&state=STATE&iss=https%3A%2F%2Fas.example",
    "<127.0.0.1:50000/callback?code=a&state=STATE&iss=https%3A%2F%2Fas.example>",
    "?code=a&state=STATE&iss=https%3A%2F%2Fas.example",
];

const ADDRESSES: &[&str] = &[
    "https://as.example/authorize?a=b",
    "http://127.0.0.1:8080/a",
    "http://localhost/",
    "http://evil/",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "ms-msdt:/id",
    "a:$(cmd)?",
    "--flag",
];

static ATTEMPT: LazyLock<AuthorizationAttempt> = LazyLock::new(|| begin(&server(), &[]).0);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    fn check_damaged_answer(query in damaged(QUERIES)) {
        let query = query.replace("STATE", ATTEMPT.state().expose());
        if let Ok(answer) = AuthorizationResponse::from_query(&query)
            && let Ok(code) = ATTEMPT.expected_response().verify_response(&answer)
        {
            BELIEVED_ANSWERS.fetch_add(1, Ordering::Relaxed);
            prop_assert_eq!(values(&query, "state"), [ATTEMPT.state().expose().clone()]);
            prop_assert_eq!(values(&query, "iss"), [ISSUER]);
            prop_assert_eq!(values(&query, "code"), [code.expose().clone()]);
            prop_assert!(values(&query, "error").iter().all(String::is_empty));
        }
    }

    fn check_damaged_address(text in damaged(PASTED)) {
        let text = text.replace("STATE", ATTEMPT.state().expose());
        if let Ok(answer) = AuthorizationResponse::from_pasted(&text, &redirect())
            && ATTEMPT.expected_response().verify_response(&answer).is_ok()
        {
            TAKEN_ADDRESSES.fetch_add(1, Ordering::Relaxed);
            // Without an address before it, it is a query.
            let text = text.replace(['\r', '\n', '\t'], "");
            let before = text.split_once('?').map(|(before, _)| before.trim_start_matches(['<', '\0', ' ']));
            // The host is after the last `@`, if there is one.
            let host = before.and_then(|before| before.rsplit('@').next()).filter(|host| !host.is_empty());
            let is_ours = |host: &str| host.contains("50000") && host.ends_with("callback");
            prop_assert!(host.is_none_or(is_ours), "{}", text);
            prop_assert!(text.contains(ATTEMPT.state().expose()));
        }
    }

    fn check_damaged_page(text in damaged(ADDRESSES)) {
        if let Ok(page) = BrowserPage::parse(&text) {
            SHOWN_PAGES.fetch_add(1, Ordering::Relaxed);
            let is_web = page.as_str().starts_with("https://")
                || ["http://127.", "http://localhost", "http://[::1]"].iter().any(|here| page.as_str().starts_with(here));
            prop_assert!(is_web, "{}", page.as_str());
            let is_safe = |byte: u8| byte.is_ascii_graphic() && !b"\"'`$()<>\\^{}|".contains(&byte);
            prop_assert!(page.as_str().bytes().all(is_safe), "{}", page.as_str());
            prop_assert_eq!(BrowserPage::parse(page.as_str()), Ok(page));
        }
    }
}

/// Cases in which a page was accepted.
static SHOWN_PAGES: AtomicU32 = AtomicU32::new(0);

// B65 B66
#[test]
fn damaged_page_is_still_http_and_safe_in_an_argument_list() {
    check_damaged_page();
    assert!(SHOWN_PAGES.load(Ordering::Relaxed) > 0, "no page was taken");
}

/// Cases in which an address was accepted.
static TAKEN_ADDRESSES: AtomicU32 = AtomicU32::new(0);

// A5 B79
#[test]
fn damaged_address_is_accepted_only_if_it_is_our_redirect() {
    check_damaged_address();
    assert!(TAKEN_ADDRESSES.load(Ordering::Relaxed) > 0, "no address was taken");
}

/// Cases in which a response was accepted.
static BELIEVED_ANSWERS: AtomicU32 = AtomicU32::new(0);

// B74 B79
#[test]
fn damaged_response_is_accepted_only_if_state_issuer_and_code_are_right() {
    check_damaged_answer();
    assert!(BELIEVED_ANSWERS.load(Ordering::Relaxed) > 0, "no answer was believed");
}
