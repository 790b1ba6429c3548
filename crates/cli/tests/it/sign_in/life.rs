//! One sign-in from beginning to end, and what every command says of it.

use mcparley_cli::exit;
use mcparley_testkit::AuthServer;
use serde_json::{Value, json};

use super::person::{health, standing, windows, world_with};
use crate::world::Output;

const HINT: &str = "sign in with `mcparley login one`";

fn parsed(done: &Output) -> Value {
    serde_json::from_str(&done.out).unwrap_or_else(|error| panic!("{error}: {done:?}"))
}

// A4 A5 A8 U2 U3: every command says that somebody has to sign in, and how.
#[test]
fn every_command_reports_a_server_that_needs_a_sign_in() {
    let server = AuthServer::start(&[]);
    let world = world_with(server.url());
    let list = world.mcparley(&["list"]);
    assert!(list.out.contains(" - needs sign-in\n") && list.out.contains(HINT), "{list:?}");
    let needs_auth = i32::from(exit::NEEDS_AUTH.number);
    for args in [&["tools", "one"][..], &["call", "one", "echo", "message=hi"], &["wait-ready", "one"]] {
        let done = world.mcparley(args);
        assert_eq!(done.code, needs_auth, "{args:?}: {done:?}");
        assert!(done.err.contains(HINT), "{args:?}: {done:?}");
    }
    let doctor = world.mcparley(&["doctor"]);
    assert!(doctor.out.contains(HINT), "{doctor:?}");
    let refused = world.json(&["call", "one", "echo", "message=hi"]);
    assert_eq!(refused["error"]["code"], exit::NEEDS_AUTH.name);
    assert_eq!(refused["pendingAuth"], json!([{ "server": "one", "command": "mcparley login one" }]));
    assert_eq!(standing(&world, "one")["is"], "signed-out");
    let get = world.mcparley(&["get", "one"]);
    assert!(get.out.contains("  sign-in: not signed in: `mcparley login one`\n"), "{get:?}");
    assert_eq!(server.stats()["requests"]["authorize"], Value::Null, "nobody has begun to sign in");
}

// A1 A2 A3 A8 U2: login → connected → the token ends → the next call renews → logout gives back → wanted again.
#[test]
fn a_sign_in_lasts_until_logout() {
    let server = AuthServer::start(&["scope:read"]);
    let world = world_with(server.url());
    assert_eq!(health(&world, "one"), "needs-auth");
    let login = world.mcparley(&["login", "one", "--wait"]);
    assert_eq!((login.code, login.out.contains("one: signed in, connected (")), (0, true), "{login:?}");
    let page = windows(&world);
    assert_eq!(page.len(), 1);
    assert!(login.err.contains(&page[0]), "the whole address is shown: {login:?}");
    assert_eq!(health(&world, "one"), "connected");

    let again = world.mcparley(&["login", "one"]);
    assert!(again.code == 0 && again.out.contains("no sign-in needed"), "{again:?}");
    assert_eq!(windows(&world).len(), 1, "nobody was asked again");

    server.expire_access_tokens();
    assert_eq!(world.ok(&["call", "one", "echo", "message=hi"]), "hi\n");
    assert_eq!(server.stats()["grants"]["refresh_token"], 1);

    let status = standing(&world, "one");
    assert_eq!(status["is"], "signed-in");
    assert_eq!(status["issuer"], server.issuer());
    assert_eq!((&status["client"], &status["renews"]), (&json!("registered"), &json!(true)));
    assert_eq!(status["scopes"], json!(["read"]));
    assert_eq!(world.json(&["get", "one"])["signIns"], json!([status]));
    let shown = world.ok(&["auth", "status"]);
    assert!(
        shown.starts_with("one: signed in, for ") && shown.contains(" min, renewed automatically\n"),
        "{shown}"
    );

    let logout = world.json(&["logout", "one"]);
    let revoked = json!({ "is": "revoked" });
    assert_eq!(
        logout["servers"],
        json!([{ "server": "one", "is": "signed-out", "refreshToken": revoked, "accessToken": revoked }])
    );
    assert_eq!(server.stats()["requests"]["revoke"], 2);
    assert_eq!(health(&world, "one"), "needs-auth");
    assert_eq!(world.json(&["logout", "one"])["servers"], json!([{ "server": "one", "is": "was-not" }]));
    assert_eq!(world.json(&["logout", "--all"])["servers"], json!([]));
}

// A3: what is told when tokens cannot be given back.
#[test]
fn logout_deletes_tokens_even_without_revocation() {
    let server = AuthServer::start(&["revoke-url:absent"]);
    let world = world_with(server.url());
    world.ok(&["login", "one", "--wait"]);
    let logout = world.mcparley(&["logout", "--all"]);
    assert!(logout.out.contains("one: signed out"), "{logout:?}");
    assert!(
        logout.err.contains("does not support revocation, so it stays valid until it expires"),
        "{logout:?}"
    );
    assert_eq!(health(&world, "one"), "needs-auth");
}

// K4: a call that lacks rights names the remedy, and the next sign-in asks for what was wanted besides.
#[test]
fn a_sign_in_with_more_rights_is_asked_for_when_a_tool_wants_them() {
    let server = AuthServer::start(&["scope:read", "step-up:write"]);
    let world = world_with(server.url());
    world.ok(&["login", "one", "--wait"]);
    let refused = world.mcparley(&["call", "one", "echo", "message=hi"]);
    assert_eq!(refused.code, i32::from(exit::NEEDS_AUTH.number), "{refused:?}");
    assert!(refused.err.contains("hint: run `mcparley login one` to grant them"), "{refused:?}");
    assert_eq!(world.json(&["call", "one", "echo", "message=hi"])["pendingAuth"][0]["server"], "one");
    let wanted = &standing(&world, "one")["wanted"];
    assert_eq!(*wanted, json!(["write"]));
    assert_eq!(parsed(&world.mcparley(&["login", "--json"]))["servers"][0]["is"], "needs-auth");
    world.ok(&["login", "one", "--wait"]);
    assert_eq!(world.ok(&["call", "one", "echo", "message=hi"]), "hi\n");
    assert_eq!(standing(&world, "one")["scopes"], json!(["read", "write"]));
}

// A2: what is removed is signed out of, unless another entry of that name needs it.
#[test]
fn removing_a_server_signs_out_of_it() {
    let server = AuthServer::start(&[]);
    let world = world_with(server.url());
    world.ok(&["login", "one", "--wait"]);
    world.ok(&["add", "-s", "local", "one", server.url()]);
    let shadow = world.json(&["remove", "-s", "local", "one"]);
    assert_eq!((&shadow["removed"], &shadow["signedOut"]), (&json!("one"), &Value::Null));
    assert_eq!(health(&world, "one"), "connected");
    let removed = world.mcparley(&["remove", "one"]);
    assert!(removed.out.contains("one: signed out"), "{removed:?}");
    assert_eq!(server.stats()["requests"]["revoke"], 2);
    world.ok(&["add", "-s", "user", "one", server.url()]);
    assert_eq!(health(&world, "one"), "needs-auth");
}
