//! The places where metadata is looked up, and the fallback without any.

use super::*;
use crate::web::site;

// A1
#[tokio::test]
async fn metadata_place_in_the_challenge_is_requested_first() {
    let site = Site::with_json_pages(|origin, path| match path {
        "/custom/place.json" => Some(resource(origin, &format!("{origin}/tenant"))),
        "/tenant/.well-known/openid-configuration" => {
            Some(server(&format!("{origin}/tenant"), origin).to_string())
        }
        _ => None,
    });
    let asked = naming(&format!("{}/custom/place.json", site.origin()));
    let found = found(&site, Some(&asked)).await.unwrap();
    assert_eq!(found.audience, site.origin());
    assert_eq!(found.server.issuer, format!("{}/tenant", site.origin()));
    assert_eq!(found.server.source, MetadataSource::Published);
    assert_eq!(
        site.requests(),
        [
            "GET /custom/place.json",
            "GET /.well-known/oauth-authorization-server/tenant",
            "GET /.well-known/openid-configuration/tenant",
            "GET /tenant/.well-known/openid-configuration",
        ]
    );
    let missing = "status 404".to_owned();
    let places = ["oauth-authorization-server/tenant", "openid-configuration/tenant"];
    assert_eq!(paths(&found.tried), places.map(|place| (wellknown(place), missing.clone())));
}

// A1
#[tokio::test]
async fn without_a_challenge_the_well_known_places_are_tried_in_order() {
    let site = Site::with_json_pages(|origin, path| match path {
        "/.well-known/oauth-protected-resource" => Some(resource(origin, origin)),
        "/.well-known/openid-configuration" => Some(server(origin, origin).to_string()),
        _ => None,
    });
    let found = found(&site, None).await.unwrap();
    assert_eq!(found.audience, site.origin());
    assert_eq!(
        site.requests(),
        [
            "GET /.well-known/oauth-protected-resource/mcp",
            "GET /.well-known/oauth-protected-resource",
            "GET /.well-known/oauth-authorization-server",
            "GET /.well-known/openid-configuration",
        ]
    );
}

// A1
#[tokio::test]
async fn a_server_of_2025_03_26_is_its_own_authorization_server() {
    for slash in ["", "/"] {
        let site = Site::with_json_pages(move |origin, path| match path {
            "/.well-known/oauth-authorization-server" => {
                Some(server(&format!("{origin}{slash}"), &format!("{origin}/oauth")).to_string())
            }
            _ => None,
        });
        let found = found(&site, None).await.unwrap();
        assert_eq!(found.resource, None);
        assert_eq!(found.audience, format!("{}/mcp", site.origin()));
        assert_eq!(found.server.issuer, format!("{}{slash}", site.origin()));
        assert_eq!(found.server.token_endpoint, site.url("/oauth/token"));
    }
}

// A1 B75
#[tokio::test]
async fn server_without_metadata_gets_the_default_endpoints() {
    let site = Site::with_json_pages(|_, _| None);
    let found = found(&site, None).await.unwrap();
    assert_eq!(found.server.source, MetadataSource::Assumed);
    assert_eq!(found.server.issuer, site.origin());
    assert_eq!(found.server.authorization_endpoint, Some(site.url("/authorize")));
    assert_eq!(found.server.token_endpoint, site.url("/token"));
    assert_eq!(found.server.registration_endpoint, Some(site.url("/register")));
    assert_eq!(found.tried.len(), 4);
}

// A1 H16
#[tokio::test]
async fn endpoints_are_not_assumed_for_a_server_that_fails() {
    for code in [500, 503, 429] {
        let site = Site::open(move |_, _| site::status_response(code, &[]));
        let error = error(&site).await;
        assert!(matches!(&error, DiscoverError::NotFound { tried } if tried.len() == 2), "{error}");
        // Its own authorization server metadata, the older fallback, is not requested either.
        assert_eq!(site.requests().len(), 2);
    }
    let page = Site::open(|_, _| site::typed_response("text/html; charset=utf-8", "<html>"));
    let text = error(&page).await.to_string();
    assert!(text.contains("the response is not JSON but `text/html; charset=utf-8`"), "{text}");
}

// A1 B68
#[tokio::test]
async fn endpoints_are_not_assumed_for_a_server_that_names_metadata() {
    let site = Site::with_json_pages(|_, _| None);
    let asked = naming(&format!("{}/gone", site.origin()));
    let error = found(&site, Some(&asked)).await.unwrap_err();
    let missing = "status 404".to_owned();
    let places = [
        "/gone",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
    ];
    assert_eq!(paths(error.attempts()), places.map(|place| (place.to_owned(), missing.clone())));
}

// A1
#[tokio::test]
async fn configured_metadata_url_takes_precedence_over_the_server() {
    let idp = Site::with_json_pages(|origin, path| {
        (path == "/meta?v=1").then(|| server(&format!("{origin}/realm"), origin).to_string())
    });
    let site = Site::with_json_pages(|origin, path| match path {
        "/.well-known/oauth-protected-resource/mcp" => {
            Some(resource(&format!("{origin}/mcp"), "https://never-asked.example"))
        }
        _ => None,
    });
    let url = site.url("/mcp");
    let web = Web::new(&Network::default(), &url);
    let found = discover_for_browser(&web, &url, None, Some(&idp.url("/meta?v=1"))).await.unwrap();
    assert_eq!(found.server.issuer, format!("{}/realm", idp.origin()));
    assert_eq!(found.audience, url.as_str());
    assert_eq!(idp.requests(), ["GET /meta?v=1"]);
}

// A1
#[tokio::test]
async fn metadata_of_a_websocket_server_is_fetched_over_http() {
    let site = Site::with_json_pages(|_, _| None);
    let url = parse(&site.url("/mcp?key=SECRET").as_str().replace("http", "ws"));
    let found = discover_for_browser(&Web::new(&Network::default(), &url), &url, None, None).await.unwrap();
    assert_eq!(found.audience, site.url("/mcp").as_str());
    assert!(!found.tried.is_empty());
    assert!(found.tried.iter().all(|tried| !tried.to_string().contains("SECRET")));
}

// A1
#[tokio::test]
async fn metadata_of_a_configured_issuer_is_fetched() {
    let site = Site::with_json_pages(|origin, path| {
        let mut described = server(origin, origin);
        // Identity providers need not offer PKCE: the protocol demands it only of MCP authorization servers.
        described["code_challenge_methods_supported"] = Value::Null;
        (path == "/.well-known/openid-configuration").then(|| described.to_string())
    });
    let web = Web::new(&Network::default(), &site.url("/mcp"));
    let found = fetch_issuer_metadata(&web, &site.origin()).await.unwrap();
    assert_eq!(found.issuer, site.origin());
    let error = fetch_issuer_metadata(&web, "not an issuer").await.unwrap_err().to_string();
    assert!(error.contains("`not an issuer` is not a usable URL"), "{error}");
}
