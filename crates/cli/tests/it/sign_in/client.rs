//! Clients that somebody has registered: their secrets and keys, and programs that sign in without anybody.

use std::os::unix::fs::PermissionsExt;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use mcparley_cli::exit;
use mcparley_testkit::{AuthServer, STATIC_CLIENT, STATIC_SECRET};
use serde_json::json;

use super::person::{health, standing, windows, world};
use crate::world::World;

/// Every file of the world that holds this text.
pub(super) fn files_with(world: &World, text: &str) -> Vec<String> {
    let holds = |file: &String| {
        let bytes = std::fs::read(world.root.join(file)).unwrap();
        bytes.windows(text.len()).any(|part| part == text.as_bytes())
    };
    world.files().into_iter().filter(holds).collect()
}

fn adding<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let fixed = ["add", "-s", "user", "one", url, "--client-id", STATIC_CLIENT, "--client-secret"];
    [&fixed[..], more].concat()
}

// A2 U1: by variable or by pipe, and never into a file in clear.
#[test]
fn the_secret_of_a_client_is_kept_in_the_vault() {
    let server = AuthServer::start(&[]);
    for by_variable in [true, false] {
        let mut world = world();
        if by_variable {
            world.set("MCP_CLIENT_SECRET", STATIC_SECRET);
        }
        let args = adding(server.url(), &["--callback-port", "1"]);
        let done =
            if by_variable { world.mcparley(&args) } else { world.fed(&args, &format!("{STATIC_SECRET}\n")) };
        assert_eq!(done.code, 0, "{done:?}");
        assert!(done.out.contains("Stored the client secret in the vault"), "{done:?}");
        let entry = &world.read_json("home/.claude.json")["mcpServers"]["one"]["oauth"];
        assert_eq!(*entry, json!({ "clientId": STATIC_CLIENT, "callbackPort": 1 }));
        assert_eq!(files_with(&world, STATIC_SECRET), Vec::<String>::new());
        let secrets = world.root.join("home/.local/share/mcparley/secrets");
        assert_eq!(std::fs::metadata(&secrets).unwrap().permissions().mode() & 0o777, 0o700);
    }
}

// A2 U2: as `add` does, by variable or by pipe.
#[test]
fn add_json_keeps_the_secret_of_a_client_in_the_vault() {
    let server = AuthServer::start(&[]);
    let entry = json!({ "type": "http", "url": server.url(), "oauth": { "clientId": STATIC_CLIENT } });
    let entry = entry.to_string();
    let args = ["add-json", "-s", "user", "--client-secret", "one", &entry];
    for by_variable in [true, false] {
        let mut world = world();
        if by_variable {
            world.set("MCP_CLIENT_SECRET", STATIC_SECRET);
        }
        let done =
            if by_variable { world.mcparley(&args) } else { world.fed(&args, &format!("{STATIC_SECRET}\n")) };
        assert_eq!(done.code, 0, "{done:?}");
        assert!(done.out.contains("Stored the client secret in the vault"), "{done:?}");
        let oauth = &world.read_json("home/.claude.json")["mcpServers"]["one"]["oauth"];
        assert_eq!(*oauth, json!({ "clientId": STATIC_CLIENT }));
        assert_eq!(files_with(&world, STATIC_SECRET), Vec::<String>::new());
        let secrets = world.root.join("home/.local/share/mcparley/secrets");
        assert_eq!(std::fs::metadata(&secrets).unwrap().permissions().mode() & 0o777, 0o700);
    }
    let world = world();
    let done = world.mcparley(&args);
    assert_eq!(done.code, i32::from(exit::USAGE.number), "no secret was given: {done:?}");
}

