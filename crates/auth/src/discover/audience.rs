//! Decides for whom a token is asked: the `resource` of RFC 8707.
//!
//! Pure. The name a server gives itself is sent as it stands, byte for byte, because authorization servers compare it so.

use url::Url;

/// The server's URL as HTTP has it: descriptions of servers behind `wss` are published over `https` too, and the name of a
/// protected resource has that scheme by definition (RFC 9728, section 1.2). Without what is not for others to see.
pub(crate) fn over_http(server: &Url) -> Url {
    let mut url = server.clone();
    let scheme = match url.scheme() {
        "ws" => Some("http"),
        "wss" => Some("https"),
        _ => None,
    };
    // None of these can fail for a URL that has a host.
    if let Some(scheme) = scheme {
        url.set_scheme(scheme).unwrap_or_default();
    }
    url.set_username("").unwrap_or_default();
    url.set_password(None).unwrap_or_default();
    url.set_fragment(None);
    url
}

/// The name of a server that gives itself none: without a query, which is where people put keys, and without the slash of
/// an empty path (MCP, "Canonical Server URI").
pub(super) fn canonical(server: &Url) -> String {
    let mut url = server.clone();
    url.set_query(None);
    match url.path() {
        "/" => url.as_str().trim_end_matches('/').to_owned(),
        _ => url.into(),
    }
}

/// Whether `resource` is a name of `server`: its URL, or one above it at the same origin. Every server below it shares its
/// tokens, which is for whoever runs that origin to decide, and for nobody else (RFC 9728, section 7.3).
pub(super) fn is_of(resource: &str, server: &Url) -> bool {
    let Ok(named) = Url::parse(resource) else { return false };
    let has_secrets = !named.username().is_empty() || named.password().is_some();
    if named.fragment().is_some() || has_secrets {
        return false;
    }
    let named = over_http(&named);
    let has_query = named.query().is_none() || named.query() == server.query();
    named.origin() == server.origin() && has_query && is_above(named.path(), server.path())
}

fn is_above(upper: &str, path: &str) -> bool {
    let upper = upper.trim_end_matches('/');
    let rest = path.strip_prefix(upper);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    // A1
    #[test]
    fn a_server_without_a_name_is_called_by_its_url_without_secrets() {
        let of = |server: &str| canonical(&over_http(&Url::parse(server).unwrap()));
        assert_eq!(of("https://A.example"), "https://a.example");
        assert_eq!(of("https://a.example:8443/"), "https://a.example:8443");
        assert_eq!(of("https://a.example/mcp"), "https://a.example/mcp");
        assert_eq!(of("https://a.example/mcp/"), "https://a.example/mcp/");
        assert_eq!(of("https://u:p@a.example/mcp?key=1#x"), "https://a.example/mcp");
        assert_eq!(of("wss://a.example/mcp"), "https://a.example/mcp");
        assert_eq!(of("ws://localhost:1/mcp"), "http://localhost:1/mcp");
    }

    // B68
    #[test]
    fn only_the_server_itself_and_what_is_above_it_are_its_names() {
        let server = Url::parse("https://a.example/one/mcp").unwrap();
        for name in [
            "https://a.example/one/mcp",
            "https://a.example/one/mcp/",
            "https://A.example:443/one/mcp",
            "https://a.example/one",
            "https://a.example/one/",
            "https://a.example",
            "https://a.example/",
            "wss://a.example/one/mcp",
        ] {
            assert!(is_of(name, &server), "{name}");
        }
        for name in [
            "https://evil.example/one/mcp",
            "https://sub.a.example/one/mcp",
            "https://a.example.evil.example/",
            "http://a.example/one/mcp",
            "https://a.example:444/one/mcp",
            "https://a.example/one/mc",
            "https://a.example/one/mcp/more",
            "https://a.example/two",
            "https://a.example/one/../two",
            "https://user@a.example/one/mcp",
            "https://a.example/one/mcp#x",
            "https://a.example/one/mcp?x",
            "urn:a",
            "a.example",
            "",
        ] {
            assert!(!is_of(name, &server), "{name}");
        }
    }
}
