//! Which addresses are shown, and with which doubts.

use super::*;

fn page(address: &str) -> Result<Page, PageFault> {
    Page::read(Some(address), None)
}

// B110 H30
#[test]
fn only_what_a_browser_may_open_is_shown() {
    let long = format!("https://example.com/{}", "x".repeat(10_000));
    for (address, fault) in [
        ("javascript:alert(1)", PageFault::Scheme),
        ("data:text/html,<script>", PageFault::Scheme),
        ("file:///etc/passwd", PageFault::Scheme),
        ("vscode://extension", PageFault::Scheme),
        ("https://user@example.com/", PageFault::UserInfo),
        ("https://bank.example:pass@evil.example/", PageFault::UserInfo),
        ("https://", PageFault::NoAddress),
        ("example.com", PageFault::NoAddress),
        ("", PageFault::NoAddress),
        (long.as_str(), PageFault::TooLong),
    ] {
        assert_eq!(page(address).unwrap_err(), fault, "{address}");
    }
    assert_eq!(Page::read(None, None).unwrap_err(), PageFault::NoAddress);
}

// B110 H30
#[test]
fn an_address_is_shown_in_full_with_its_host_and_what_is_doubtful_about_it() {
    use PageDoubt::{LooksLikeAnother, Number, Unencrypted};
    for (address, shown, host, doubts) in [
        ("https://example.com/a?b=c#d", "https://example.com/a?b=c#d", "example.com", &[][..]),
        (
            "https://ex\u{430}mple.com/",
            "https://xn--exmple-4nf.com/",
            "xn--exmple-4nf.com",
            &[LooksLikeAnother],
        ),
        ("https://a.example/\u{202e}cod.exe", "https://a.example/%E2%80%AEcod.exe", "a.example", &[]),
        ("http://a.example/", "http://a.example/", "a.example", &[Unencrypted]),
        ("http://10.0.0.1/", "http://10.0.0.1/", "10.0.0.1", &[Number, Unencrypted]),
        ("https://2130706434/", "https://127.0.0.2/", "127.0.0.2", &[Number]),
        ("http://localhost:8080/x", "http://localhost:8080/x", "localhost", &[]),
        ("http://127.0.0.1/", "http://127.0.0.1/", "127.0.0.1", &[]),
    ] {
        let page = page(address).unwrap();
        assert_eq!((page.url(), page.host(), page.doubts.as_slice()), (shown, host, doubts), "{address}");
    }
}
