//! The addresses that may be opened, and their escaped form.

use super::*;

// B65
#[test]
fn address_that_must_not_be_opened_is_refused() {
    let table = [
        ("javascript:alert(1)", "`javascript` is not `https`"),
        ("file:///etc/passwd", "`file` is not `https`"),
        ("data:text/html,x", "`data` is not `https`"),
        ("vbscript:x", "`vbscript` is not `https`"),
        ("ms-msdt:/id", "`ms-msdt` is not `https`"),
        ("a:$(cmd)?", "`a` is not `https`"),
        ("ftp://example.com/", "`ftp` is not `https`"),
        ("http://evil/", "`http` is not allowed to `evil`, only on this machine"),
        (
            "http://127.0.0.1.evil.example/",
            "`http` is not allowed to `127.0.0.1.evil.example`, only on this machine",
        ),
        (
            "http://localhost.evil.example/",
            "`http` is not allowed to `localhost.evil.example`, only on this machine",
        ),
        ("--flag", "it is not a URL"),
        ("", "it is not a URL"),
        (" ", "it is not a URL"),
        ("-a https://example.com", "it is not a URL"),
        ("/relative", "it is not a URL"),
        ("blob:https://example.com/x", "`blob` is not `https`"),
        ("view-source:https://example.com/", "`view-source` is not `https`"),
        ("http://10.0.0.1/", "`http` is not allowed to `10.0.0.1`, only on this machine"),
        ("https://", "it is not a URL"),
        ("//example.com/", "it is not a URL"),
        ("https://user@example.com/", "it has a user name or a password in it"),
        ("https://:pass@example.com/", "it has a user name or a password in it"),
        ("https://`id`/", "its host name has invalid characters"),
        ("https://$(id).example.com/", "its host name has invalid characters"),
        ("https://a;b&c.example.com/", "its host name has invalid characters"),
        ("https://example.com/\n--flag", "it has control characters in it"),
        ("java\tscript:alert(1)", "it has control characters in it"),
        ("https://example.com/\u{0}", "it has control characters in it"),
        ("https://example.com/\u{9b}31m", "it has control characters in it"),
    ];
    for (text, expected) in table {
        assert_eq!(BrowserPage::parse(text).unwrap_err().to_string(), expected, "{text:?}");
    }
}

#[test]
fn https_and_local_http_pages_are_accepted() {
    for text in [
        "https://example.com/authorize?a=b&c=d",
        "HTTPS://EXAMPLE.COM/",
        "http://localhost:8080/authorize",
        "http://127.0.0.1:1/",
        "http://[::1]:1/",
        "http://0x7f.1/",
        "http://app.localhost/",
    ] {
        let page = BrowserPage::parse(text).unwrap();
        assert!(page.as_str().starts_with("http"), "{text}");
    }
}

// B66
#[test]
fn shell_characters_are_escaped_exactly_once() {
    let page = BrowserPage::parse("https://h/a`b$(c);d?q=`$(x)`;y&z=\"a b\"'%00|{}<>^\\#f`").unwrap();
    assert_eq!(
        page.as_str(),
        "https://h/a%60b%24%28c%29;d?q=%60%24%28x%29%60%3By&z=%22a%20b%22%27%00%7C%7B%7D%3C%3E%5E%5C#f%60"
    );
    assert_eq!(BrowserPage::parse(page.as_str()).unwrap(), page);
}

#[test]
fn page_prints_only_its_origin() {
    let page = BrowserPage::parse("https://example.com/authorize?state=canary").unwrap();
    assert_eq!(format!("{page:?}"), "Page(https://example.com)");
}

// B65
#[test]
fn too_long_address_is_refused() {
    let long = format!("https://a.example/?{}", "x".repeat(PAGE_ADDRESS_BYTES));
    assert_eq!(BrowserPage::parse(&long).unwrap_err(), PageError::TooLong { limit: PAGE_ADDRESS_BYTES });
}

// B65 B62
#[test]
fn page_errors_hold_no_secret() {
    for address in ["http://evil.example/?code=SECRET", "https://me:SECRET@a.example/", "x:SECRET"] {
        let error = BrowserPage::parse(address).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("SECRET"), "{error:?}");
    }
}
