//! Servers that take only a token which their operator gives out: the header that sends it is named wherever they are told of.

use mcparley_cli::exit;
use mcparley_testkit::AuthServer;

use super::person::{health, world_with};

/// A server that wants a token and says nowhere how to get one.
const BARE: [&str; 4] = ["challenge:bare", "prm-body:none", "metadata-body:none", "register:absent"];

// A1 U3
#[test]
fn a_header_is_suggested_for_a_server_without_oauth_metadata() {
    let server = AuthServer::start(&BARE);
    let mut world = world_with(server.url());
    assert_eq!(health(&world, "one"), "needs-auth");
    let command =
        format!("mcparley add --force -s user one {} -H 'Authorization: Bearer ${{TOKEN}}'", server.url());
    let shown = world.ok(&["list"]);
    assert!(shown.contains(&format!("send it as a header: `{command}`")), "{shown}");
    assert!(shown.contains("otherwise try `mcparley login one`"), "{shown}");
    let report = world.json(&["list"]);
    let hint = report["servers"][0]["health"]["hint"].as_str().unwrap();
    assert!(hint.contains(&command), "{hint}");
    let doctor = world.mcparley(&["doctor", "one"]);
    let header = r#"`"headers": {"Authorization": "Bearer ${TOKEN}"}` in "#;
    assert!(doctor.out.contains(header), "{doctor:?}");
    let added = world.mcparley_as_given(&["add", "-s", "user", "two", server.url()]);
    assert!(added.err.contains("send it as a header: `mcparley add --force -s user two "), "{added:?}");
    let login = world.mcparley(&["login", "one", "--wait"]);
    assert_eq!(login.code, i32::from(exit::CONFIG.number), "{login:?}");
    assert!(login.err.contains("offers no sign-in") && login.err.contains("as a header"), "{login:?}");

    // The command that is named works: the header is sent, and nobody signs in any more.
    let words = ["add", "--force", "-s", "user", "one", server.url(), "-H", "Authorization: Bearer ${TOKEN}"];
    world.ok(&words);
    world.set("TOKEN", "unknown");
    assert_eq!(health(&world, "one"), "failed", "the server does not know this token");
}

// A1
#[test]
fn secret_in_an_address_is_not_in_the_hint() {
    let server = AuthServer::start(&BARE);
    let world = world_with(&format!("{}?api_key=canary-in-address", server.url()));
    let shown = world.ok(&["list"]);
    assert!(shown.contains("`mcparley add --force -s user one URL -H "), "{shown}");
    assert!(!shown.contains("canary-in-address"), "{shown}");
}

// A1
#[test]
fn no_header_is_suggested_for_a_server_with_oauth_metadata() {
    // Its refusal is bare, but it has metadata.
    let server = AuthServer::start(&["challenge:bare"]);
    let world = world_with(server.url());
    let shown = world.ok(&["list"]);
    assert!(shown.contains("hint: sign in with `mcparley login one`\n"), "{shown}");
    assert!(!shown.contains("header"), "{shown}");
}
