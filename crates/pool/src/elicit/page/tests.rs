//! Accepted and rejected page URLs, and their warnings.

use super::*;

fn page(address: &str) -> Result<ElicitationPage, PageUrlError> {
    ElicitationPage::parse(Some(address), None)
}

// B110 H30
#[test]
fn only_urls_that_are_safe_for_a_browser_are_accepted() {
    let long = format!("https://example.com/{}", "x".repeat(10_000));
    for (address, fault) in [
        ("javascript:alert(1)", PageUrlError::Scheme),
        ("data:text/html,<script>", PageUrlError::Scheme),
        ("file:///etc/passwd", PageUrlError::Scheme),
        ("vscode://extension", PageUrlError::Scheme),
        ("https://user@example.com/", PageUrlError::UserInfo),
        ("https://bank.example:pass@evil.example/", PageUrlError::UserInfo),
        ("https://", PageUrlError::NoAddress),
        ("example.com", PageUrlError::NoAddress),
        ("", PageUrlError::NoAddress),
        (long.as_str(), PageUrlError::TooLong),
    ] {
        assert_eq!(page(address).unwrap_err(), fault, "{address}");
    }
    assert_eq!(ElicitationPage::parse(None, None).unwrap_err(), PageUrlError::NoAddress);
}

// B110 H30
#[test]
fn url_is_shown_in_full_with_its_host_and_warnings() {
    use PageWarning::{IpAddress, Punycode, Unencrypted};
    for (address, shown, host, doubts) in [
        ("https://example.com/a?b=c#d", "https://example.com/a?b=c#d", "example.com", &[][..]),
        ("https://ex\u{430}mple.com/", "https://xn--exmple-4nf.com/", "xn--exmple-4nf.com", &[Punycode]),
        ("https://a.example/\u{202e}cod.exe", "https://a.example/%E2%80%AEcod.exe", "a.example", &[]),
        ("http://a.example/", "http://a.example/", "a.example", &[Unencrypted]),
        ("http://10.0.0.1/", "http://10.0.0.1/", "10.0.0.1", &[IpAddress, Unencrypted]),
        ("https://2130706434/", "https://127.0.0.2/", "127.0.0.2", &[IpAddress]),
        ("http://localhost:8080/x", "http://localhost:8080/x", "localhost", &[]),
        ("http://127.0.0.1/", "http://127.0.0.1/", "127.0.0.1", &[]),
    ] {
        let page = page(address).unwrap();
        assert_eq!((page.url(), page.host(), page.warnings.as_slice()), (shown, host, doubts), "{address}");
    }
}
