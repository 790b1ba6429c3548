//! Sign-ins that cannot be, or do not succeed: what is said, and with which exit code.

use mcparley_cli::exit;
use mcparley_testkit::{AuthServer, ScriptedStdio};
use serde_json::json;

use super::person::{health, world, world_with};
use crate::world::World;

// A8 U3
#[test]
fn servers_without_a_sign_in_are_refused_with_the_reason() {
    let local = ScriptedStdio::new(&[]);
    let world = world();
    let servers = json!({ "mcpServers": {
        "local": { "command": local.program, "args": local.args },
        "header": { "url": "http://127.0.0.1:1/mcp", "headers": { "Authorization": "Bearer x" } },
    }});
    world.write("home/.claude.json", &servers.to_string());
    for (name, why) in [
        ("local", "error: server `local` has no sign-in: it runs on this machine\n"),
        (
            "header",
            "error: server `header` has no sign-in: its entry has an `Authorization` header of its own\n",
        ),
    ] {
        for command in ["login", "logout"] {
            let done = world.mcparley(&[command, name]);
            assert_eq!(done.code, i32::from(exit::USAGE.number), "{done:?}");
            assert!(done.err.starts_with(why) && done.err.contains("hint: "), "{done:?}");
        }
    }
    assert_eq!(world.mcparley(&["login", "nobody"]).code, i32::from(exit::NOT_FOUND.number));
    assert_eq!(world.mcparley(&["login"]).out, "No servers to sign in to.\n");
    assert_eq!(world.files(), ["home/.claude.json"], "nothing is made for nobody");
}

// A2 A4: who needs no sign-in keeps nothing.
#[test]
fn no_file_is_created_without_a_sign_in() {
    let world = World::new();
    world.ok(&["tools"]);
    world.ok(&["call", "mcparley", "echo", "message=hi"]);
    world.ok(&["auth", "status"]);
    world.ok(&["logout", "--all"]);
    assert_eq!(world.files(), Vec::<String>::new());
}

// A1 U3: each kind of failure has its code, and nothing is kept of it.
#[test]
fn a_failed_sign_in_has_the_exit_code_of_its_cause() {
    for (lies, code, word) in [
        (&["authorize:access_denied"][..], exit::NEEDS_AUTH, "refused"),
        (&["register:absent"], exit::CONFIG, "`oauth.clientId`"),
        (&["metadata-body:none", "prm-body:none"], exit::UNREACHABLE, "cannot find the authorization server"),
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
fn the_storage_of_the_vault_key_is_shown_and_validated() {
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
