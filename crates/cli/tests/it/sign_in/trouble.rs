//! Sign-ins that cannot be, or do not succeed: what is said, and with which exit code.

use mcparley_cli::exit;
use mcparley_testkit::{AuthServer, Scripted};
use serde_json::json;

use super::person::{health, world, world_with};
use crate::world::World;

// A8 U3
#[test]
fn nobody_signs_in_to_what_knows_who_we_are() {
    let local = Scripted::stdio(&[]);
    let world = world();
    let servers = json!({ "mcpServers": {
        "local": { "command": local.program, "args": local.args },
        "header": { "url": "http://127.0.0.1:1/mcp", "headers": { "Authorization": "Bearer x" } },
    }});
    world.write("home/.claude.json", &servers.to_string());
    for (name, why) in [
        ("local", "error: nobody signs in to server `local`: it runs on this machine\n"),
        (
            "header",
            "error: nobody signs in to server `header`: its entry has an `Authorization` header of its own\n",
        ),
    ] {
        for command in ["login", "logout"] {
            let done = world.mcparley(&[command, name]);
            assert_eq!(done.code, i32::from(exit::USAGE.number), "{done:?}");
            assert!(done.err.starts_with(why) && done.err.contains("hint: "), "{done:?}");
        }
    }
    assert_eq!(world.mcparley(&["login", "nobody"]).code, i32::from(exit::NOT_FOUND.number));
    assert_eq!(world.mcparley(&["login"]).out, "There are no servers to sign in to.\n");
    assert_eq!(world.files(), ["home/.claude.json"], "nothing is made for nobody");
}

// A2 A4: who needs no sign-in keeps nothing.
#[test]
fn nothing_is_kept_where_nobody_signs_in() {
    let world = World::new();
    world.ok(&["tools"]);
    world.ok(&["call", "mcparley", "echo", "message=hi"]);
    world.ok(&["auth", "status"]);
    world.ok(&["logout", "--all"]);
    assert_eq!(world.files(), Vec::<String>::new());
}

// A1 U3: each kind of failure has its code, and nothing is kept of it.
#[test]
fn a_sign_in_that_fails_says_who_has_to_do_something() {
    for (lies, code, word) in [
        (&["authorize:access_denied"][..], exit::NEEDS_AUTH, "refused"),
        (&["register:absent"], exit::CONFIG, "`oauth.clientId`"),
        (&["metadata-body:none", "prm-body:none"], exit::UNREACHABLE, "who lets people in"),
        (&["token:500"], exit::UNREACHABLE, "500"),
        (&["device-url:absent"], exit::UNREACHABLE, "another device"),
    ] {
        let server = AuthServer::start(lies);
        let world = world_with(server.url());
        let way = if lies.contains(&"device-url:absent") { "--device" } else { "--wait" };
        let done = world.mcparley(&["login", "one", way]);
        assert_eq!(done.code, i32::from(code.number), "{lies:?}: {done:?}");
        assert!(done.err.contains(word), "{lies:?}: {done:?}");
        assert_eq!(health(&world, "one"), "needs-auth");
    }
}

// A2: a misspelt wish about secrets is not taken for another.
#[test]
fn where_the_key_is_kept_is_said_and_cannot_be_misspelt() {
    let server = AuthServer::start(&[]);
    let mut world = world_with(server.url());
    world.ok(&["login", "one", "--wait"]);
    let vault = &world.json(&["auth", "status"])["vault"];
    assert_eq!(vault["key"], "file", "{vault}");
    assert_eq!(vault["file"], "home/.local/share/mcparley/secrets/vault");
    world.set("MCPARLEY_VAULT_STORAGE", "files");
    let done = world.mcparley(&["auth", "status"]);
    assert_eq!(done.code, i32::from(exit::USAGE.number), "{done:?}");
    // Another key opens nothing, and nothing is lost by it.
    world.set("MCPARLEY_VAULT_STORAGE", "file");
    world.set("MCPARLEY_VAULT_KEY", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
    assert_eq!(world.json(&["auth", "status"])["servers"][0]["is"], "signed-out");
    assert_eq!(world.json(&["auth", "status"])["vault"]["key"], "environment");
}
