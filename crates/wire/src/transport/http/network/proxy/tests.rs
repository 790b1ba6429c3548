//! The choice of the proxy for a server.

use super::*;

fn proxies(http: &str, https: &str, all: &str, none_for: &str) -> Proxies {
    let secret = |text: &str| (!text.is_empty()).then(|| Secret::new(text.to_owned()));
    Proxies::new(&ProxySettings {
        http: secret(http),
        https: secret(https),
        all: secret(all),
        none_for: none_for.to_owned(),
    })
}

fn way(proxies: &Proxies, url: &str) -> Option<String> {
    proxies.proxy_for(&Url::parse(url).unwrap()).unwrap().map(Url::to_string)
}

// T8 F34
#[test]
fn each_scheme_has_its_proxy_and_all_proxy_is_the_fallback() {
    let some = proxies("http://p:1", "", "socks5://q:2", "");
    assert_eq!(way(&some, "http://a.com/").as_deref(), Some("http://p:1/"));
    assert_eq!(way(&some, "https://a.com/").as_deref(), Some("socks5://q:2"));
    let one = proxies("", "corp:8080", "", "");
    assert_eq!(way(&one, "http://a.com/"), None);
    assert_eq!(way(&one, "https://a.com/").as_deref(), Some("http://corp:8080/"));
}

// T8 F34
#[test]
fn this_machine_is_never_reached_through_a_proxy() {
    let all = proxies("", "", "http://p:1", "");
    for host in
        ["localhost", "x.localhost", "LOCALHOST.", "127.0.0.1", "127.9.9.9", "[::1]", "[::ffff:127.0.0.1]"]
    {
        assert_eq!(way(&all, &format!("http://{host}:80/mcp")), None, "{host}");
    }
    assert!(way(&all, "http://localhost.evil.com/").is_some());
}

// T8 F34
#[test]
fn no_proxy_exempts_by_host_port_range_or_star() {
    for (list, url, exempt) in [
        ("a.com", "https://a.com/", true),
        ("a.com", "https://A.COM./", true),
        ("a.com", "https://x.a.com/", true),
        ("a.com", "https://xa.com/", false),
        (".a.com, *.b.com", "https://x.b.com/", true),
        ("a.com:8443", "https://a.com:8443/", true),
        ("a.com:8443", "https://a.com/", false),
        ("a.com:443", "https://a.com/", true),
        ("10.0.0.0/8", "https://10.200.3.4/", true),
        ("10.0.0.0/8", "https://11.0.0.1/", false),
        ("10.0.0.0/8", "https://10.evil.com/", false),
        ("10.1.2.3", "https://10.1.2.3/", true),
        ("10.1.2.3:443", "https://10.1.2.3:444/", false),
        ("fd00::/8", "https://[fd12::1]/", true),
        ("[fd12::1]:443", "https://[fd12::1]/", true),
        ("fd12::1", "https://[fd12::1]:1/", true),
        ("0.0.0.0/0", "https://8.8.8.8/", true),
        ("10.0.0.0/99 nonsense/ :80", "https://10.0.0.1/", false),
        ("x, *", "https://anything.at.all/", true),
        ("", "https://a.com/", false),
    ] {
        let all = proxies("", "", "http://p:1", list);
        assert_eq!(way(&all, url).is_none(), exempt, "{list} for {url}");
    }
}

// T8 F34
#[test]
fn invalid_proxy_url_fails_its_requests_and_is_not_shown() {
    for wrong in ["ftp://hidden@x", "http://", "http://hid den:1"] {
        let bad = proxies("", wrong, "", "fine.com");
        assert_eq!(way(&bad, "https://fine.com/"), None);
        let refused = bad.proxy_for(&Url::parse("https://a.com/").unwrap()).unwrap_err();
        let printed = format!("{refused:?} {bad:?}");
        assert!(printed.contains("HTTPS_PROXY") && !printed.contains("hid"), "{printed}");
    }
}
