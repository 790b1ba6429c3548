//! Decides where descriptions may be, and in which order they are looked for.
//!
//! Pure: RFC 9728, section 3; RFC 8414, section 3.1; OpenID Connect Discovery, section 4; all as MCP orders them.

use url::Url;

/// Where a protected server describes itself when it does not say where.
pub(super) fn of_resource(server: &Url) -> Vec<Url> {
    let path = server.path();
    let mut places = vec![inserted(server, "oauth-protected-resource", path)];
    // Those for a resource with a query carry it too; the one for all resources does not.
    if let Some(first) = places.first_mut() {
        first.set_query(server.query());
    }
    let shorter = path.trim_end_matches('/');
    places.push(inserted(server, "oauth-protected-resource", shorter));
    places.push(inserted(server, "oauth-protected-resource", ""));
    places.dedup();
    places
}

/// Where an authorization server describes itself.
pub(super) fn of_issuer(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    let mut places = vec![
        inserted(issuer, "oauth-authorization-server", path),
        inserted(issuer, "openid-configuration", path),
    ];
    if !path.is_empty() {
        places.push(at(issuer, &format!("{path}/.well-known/openid-configuration")));
    }
    places
}

/// Another path at the same origin, and nothing else.
pub(super) fn at(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(path);
    url.set_query(None);
    url.set_fragment(None);
    url
}

/// A server without a path has none there either, rather than a slash.
fn inserted(base: &Url, name: &str, path: &str) -> Url {
    let path = if path == "/" { "" } else { path };
    at(base, &format!("/.well-known/{name}{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(places: Vec<Url>) -> Vec<String> {
        places.into_iter().map(String::from).collect()
    }

    // A1
    #[test]
    fn a_server_is_looked_for_at_its_path_and_then_at_its_root() {
        let of = |server: &str| texts(of_resource(&Url::parse(server).unwrap()));
        let root = "https://a.example/.well-known/oauth-protected-resource";
        assert_eq!(of("https://a.example/public/mcp"), [&format!("{root}/public/mcp"), root]);
        assert_eq!(of("https://a.example"), [root]);
        assert_eq!(of("https://a.example/"), [root]);
        assert_eq!(of("https://a.example/mcp/"), [&format!("{root}/mcp/"), &format!("{root}/mcp"), root]);
        assert_eq!(
            of("https://a.example/mcp?p=1"),
            [&format!("{root}/mcp?p=1"), &format!("{root}/mcp"), root]
        );
    }

    // A1
    #[test]
    fn an_issuer_is_looked_for_in_the_order_of_the_specification() {
        let of = |issuer: &str| texts(of_issuer(&Url::parse(issuer).unwrap()));
        let root = "https://a.example/.well-known";
        let plain = [format!("{root}/oauth-authorization-server"), format!("{root}/openid-configuration")];
        assert_eq!(of("https://a.example"), plain);
        assert_eq!(of("https://a.example/"), plain);
        let tenant = [
            format!("{root}/oauth-authorization-server/tenant1"),
            format!("{root}/openid-configuration/tenant1"),
            "https://a.example/tenant1/.well-known/openid-configuration".to_owned(),
        ];
        assert_eq!(of("https://a.example/tenant1"), tenant);
        assert_eq!(of("https://a.example/tenant1/"), tenant);
    }
}
