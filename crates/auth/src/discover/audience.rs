//! The audience of a token: the `resource` parameter of RFC 8707.
//!
//! Pure functions. The name a server gives itself is sent byte for byte, because authorization servers
//! compare it so.

use url::Url;

/// The server's URL with an HTTP scheme: metadata of a `wss` server is published over `https`, and the name
/// of a protected resource has that scheme by definition (RFC 9728, section 1.2). User info and fragment are
/// removed.
pub(crate) fn to_http_url(server: &Url) -> Url {
    let mut url = server.clone();
    let scheme = match url.scheme() {
        "ws" => Some("http"),
        "wss" => Some("https"),
        _ => None,
    };
    // None of these calls can fail for a URL with a host.
    if let Some(scheme) = scheme {
        url.set_scheme(scheme).unwrap_or_default();
    }
    url.set_username("").unwrap_or_default();
    url.set_password(None).unwrap_or_default();
    url.set_fragment(None);
    url
}

/// The name of a server that gives itself none: without a query, which is where keys are put, and without the
/// slash of an empty path (MCP, "Canonical Server URI").
pub(crate) fn canonical_resource(server: &Url) -> String {
    let mut url = server.clone();
    url.set_query(None);
    match url.path() {
        "/" => url.as_str().trim_end_matches('/').to_owned(),
        _ => url.into(),
    }
}

/// Whether `resource` is a name of `server`: its URL, or a parent path at the same origin. All servers below
/// that path share its tokens, which only the operator of the origin may decide (RFC 9728, section 7.3).
pub(super) fn is_resource_of(resource: &str, server: &Url) -> bool {
    let Ok(named) = Url::parse(resource) else { return false };
    let has_secrets = !named.username().is_empty() || named.password().is_some();
    if named.fragment().is_some() || has_secrets {
        return false;
    }
    let named = to_http_url(&named);
    let has_query = named.query().is_none() || named.query() == server.query();
    named.origin() == server.origin() && has_query && is_parent_path(named.path(), server.path())
}

fn is_parent_path(upper: &str, path: &str) -> bool {
    let upper = upper.trim_end_matches('/');
    let rest = path.strip_prefix(upper);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    // A1
    #[test]
    fn server_without_a_name_is_named_by_its_url_without_secrets() {
        let of = |server: &str| canonical_resource(&to_http_url(&Url::parse(server).unwrap()));
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
    fn resource_name_must_be_the_server_or_a_parent_path() {
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
            assert!(is_resource_of(name, &server), "{name}");
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
            assert!(!is_resource_of(name, &server), "{name}");
        }
    }
}
