//! Where descriptions are looked for, and what follows when there are none.

use super::*;
use crate::web::site;

// A1
#[tokio::test]
async fn the_place_that_the_server_names_is_asked_first_and_alone() {
    let site = Site::of(|origin, path| match path {
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
    assert_eq!(found.server.found, Found::Described);
    assert_eq!(
        site.seen(),
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
async fn without_a_word_of_the_server_the_well_known_places_are_asked_in_order() {
    let site = Site::of(|origin, path| match path {
        "/.well-known/oauth-protected-resource" => Some(resource(origin, origin)),
        "/.well-known/openid-configuration" => Some(server(origin, origin).to_string()),
        _ => None,
    });
    let found = found(&site, None).await.unwrap();
    assert_eq!(found.audience, site.origin());
    assert_eq!(
        site.seen(),
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
        let site = Site::of(move |origin, path| match path {
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
async fn a_server_that_describes_nothing_has_its_endpoints_where_they_used_to_be() {
    let site = Site::of(|_, _| None);
    let found = found(&site, None).await.unwrap();
    assert_eq!(found.server.found, Found::Assumed);
    assert_eq!(found.server.issuer, site.origin());
    assert_eq!(found.server.authorization_endpoint, Some(site.url("/authorize")));
    assert_eq!(found.server.token_endpoint, site.url("/token"));
    assert_eq!(found.server.registration_endpoint, Some(site.url("/register")));
    assert_eq!(found.tried.len(), 4);
}

// A1 H16
#[tokio::test]
async fn nothing_is_assumed_about_a_server_that_only_cannot_answer() {
    for code in [500, 503, 429] {
        let site = Site::open(move |_, _| site::status(code, &[]));
        let error = error(&site).await;
        assert!(matches!(&error, DiscoverError::Nothing { tried } if tried.len() == 2), "{error}");
        // Not even its own description, which is the older way.
        assert_eq!(site.seen().len(), 2);
    }
    let page = Site::open(|_, _| site::page("text/html; charset=utf-8", "<html>"));
    let text = error(&page).await.to_string();
    assert!(text.contains("its answer is no JSON but `text/html; charset=utf-8`"), "{text}");
}

// A1 B68
#[tokio::test]
async fn nothing_is_assumed_about_a_server_that_names_a_description() {
    let site = Site::of(|_, _| None);
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
    assert_eq!(paths(error.tried()), places.map(|place| (place.to_owned(), missing.clone())));
}

// A1
#[tokio::test]
async fn a_wish_of_the_configuration_wins_over_what_the_server_says() {
    let idp = Site::of(|origin, path| {
        (path == "/meta?v=1").then(|| server(&format!("{origin}/realm"), origin).to_string())
    });
    let site = Site::of(|origin, path| match path {
        "/.well-known/oauth-protected-resource/mcp" => {
            Some(resource(&format!("{origin}/mcp"), "https://never-asked.example"))
        }
        _ => None,
    });
    let url = site.url("/mcp");
    let web = Web::new(&Network::default(), &url);
    let found = discover(&web, &url, None, Some(&idp.url("/meta?v=1"))).await.unwrap();
    assert_eq!(found.server.issuer, format!("{}/realm", idp.origin()));
    assert_eq!(found.audience, url.as_str());
    assert_eq!(idp.seen(), ["GET /meta?v=1"]);
}

// A1
#[tokio::test]
async fn a_server_behind_a_socket_is_described_over_http() {
    let site = Site::of(|_, _| None);
    let url = parse(&site.url("/mcp?key=SECRET").as_str().replace("http", "ws"));
    let found = discover(&Web::new(&Network::default(), &url), &url, None, None).await.unwrap();
    assert_eq!(found.audience, site.url("/mcp").as_str());
    assert!(!found.tried.is_empty());
    assert!(found.tried.iter().all(|tried| !tried.to_string().contains("SECRET")));
}

// A1
#[tokio::test]
async fn an_issuer_that_is_configured_is_described_by_itself() {
    let site = Site::of(|origin, path| {
        let mut described = server(origin, origin);
        // Identity providers need not have it: no person is sent there by us.
        described["code_challenge_methods_supported"] = Value::Null;
        (path == "/.well-known/openid-configuration").then(|| described.to_string())
    });
    let web = Web::new(&Network::default(), &site.url("/mcp"));
    let found = describe(&web, &site.origin()).await.unwrap();
    assert_eq!(found.issuer, site.origin());
    let error = describe(&web, "not an issuer").await.unwrap_err().to_string();
    assert!(error.contains("`not an issuer` is no address that can be asked"), "{error}");
}
