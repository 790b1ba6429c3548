use super::*;

// B65
#[test]
fn pages_that_are_not_for_a_browser_are_refused() {
    for url in [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "vbscript:x",
        "ms-msdt:/id",
        "http://evil.example/",
        "http://10.0.0.1/",
        "http://localhost.evil.example/",
        "--flag",
        "-a https://a.example",
        "a:$(cmd)?",
        "",
        " ",
        "https://",
        "https:///?x",
        "/relative",
        "https://user@a.example/",
        "https://user:password@a.example/",
        "https://a.example/\n--flag",
        "https://a.exa\tmple/",
        "\u{0}https://a.example/",
        "https://a.example/\u{7f}",
        "https://a.example/\u{85}",
        "blob:https://a.example/x",
        "view-source:https://a.example/",
    ] {
        assert!(check_page(url).is_err_and(|error| error.hint().is_some()), "{url:?}");
    }
    let long = format!("https://a.example/?{}", "x".repeat(PAGE_ADDRESS_BYTES));
    assert_eq!(check_page(&long), Err(PageError::TooLong { limit: PAGE_ADDRESS_BYTES }));
}

// B66
#[test]
fn what_is_opened_is_one_plain_address() {
    for (url, wanted) in [
        ("https://a.example/authorize?state=1&x=2", "https://a.example/authorize?state=1&x=2"),
        ("HTTPS://A.example:443", "https://a.example/"),
        ("https://a.example/`id`?q=`id`", "https://a.example/%60id%60?q=%60id%60"),
        ("https://a.example/?q=$(id);x&y=%00", "https://a.example/?q=$(id);x&y=%00"),
        ("https://a.example/a b?c d", "https://a.example/a%20b?c%20d"),
        ("https://a.example/?a='b'\"c\"", "https://a.example/?a=%27b%27%22c%22"),
        ("https://a.example/?a=|^{}<>\\", "https://a.example/?a=%7C%5E%7B%7D%3C%3E%5C"),
        ("https://a.example/?\u{fc}", "https://a.example/?%C3%BC"),
        ("http://localhost:1/x", "http://localhost:1/x"),
        ("http://app.localhost/", "http://app.localhost/"),
        ("http://0x7f.1:8/", "http://127.0.0.1:8/"),
        ("http://[::1]:8/", "http://[::1]:8/"),
    ] {
        let opened = check_page(url).unwrap();
        assert_eq!(opened.as_str(), wanted, "{url}");
        assert!(opened.as_str().bytes().all(|byte| byte.is_ascii_graphic()), "{url}");
        assert_eq!(check_page(opened.as_str()), Ok(opened), "{url}");
    }
}

// B65
#[test]
fn what_is_said_about_a_page_holds_no_secret() {
    let error = check_page("http://evil.example/?code=SECRET").unwrap_err();
    assert_eq!(error.to_string(), "the page to open, at `http://evil.example`, is not reached over `https`");
    let error = check_page("https://me:SECRET@a.example/").unwrap_err();
    assert!(!format!("{error} {error:?}").contains("SECRET"));
}
