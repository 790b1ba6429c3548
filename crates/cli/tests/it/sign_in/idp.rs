//! The identity provider that knows the person: named by the user, and by nobody else (A6).

use mcparley_cli::exit;
use mcparley_testkit::AuthServer;
use serde_json::json;

use super::client::files_with;
use super::person::{windows, world};

const SETTINGS: &str = "home/.claude/settings.json";

// A6 C14: written where the user's settings are, with everything else left as it is.
#[test]
fn the_identity_provider_is_named_shown_and_forgotten() {
    let mut world = world();
    world.write(SETTINGS, "{\n  // mine\n  \"theme\": \"dark\"\n}\n");
    world.set("MCP_CLIENT_SECRET", "canary-of-the-idp");
    let setup =
        ["auth", "idp", "setup", "--issuer", "https://idp.example", "--client-id", "us", "--client-secret"];
    let done = world.mcparley(&[&setup[..], &["--callback-port", "7000"]].concat());
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.err.contains("MCPARLEY_ENABLE_XAA=1"), "{done:?}");
    let text = world.read(SETTINGS);
    assert!(text.starts_with("{\n  // mine\n  \"theme\": \"dark\""), "{text}");
    assert!(
        text.contains(r#""issuer": "https://idp.example""#) && text.contains(r#""callbackPort": 7000"#),
        "{text}"
    );
    assert_eq!(files_with(&world, "canary"), Vec::<String>::new());
    let status = world.json(&["auth", "idp", "status"]);
    assert_eq!(
        status["identityProvider"],
        json!({ "issuer": "https://idp.example", "clientId": "us", "enabled": false })
    );
    assert_eq!(world.json(&["auth", "status"])["identityProvider"], status["identityProvider"]);
    assert_eq!(
        world.mcparley(&["auth", "idp", "login"]).code,
        i32::from(exit::CONFIG.number),
        "not switched on"
    );
    world.ok(&["auth", "idp", "clear"]);
    assert_eq!(world.read(SETTINGS), "{\n  // mine\n  \"theme\": \"dark\"\n}\n");
    assert_eq!(world.json(&["auth", "idp", "status"])["identityProvider"], json!(null));
    let wrong =
        world.mcparley(&["auth", "idp", "setup", "--issuer", "http://idp.example", "--client-id", "us"]);
    assert_eq!(wrong.code, i32::from(exit::USAGE.number), "{wrong:?}");
}

// A6 U2
#[test]
fn the_secret_for_the_identity_provider_may_be_in_the_variable_of_claude_code() {
    let mut world = world();
    let setup =
        ["mcp", "xaa", "setup", "--issuer", "https://idp.example", "--client-id", "us", "--client-secret"];
    let missing = world.mcparley(&setup);
    assert_eq!(missing.code, i32::from(exit::USAGE.number), "{missing:?}");
    assert!(missing.err.contains("hint: set `MCP_XAA_IDP_CLIENT_SECRET`"), "{missing:?}");
    world.set("MCP_XAA_IDP_CLIENT_SECRET", "canary-of-the-idp");
    let done = world.json(&setup);
    assert_eq!(done["secret"], json!(true), "{done}");
    assert_eq!(files_with(&world, "canary"), Vec::<String>::new());
}

// A6: a repository that names one would be told who the person is.
#[test]
fn a_project_cannot_name_the_identity_provider() {
    let server = AuthServer::start(&[]);
    let mut world = world();
    world.set("MCPARLEY_ENABLE_XAA", "1");
    world.ok(&["add", "-s", "user", "one", server.url(), "--xaa", "--client-id", "us"]);
    let named = json!({ "xaaIdp": { "issuer": server.issuer(), "clientId": "static-client" } }).to_string();
    for file in ["home/project/.claude/settings.json", "home/project/.claude/settings.local.json"] {
        world.write(file, &named);
        let done = world.mcparley(&["login", "one", "--wait"]);
        assert_eq!(done.code, i32::from(exit::CONFIG.number), "{done:?}");
        assert!(done.err.contains("no identity provider is configured"), "{done:?}");
        assert!(done.err.contains("`mcparley auth idp setup`"), "{done:?}");
        let plan = world.mcparley(&["auth", "status"]);
        assert!(plan.err.contains("`xaaIdp` counts only in managed and user settings"), "{plan:?}");
    }
    assert!(windows(&world).is_empty());
}
