//! The metadata that is trusted.

use super::*;
use mcparley_model::explain::Explain as _;

// B68
#[tokio::test]
async fn metadata_at_another_origin_is_not_requested() {
    let other = Site::with_json_pages(|origin, _| Some(resource(origin, origin)));
    let site = Site::with_json_pages(|_, _| None);
    let port = site.port();
    for place in [
        format!("{}/.well-known/oauth-protected-resource", other.origin()),
        format!("https://127.0.0.1:{port}/x"),
        format!("http://localhost:{port}/x"),
        "http://169.254.169.254/".to_owned(),
        "http://[::ffff:10.0.0.1]/".to_owned(),
        format!("http://0x7f.1:{}/", other.port()),
        format!("http://2130706433:{}/", other.port()),
        format!("http://127.1:{}/", other.port()),
        "file:///etc/passwd".to_owned(),
        "https://[".to_owned(),
    ] {
        let error = found(&site, Some(&naming(&place))).await.unwrap_err();
        let first = &error.attempts()[0].failure;
        assert!(
            matches!(first, DiscoveryFailure::Foreign | DiscoveryFailure::NoUrl { .. }),
            "{place}: {first}"
        );
    }
    assert_eq!(other.requests(), [""; 0]);
}

// B68
#[tokio::test]
async fn metadata_of_another_server_ends_the_search() {
    let site = Site::with_json_pages(|origin, path| match path {
        "/.well-known/oauth-protected-resource/mcp" => Some(resource("https://evil.example/mcp", origin)),
        _ => Some(resource(origin, origin)),
    });
    let error = error(&site).await;
    let place = site.url("/.well-known/oauth-protected-resource/mcp");
    let text = format!(
        "cannot use the metadata at `{place}`: it describes another server, `https://evil.example/mcp`"
    );
    assert_eq!(error.to_string(), text);
    assert_eq!(site.requests().len(), 1);
}

// B72 H16
#[tokio::test]
async fn metadata_of_another_issuer_is_not_used() {
    for (issuer, slash) in [
        ("https://attacker.example".to_owned(), false),
        ("http://127.0.0.1/tenant".to_owned(), false),
        ("{origin}/tenant/".to_owned(), true),
        ("{origin}/Tenant".to_owned(), false),
        ("{origin}/%74enant".to_owned(), false),
        ("HTTP{rest}/tenant".to_owned(), false),
        (String::new(), false),
    ] {
        let site = with_server(move |origin| {
            let rest = origin.trim_start_matches("http");
            server(&issuer.replace("{origin}", origin).replace("{rest}", rest), origin)
        });
        let error = error(&site).await;
        let DiscoverError::Rejected { lie, .. } = &error else { panic!("{error}") };
        assert!(matches!(lie.failure, DiscoveryFailure::Issuer { .. }), "{error}");
        assert!(error.hint().unwrap().contains("oauth.authServerMetadataUrl"));
        assert_eq!(error.hint().unwrap().contains("slash"), slash);
    }
}

// B72
#[tokio::test]
async fn metadata_without_an_issuer_is_not_used() {
    for (value, why) in [(Value::Null, "it has no `issuer`"), (json!(["x"]), "its `issuer` is not text")] {
        let site = with_server(move |origin| {
            let mut described = server("", origin);
            described["issuer"] = value.clone();
            described
        });
        let error = error(&site).await.to_string();
        assert!(error.ends_with(why), "{error}");
    }
}

// B75
#[tokio::test]
async fn an_authorization_server_without_s256_is_refused() {
    for methods in [Value::Null, json!([]), json!(["plain"]), json!(["s256"]), json!("S256")] {
        let site = with_server(move |origin| {
            let mut described = server(&format!("{origin}/tenant"), origin);
            described["code_challenge_methods_supported"] = methods.clone();
            described
        });
        let text = error(&site).await.to_string();
        assert!(text.ends_with("it does not offer PKCE with `S256`"), "{text}");
        // A sign-in without a page needs no PKCE.
        let url = site.url("/mcp");
        let found =
            discover_auth_server(&Web::new(&Network::default(), &url), &url, None, None).await.unwrap();
        assert!(!found.server.has_s256);
    }
}

// H15 H16
#[tokio::test]
async fn forbidden_endpoint_invalidates_the_metadata() {
    for field in ["authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"]
    {
        for endpoint in
            ["http://evil.example/SECRET", "https://me:SECRET@a.example/", "https://a.example/#SECRET"]
        {
            let site = with_server(move |origin| {
                let mut described = server(&format!("{origin}/tenant"), origin);
                described[field] = json!(endpoint);
                described
            });
            let error = error(&site).await;
            let text = error.to_string();
            assert!(text.contains(&format!("its `{field}` must not be used")), "{text}");
            assert!(!format!("{text} {:?}", error.hint()).contains("SECRET"), "{text}");
        }
    }
}

// A1 B72
#[tokio::test]
async fn configured_metadata_must_name_an_issuer_at_its_own_origin() {
    let site = Site::with_json_pages(|_, _| None);
    let url = site.url("/mcp");
    let web = Web::new(&Network::default(), &url);
    let idp = Site::with_json_pages(|origin, _| Some(server("https://evil.example", origin).to_string()));
    let error = discover_for_browser(&web, &url, None, Some(&idp.url("/meta"))).await.unwrap_err();
    assert!(error.to_string().contains("another issuer, `https://evil.example`"), "{error}");
    let silent = Site::with_json_pages(|_, _| None);
    let error = discover_for_browser(&web, &url, None, Some(&silent.url("/meta"))).await.unwrap_err();
    assert!(error.to_string().ends_with("/meta`: status 404"), "{error}");
}

// B72
#[tokio::test]
async fn issuer_that_is_no_url_is_not_requested() {
    for issuer in ["", "a.example", "ftp://a.example", "https://a.example?x", "https://a.example#x"] {
        let site = Site::with_json_pages(move |origin, _| Some(resource(origin, issuer)));
        let error = error(&site).await.to_string();
        assert!(error.contains("is not a usable URL"), "{error}");
        assert_eq!(site.requests().len(), 1);
    }
}
