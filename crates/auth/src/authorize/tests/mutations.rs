//! Spoiled answers and addresses: nothing breaks, and nothing passes that should not.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;
use url::form_urlencoded;

use super::*;

/// Some places of a text, spoiled.
fn spoiled(texts: &'static [&'static str]) -> impl Strategy<Value = String> {
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

static ATTEMPT: LazyLock<Attempt> = LazyLock::new(|| begin(&server(), &[]).0);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    fn check_a_spoiled_answer_is_believed_only_if_everything_in_it_is_right(query in spoiled(QUERIES)) {
        let query = query.replace("STATE", ATTEMPT.state().expose());
        if let Ok(answer) = Answer::from_query(&query)
            && let Ok(code) = ATTEMPT.expected().judge(&answer)
        {
            BELIEVED_ANSWERS.fetch_add(1, Ordering::Relaxed);
            prop_assert_eq!(values(&query, "state"), [ATTEMPT.state().expose().clone()]);
            prop_assert_eq!(values(&query, "iss"), [ISSUER]);
            prop_assert_eq!(values(&query, "code"), [code.expose().clone()]);
            prop_assert!(values(&query, "error").iter().all(String::is_empty));
        }
    }

    fn check_a_spoiled_address_is_taken_only_if_it_is_ours(text in spoiled(PASTED)) {
        let text = text.replace("STATE", ATTEMPT.state().expose());
        if let Ok(answer) = Answer::from_pasted(&text, &redirect())
            && ATTEMPT.expected().judge(&answer).is_ok()
        {
            TAKEN_ADDRESSES.fetch_add(1, Ordering::Relaxed);
            // Without an address before it, it is an answer as it stands.
            let text = text.replace(['\r', '\n', '\t'], "");
            let before = text.split_once('?').map(|(before, _)| before.trim_start_matches(['<', '\0', ' ']));
            // The host stands behind the last `@`, if there is one.
            let host = before.and_then(|before| before.rsplit('@').next()).filter(|host| !host.is_empty());
            let is_ours = |host: &str| host.contains("50000") && host.ends_with("callback");
            prop_assert!(host.is_none_or(is_ours), "{}", text);
            prop_assert!(text.contains(ATTEMPT.state().expose()));
        }
    }

    fn check_a_spoiled_page_is_still_of_the_web_and_safe_in_an_argument_list(text in spoiled(ADDRESSES)) {
        if let Ok(page) = Page::parse(&text) {
            SHOWN_PAGES.fetch_add(1, Ordering::Relaxed);
            let is_web = page.as_str().starts_with("https://")
                || ["http://127.", "http://localhost", "http://[::1]"].iter().any(|here| page.as_str().starts_with(here));
            prop_assert!(is_web, "{}", page.as_str());
            let is_safe = |byte: u8| byte.is_ascii_graphic() && !b"\"'`$()<>\\^{}|".contains(&byte);
            prop_assert!(page.as_str().bytes().all(is_safe), "{}", page.as_str());
            prop_assert_eq!(Page::parse(page.as_str()), Ok(page));
        }
    }
}

/// How many cases came that far.
static SHOWN_PAGES: AtomicU32 = AtomicU32::new(0);

// B65 B66
#[test]
fn a_spoiled_page_is_still_of_the_web_and_safe_in_an_argument_list() {
    check_a_spoiled_page_is_still_of_the_web_and_safe_in_an_argument_list();
    assert!(SHOWN_PAGES.load(Ordering::Relaxed) > 0, "no page was taken");
}

/// How many cases came that far.
static TAKEN_ADDRESSES: AtomicU32 = AtomicU32::new(0);

// A5 B79
#[test]
fn a_spoiled_address_is_taken_only_if_it_is_ours() {
    check_a_spoiled_address_is_taken_only_if_it_is_ours();
    assert!(TAKEN_ADDRESSES.load(Ordering::Relaxed) > 0, "no address was taken");
}

/// How many cases came that far.
static BELIEVED_ANSWERS: AtomicU32 = AtomicU32::new(0);

// B74 B79
#[test]
fn a_spoiled_answer_is_believed_only_if_everything_in_it_is_right() {
    check_a_spoiled_answer_is_believed_only_if_everything_in_it_is_right();
    assert!(BELIEVED_ANSWERS.load(Ordering::Relaxed) > 0, "no answer was believed");
}