// U1: what would be dropped without a word elsewhere is refused.
#[test]
fn a_secret_without_a_client_or_without_a_value_is_refused() {
    let world = world();
    let url = "https://h.example/mcp";
    for args in [
        &["add", "one", url, "--client-secret"][..],
        &["add", "one", url, "--client-id", "us", "--client-secret"],
        &["add", "one", url, "--assertion-file", "x"],
        &["add", "--grant", "client_credentials", "one", "command"],
        &["add", "--oauth-scopes", "a b", "one", "command"],
        &["add", "one", url, "--callback-port", "0"],
    ] {
        let done = world.mcparley(args);
        assert_eq!(done.code, i32::from(exit::USAGE.number), "{args:?}: {done:?}");
    }
    assert_eq!(world.files(), Vec::<String>::new());
}

// U1: every option stands in the entry as the file has it.
#[test]
fn oauth_options_of_add_are_written_to_the_entry() {
    let world = world();
    world.ok(&[
        "add",
        "-s",
        "user",
        "one",
        "https://h.example/mcp",
        "--grant",
        "jwt-bearer",
        "--assertion-file",
        "/run/token",
        "--client-id",
        "us",
        "--private-key-file",
        "key.pem",
        "--oauth-scopes",
        "a  b",
    ]);
    world.ok(&[
        "add",
        "-s",
        "user",
        "two",
        "https://h.example/two",
        "--xaa",
        "--client-metadata-url",
        "https://us.example/c",
    ]);
    let servers = &world.read_json("home/.claude.json")["mcpServers"];
    assert_eq!(
        servers["one"]["oauth"],
        json!({
            "clientId": "us", "grant": "jwt-bearer", "privateKeyFile": "key.pem", "assertionFile": "/run/token",
            "scopes": ["a", "b"],
        })
    );
    assert_eq!(servers["two"]["oauth"], json!({ "clientMetadataUrl": "https://us.example/c", "xaa": true }));
}

// A8: nobody is asked, and nobody is needed again when the token ends.
#[test]
fn a_program_signs_in_by_itself() {
    let server = AuthServer::start(&[]);
    let mut world = world();
    world.set("MCP_CLIENT_SECRET", STATIC_SECRET);
    world.ok(&adding(server.url(), &["--grant", "client_credentials"]));
    assert_eq!(health(&world, "one"), "connected");
    let login = world.mcparley(&["login", "one"]);
    assert!(login.code == 0 && login.out.contains("no sign-in needed"), "{login:?}");
    server.expire_access_tokens();
    assert_eq!(world.ok(&["call", "one", "echo", "message=hi"]), "hi\n");
    let status = standing(&world, "one");
    assert_eq!((&status["client"], &status["takesAPerson"]), (&json!("configured"), &json!(false)));
    assert!(windows(&world).is_empty());
    assert_eq!(world.json(&["logout", "one"])["servers"][0]["is"], "signed-out");
    // Its secret is still there; it goes with the entry.
    assert_eq!(health(&world, "one"), "connected");
    world.ok(&["remove", "one"]);
    world.ok(&[
        "add",
        "-s",
        "user",
        "one",
        server.url(),
        "--client-id",
        STATIC_CLIENT,
        "--grant",
        "client_credentials",
    ]);
    assert_ne!(health(&world, "one"), "connected");
}

// A8: workload identity; what the platform writes to the file later is used later.
#[test]
fn a_program_signs_in_with_a_platform_assertion() {
    let server = AuthServer::start(&[]);
    let world = world();
    let add =
        ["add", "-s", "user", "one", server.url(), "--grant", "jwt-bearer", "--assertion-file", "token"];
    world.ok(&add);
    let missing = world.mcparley(&["list"]);
    assert!(missing.out.contains("`home/project/token` with the assertion is missing"), "{missing:?}");
    for subject in ["first", "second"] {
        let claims = json!({ "sub": subject, "aud": server.issuer(), "exp": u32::MAX }).to_string();
        let assertion = format!("{}.{}.signed", BASE64.encode("{}"), BASE64.encode(claims));
        world.write("home/project/token", &assertion);
        server.expire_access_tokens();
        assert_eq!(world.ok(&["call", "one", "echo", "message=hi"]), "hi\n");
        assert_eq!(server.stats()["last"]["token"]["assertion"], assertion);
    }
}
