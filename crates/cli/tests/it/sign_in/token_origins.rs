//! An authorization server whose tokens come from another site: people and programs are told of it.

use mcparley_testkit::{AuthServer, TlsSite};
use serde_json::json;

use super::person::{Waiting, last_address, standing, world};

// B71
#[test]
fn site_that_gives_the_tokens_is_told_before_and_after_the_sign_in() {
    let server = AuthServer::start(&["iss:absent"]);
    let endpoints = server.issuer().to_owned();
    let issuer = TlsSite::start(move |origin, _| {
        let description = json!({
            "issuer": origin,
            "authorization_endpoint": format!("{endpoints}/authorize"),
            "token_endpoint": format!("{endpoints}/token"),
            "registration_endpoint": format!("{endpoints}/register"),
            "code_challenge_methods_supported": ["S256"],
        });
        Some(description.to_string())
    });
    let mut world = world();
    world.write("authority.pem", issuer.authority());
    world.set("NODE_EXTRA_CA_CERTS", world.root.join("authority.pem"));
    let oauth = json!({ "authServerMetadataUrl": format!("{}/metadata", issuer.origin()) });
    let entries = json!({ "mcpServers": { "one": { "type": "http", "url": server.url(), "oauth": oauth } } });
    world.write("home/.claude.json", &entries.to_string());

    let login = world.mcparley(&["login", "one", "--wait"]);
    assert_eq!(login.code, 0, "{login:?}");
    let told =
        format!("Tokens come from another site, as its authorization server says: {}", server.issuer());
    assert!(login.err.contains(&told), "{login:?}");
    assert_eq!(standing(&world, "one")["tokenOrigin"], server.issuer());
    let status = world.ok(&["auth", "status"]);
    assert!(status.contains(&format!("tokens from another site: {}", server.issuer())), "{status}");

    let mut login = Waiting::start(&world, &["login", "one", "--no-browser", "--force"]);
    let pending = login.pending();
    assert_eq!(pending["tokenOrigin"], server.issuer());
    login.paste(&last_address(&pending["url"]));
    assert_eq!(login.line()["servers"][0]["is"], "signed-in");
    assert_eq!(login.end().code, 0);
}
