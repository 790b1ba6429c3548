//! The whole of it against a certified OpenID provider in front of a real MCP server.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use mcparley_testkit::{Browser, OpenIdProvider, ProtectedFastMcp};
use serde_json::{Value, json};

use super::person::{Waiting, health, last_address, standing, windows, world, world_with};
use crate::world::{World, wait_for};

/// Who the server says we are.
fn whoami(world: &World) -> Value {
    serde_json::from_str(&world.ok(&["call", "one", "whoami"])).unwrap()
}

/// Waits until the token that is kept has ended.
fn token_ends(world: &World) {
    let end = standing(world, "one")["expiresAt"].as_u64().unwrap();
    let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    wait_for("the end of the token", Duration::from_secs(30), || now() > end);
}

// A1 A2 A3 A8: add → wanted → login → connected → the token ends → the next call renews → logout gives back → wanted.
#[test]
fn fleet_a_sign_in_at_a_real_provider_lives_and_ends() {
    let provider = OpenIdProvider::start(&["--access-ttl", "2"]);
    let world = world_with(provider.url());
    assert_eq!(health(&world, "one"), "needs-auth");
    let login = world.mcparley(&["login", "one", "--wait"]);
    assert_eq!((login.code, login.out.contains("signed in, connected (2 tools)")), (0, true), "{login:?}");
    assert_eq!((windows(&world).len(), &provider.stats()["registrations"]), (1, &json!(1)));
    assert_eq!(health(&world, "one"), "connected");
    assert_eq!(whoami(&world)["subject"], "canary-person");

    token_ends(&world);
    let renewals = provider.stats()["grants"]["refresh_token"].as_u64().unwrap_or_default();
    assert_eq!(whoami(&world)["subject"], "canary-person");
    let stats = provider.stats();
    assert!(stats["grants"]["refresh_token"].as_u64() > Some(renewals), "{stats}");
    assert_eq!(stats["errors"], json!({}), "{stats}");
    assert_eq!(stats["grants"]["authorization_code"], 1, "nobody was asked again: {stats}");

    let logout = world.json(&["logout", "one"]);
    assert_eq!(logout["servers"][0]["refreshToken"]["is"], "revoked", "{logout}");
    assert!(provider.stats()["revocations"].as_u64() >= Some(1), "{}", provider.stats());
    assert_eq!(health(&world, "one"), "needs-auth");
}

// A8
#[test]
fn fleet_a_pasted_address_signs_in_at_a_real_provider() {
    let provider = OpenIdProvider::start(&[]);
    let world = world_with(provider.url());
    let mut login = Waiting::start(&world, &["login", "one", "--no-browser"]);
    let page = login.pending()["url"].clone();
    login.paste(&last_address(&page));
    assert_eq!(login.line()["servers"][0], json!({ "server": "one", "is": "signed-in", "tools": 2 }));
    assert_eq!(login.end().code, 0);
    assert_eq!(whoami(&world)["subject"], "canary-person");
}

// A8: RFC 8628.
#[test]
fn fleet_another_device_signs_in_at_a_real_provider() {
    let provider = OpenIdProvider::start(&[]);
    let world = world();
    let id = provider.clients()["device"]["client_id"].as_str().unwrap();
    world.ok(&["add", "-s", "user", "one", provider.url(), "--client-id", id]);
    let mut login = Waiting::start(&world, &["login", "one", "--device"]);
    let pending = login.pending();
    assert!(pending["userCode"].is_string(), "{pending}");
    let approved = Browser::new().open(pending["url"].as_str().unwrap()).json();
    assert_eq!(approved["approved"], true, "{pending}");
    assert_eq!(login.line()["servers"][0]["is"], "signed-in");
    assert_eq!(login.end().code, 0);
    assert_eq!(whoami(&world)["client"], id);
}

