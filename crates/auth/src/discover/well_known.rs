//! The well-known places of metadata, and the order in which they are tried.
//!
//! Pure functions: RFC 9728, section 3; RFC 8414, section 3.1; OpenID Connect Discovery, section 4; all in
//! MCP's order.

use url::Url;

/// The places of a server's metadata when its challenge names none.
pub(super) fn resource_places(server: &Url) -> Vec<Url> {
    let path = server.path();
    let mut places = vec![insert_well_known(server, "oauth-protected-resource", path)];
    // The place for a resource with a query includes it; the root place does not.
    if let Some(first) = places.first_mut() {
        first.set_query(server.query());
    }
    let shorter = path.trim_end_matches('/');
    places.push(insert_well_known(server, "oauth-protected-resource", shorter));
    places.push(insert_well_known(server, "oauth-protected-resource", ""));
    places.dedup();
    places
}

/// The places of an authorization server's metadata.
pub(super) fn issuer_places(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    let mut places = vec![
        insert_well_known(issuer, "oauth-authorization-server", path),
        insert_well_known(issuer, "openid-configuration", path),
    ];
    if !path.is_empty() {
        places.push(with_path(issuer, &format!("{path}/.well-known/openid-configuration")));
    }
    places
}

/// Another path at the same origin, without query and fragment.
pub(super) fn with_path(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(path);
    url.set_query(None);
    url.set_fragment(None);
    url
}

/// Inserts the well-known prefix before the path. An empty path stays empty instead of becoming a slash.
fn insert_well_known(base: &Url, name: &str, path: &str) -> Url {
    let path = if path == "/" { "" } else { path };
    with_path(base, &format!("/.well-known/{name}{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(places: Vec<Url>) -> Vec<String> {
        places.into_iter().map(String::from).collect()
    }

    // A1
    #[test]
    fn resource_metadata_is_tried_at_the_path_and_then_at_the_root() {
        let of = |server: &str| texts(resource_places(&Url::parse(server).unwrap()));
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
    fn issuer_metadata_is_tried_in_the_specified_order() {
        let of = |issuer: &str| texts(issuer_places(&Url::parse(issuer).unwrap()));
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
