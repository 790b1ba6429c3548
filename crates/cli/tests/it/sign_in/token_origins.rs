//! An authorization server whose tokens come from another site: people and programs are told of it.

use mcparley_testkit::{AuthServer, TlsSite};
use serde_json::json;

use super::person::{Waiting, last_address, standing, world};

// B71
#[test]
fn a_foreign_token_endpoint_is_shown_before_and_after_the_sign_in() {
    let server = AuthServer::start(&["iss:absent"]);
    let issuer = TlsSite::with_foreign_endpoints(server.issuer());
    let mut world = world();
    world.write("authority.pem", issuer.authority());
    world.set("NODE_EXTRA_CA_CERTS", world.root.join("authority.pem"));
    let oauth = json!({ "authServerMetadataUrl": format!("{}/metadata", issuer.origin()) });
    let entries = json!({ "mcpServers": { "one": { "type": "http", "url": server.url(), "oauth": oauth } } });
    world.write("home/.claude.json", &entries.to_string());

    let login = world.mcparley(&["login", "one", "--wait"]);
    assert_eq!(login.code, 0, "{login:?}");
    let told =
        format!("The token endpoint of this authorization server is on another site: {}", server.issuer());
    assert!(login.err.contains(&told), "{login:?}");
    assert_eq!(standing(&world, "one")["tokenOrigin"], server.issuer());
    let status = world.ok(&["auth", "status"]);
    assert!(status.contains(&format!("token endpoint: {}", server.issuer())), "{status}");

    let mut login = Waiting::start(&world, &["login", "one", "--no-browser", "--force"]);
    let pending = login.pending();
    assert_eq!(pending["tokenOrigin"], server.issuer());
    login.paste(&last_address(&pending["url"]));
    assert_eq!(login.line()["servers"][0]["is"], "signed-in");
    assert_eq!(login.end().code, 0);
}