// A8: the secret by a pipe, the key in a file; nobody is asked, neither now nor when the token has ended.
#[test]
fn fleet_a_program_signs_in_by_itself_at_a_real_provider() {
    let provider = OpenIdProvider::start(&["--access-ttl", "2"]);
    let clients = provider.clients();
    let by_secret = world();
    let id = clients["secret"]["client_id"].as_str().unwrap();
    let args = ["add", "-s", "user", "one", provider.url(), "--client-id", id, "--client-secret", "--grant"];
    let secret = clients["secret"]["client_secret"].as_str().unwrap();
    let added = by_secret.fed(&[&args[..], &["client_credentials"]].concat(), secret);
    assert_eq!(added.code, 0, "{added:?}");

    let by_key = world();
    let id = clients["key"]["client_id"].as_str().unwrap();
    by_key.write("home/project/key.pem", clients["key"]["private_key_pem"].as_str().unwrap());
    let key = by_key.root.join("home/project/key.pem");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let args =
        ["add", "-s", "user", "one", provider.url(), "--client-id", id, "--private-key-file", "key.pem"];
    by_key.ok(&[&args[..], &["--grant", "client_credentials"]].concat());

    for (world, client) in [(&by_secret, "machine-by-secret"), (&by_key, "machine-by-key")] {
        assert_eq!(health(world, "one"), "connected", "{client}");
        assert_eq!(whoami(world)["client"], client);
        token_ends(world);
        assert_eq!(whoami(world)["client"], client);
        assert!(windows(world).is_empty());
    }
    let stats = provider.stats();
    assert_eq!((&stats["errors"], &stats["interactions"]), (&json!({}), &json!(0)), "{stats}");
}

// A6: three servers, one window.
#[test]
fn fleet_three_servers_that_ask_one_identity_provider_need_one_sign_in() {
    let provider = OpenIdProvider::start(&["--xaa", "3"]);
    let mut world = world();
    world.set("MCPARLEY_ENABLE_XAA", "1");
    let client = &provider.clients()["xaa"];
    let (id, secret) = (client["client_id"].as_str().unwrap(), client["client_secret"].as_str().unwrap());
    for (at, name) in ["one", "two", "three"].into_iter().enumerate() {
        let url = provider.other_servers()[at]["mcp"].as_str().unwrap();
        let args = ["add", "-s", "user", name, url, "--xaa", "--client-id", id, "--client-secret"];
        assert_eq!(world.fed(&args, secret).code, 0);
    }
    let us = provider.clients()["idp"]["client_id"].as_str().unwrap();
    world.ok(&["auth", "idp", "setup", "--issuer", provider.issuer(), "--client-id", us]);
    let login = world.mcparley(&["login", "--wait"]);
    assert_eq!((login.code, login.out.matches("signed in, connected").count()), (0, 3), "{login:?}");
    assert_eq!(windows(&world).len(), 1);
    for name in ["one", "two", "three"] {
        assert_eq!(health(&world, name), "connected");
    }
    assert_eq!(provider.stats()["grants"]["authorization_code"], 1);
    for at in 0..3 {
        let stats = provider.other_server_stats(at);
        assert_eq!(stats["interactions"], 0, "{stats}");
        assert_eq!(stats["grants"]["urn:ietf:params:oauth:grant-type:jwt-bearer"], 1, "{stats}");
    }
    let status = world.json(&["auth", "idp", "status"]);
    assert_eq!(status["identityProvider"]["person"], "canary-person");
    assert_eq!(whoami(&world)["subject"], "canary-person");
}

/// The command that the hint of a failed command names.
fn hinted(error: &str) -> Vec<String> {
    let named = error.split('`').find(|text| text.starts_with("mcparley login")).unwrap_or_default();
    named.split(' ').skip(1).map(str::to_owned).collect()
}

// A1 K4: the call is refused → the hint names the command → the command registers anew → the call succeeds.
#[test]
fn fleet_step_up_by_the_printed_hint_works_at_a_real_provider() {
    let provider = OpenIdProvider::start(&[]);
    let world = world_with(provider.url());
    world.ok(&["login", "one", "--wait"]);
    let refused = world.mcparley(&["call", "one", "admin"]);
    assert_eq!(refused.code, 12, "{refused:?}");
    let mut hint = hinted(&refused.err);
    assert_eq!(hint, ["login", "one"], "{refused:?}");
    hint.push("--wait".to_owned());
    world.ok(&hint.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(world.ok(&["call", "one", "admin"]).trim(), r#"{"admin":true}"#);
    assert_eq!(provider.stats()["registrations"], 2, "{}", provider.stats());
}

// A1: FastMCP and the Python SDK under it refuse HTTP Basic alone.
#[test]
fn fleet_sign_in_at_a_fastmcp_server_works() {
    let server = ProtectedFastMcp::start();
    let world = world_with(server.url());
    let login = world.mcparley(&["login", "one", "--wait"]);
    assert_eq!((login.code, login.out.contains("signed in, connected (1 tools)")), (0, true), "{login:?}");
    assert_eq!(health(&world, "one"), "connected");
    world.ok(&["logout", "one"]);
    assert_eq!(health(&world, "one"), "needs-auth");
}
