//! Tests that a pattern is compared with the address that is connected to, in every disguise.

use url::Url;

use super::super::UrlPattern;

/// Whether `url` is a valid URL and matches the pattern.
fn fits(pattern: &str, url: &str) -> bool {
    let pattern = UrlPattern::parse(pattern).unwrap();
    Url::parse(url).is_ok_and(|url| pattern.matches_url(&url))
}

#[test]
fn wildcard_host_matches_only_subdomains() {
    // B29 B30 H38
    for (url, expected) in [
        ("https://company.com@evil.com/", false),
        ("https://x.company.com@evil.com/", false),
        ("https://x.company.com:a@evil.com/", false),
        ("https://evil.com/.company.com/", false),
        ("https://evil.com/?x.company.com/", false),
        ("https://evil.com#x.company.com/", false),
        ("https://x.company.com.evil.com/", false),
        ("https://xcompany.com/", false),
        ("https://company.com/", false),
        ("https://.company.com/", false),
        ("http://x.company.com/", false),
        ("https://x.company.com:8443/", false),
        ("https://x.company.com../", false),
        // Homographs: Cyrillic o and a; a fullwidth dot and letters are the real thing after mapping.
        ("https://x.c\u{43e}mpany.com/", false),
        ("https://x.comp\u{430}ny.com/", false),
        ("https://x\u{ff0e}company\u{3002}com/", true),
        ("https://x.ｃompany.com/", true),
        // Percent-encoded hosts are decoded before the comparison.
        ("https://evil.com%2f.company.com/", false),
        ("https://evil.com%00.company.com/", false),
        ("https://evil%2Ecom/", false),
        ("https://x%2ecompany.com/", true),
        // Backslashes are slashes.
        (r"https:\\evil.com\.company.com/", false),
        (r"https://evil.com\.company.com/", false),
        (r"https://evil.com\@x.company.com/", false),
        (r"https:\\x.company.com\a", true),
        // The parser drops tabs and newlines in every place.
        ("https://evil.com/\t.company.com/", false),
        ("https://ev\til.com\n/", false),
        ("ht\ntps://x.comp\tany.com/", true),
        ("HTTPS://X.COMPANY.COM:443/a", true),
        ("https://x.company.com./", true),
        ("https://user:password@x.company.com/", true),
        ("https://a.b.company.com/any/path?and=query#fragment", true),
        ("https:x.company.com", true),
    ] {
        assert_eq!(fits("https://*.company.com/*", url), expected, "{url}");
    }
}

#[test]
fn each_part_is_compared_on_its_own() {
    // C9 B29
    for (pattern, url, expected) in [
        ("https://x.com", "https://x.com/any?q", true),
        ("https://x.com/", "https://x.com/any", false),
        ("https://x.com/", "https://x.com", true),
        ("HTTPS://X.Com./a", "https://x.com/a", true),
        ("*://x.com/*", "http://x.com/", true),
        ("*://x.com/*", "http://x.com:443/", false),
        ("*://*", "https://[::1]/", true),
        ("https://x.com:443/*", "https://x.com/", true),
        ("https://x.com:8443/*", "https://x.com:8443/", true),
        ("https://x.com:8443/*", "https://x.com/", false),
        ("http://localhost:*/mcp", "http://localhost:3000/mcp", true),
        ("http://localhost:*/mcp", "http://localhost:3000/mcp/x", false),
        ("http://127.0.0.1/*", "http://0x7f.1/", true),
        ("http://[0:0::1]:*/*", "http://[::1]:80/", true),
        ("https://bücher.de/*", "https://xn--bcher-kva.de/", true),
        ("https://*.bücher.de/*", "https://www.BÜCHER.de/", true),
        ("https://*/api/*", "https://x.com/api/../admin", false),
        ("https://*/api/*", "https://x.com/api/%2e%2e/admin", false),
        ("https://*/~user/*", "https://x.com/%7Euser/%41", true),
        ("https://*/%7euser/A", "https://x.com/~user/%41", true),
        ("https://*/ü b", "https://x.com/%c3%bc%20b", true),
        ("https://*/a%2fb", "https://x.com/a%2Fb", true),
        ("https://*/a/b", "https://x.com/a%2Fb", false),
        ("https://*/a%41", "https://x.com/a%2541", false),
        ("https://x.com/*?key=*", "https://x.com/a?key=1", true),
        ("https://x.com/*?key=*", "https://x.com/a", false),
        ("https://x.com?", "https://x.com/a?b", false),
    ] {
        assert_eq!(fits(pattern, url), expected, "{pattern} against {url}");
    }
}

#[test]
fn invalid_url_pattern_is_refused() {
    // C9
    for pattern in [
        "",
        "*",
        "x.com",
        "https:/x.com",
        "http*://x.com",
        "://x.com",
        "https://",
        "https:///path",
        "https://user@x.com/",
        "https://user:password@x.com/",
        "https://x.com:80*/",
        "https://x.com:99999/",
        "https://x.com:-1/",
        "https://x com/",
        "https://*.x%41.com/",
        "https://*ü.com/",
        "https://[::1/",
        r"https:\\x.com",
        "https://x.com/\t",
        "https://x.com/#a",
    ] {
        assert!(UrlPattern::parse(pattern).is_err(), "{pattern}");
    }
}

// P3 B123
#[test]
fn loopback_names_are_equal_and_websockets_match_http() {
    let pattern = |text: &str| UrlPattern::parse(text).unwrap();
    let same = [
        "http://127.0.0.1:9/x",
        "http://localhost:9/x",
        "http://LOCALHOST.:9/x",
        "http://[::1]:9/x",
        "http://[::ffff:127.0.0.1]:9/x",
        "http://127.1:9/x",
        "http://0x7f.1:9/x",
        "http://0.0.0.0:9/x",
        "ws://127.0.0.1:9/x",
        "ws://localhost:9/x",
    ];
    for denied in
        ["http://127.0.0.1:9/*", "http://localhost:9/*", "ws://[::1]:9/*", "http://[::ffff:127.0.0.1]:9/*"]
    {
        for url in same {
            assert!(pattern(denied).matches_url(&Url::parse(url).unwrap()), "{denied} {url}");
        }
    }
    for (denied, url) in [
        ("http://127.0.0.1:9/*", "http://127.0.0.1:8/x"),
        ("http://127.0.0.1:9/*", "https://127.0.0.1:9/x"),
        ("http://127.0.0.1:9/*", "http://10.0.0.1:9/x"),
        ("http://127.0.0.1:9/*", "http://localhost.evil.com:9/x"),
        ("http://10.0.0.1/*", "http://127.0.0.1/x"),
    ] {
        assert!(!pattern(denied).matches_url(&Url::parse(url).unwrap()), "{denied} {url}");
    }
    assert!(pattern("http://10.0.0.1/*").matches_url(&Url::parse("http://[::ffff:10.0.0.1]/x").unwrap()));
    assert!(pattern("http://127.*:*/*").matches_url(&Url::parse("http://[::1]:9/x").unwrap()));
}
