//! The connectors of an organization: listed, planned, called; and what is told when they cannot be had.

use std::os::unix::fs::PermissionsExt;

use mcparley_testkit::HttpServer;
use serde_json::json;

use crate::world::{Output, World};

/// An organization with this catalog, and a user who is signed in.
fn organization(entries: &serde_json::Value) -> (World, HttpServer) {
    let world = World::with(&[
        ("pages", &json!({ "data": entries }).to_string()),
        ("tokens", "good"),
        ("home/.claude/.credentials.json", r#"{"claudeAiOauth": {"accessToken": "good"}}"#),
    ]);
    expose(&world, 0o600);
    let file = |script: &str, file: &str| format!("{script}:{}", world.root.join(file).display());
    let server = HttpServer::start(&[&file("connectors", "pages"), &file("token-file", "tokens")]);
    let url = format!("http://{}", server.address());
    world.write("home/.claude/settings.json", &json!({ "connectors": { "url": url } }).to_string());
    (world, server)
}

/// Changes who may open the file with the token.
fn expose(world: &World, mode: u32) {
    let file = world.root.join("home/.claude/.credentials.json");
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// What a run left behind, without the port.
fn run(world: &World, server: &HttpServer, args: &[&str]) -> Output {
    let done = world.mcparley(args);
    Output { out: done.out.replace(server.address(), "ORGANIZATION"), ..done }
}

fn two() -> serde_json::Value {
    json!([{ "id": "s", "display_name": "Slack" }, { "id": "t", "display_name": "Slack" }, { "id": "u" }])
}

const LEFT_OUT: &str = "error: the connector catalog: connector 3 is left out: it has no `display_name`\n";

// C1 C15 N1
#[test]
fn connectors_are_planned_and_listed_under_their_names() {
    let (world, server) = organization(&two());
    let plan = "\
ready           claude.ai Slack (2)  connectors  http://ORGANIZATION/v1/mcp/t
ready           claude.ai Slack      connectors  http://ORGANIZATION/v1/mcp/s
";
    assert_eq!(
        run(&world, &server, &["plan"]),
        Output { code: 0, out: plan.to_owned(), err: LEFT_OUT.to_owned() }
    );
    let list = run(&world, &server, &["list"]);
    assert!(
        list.out.contains("claude.ai Slack: http://ORGANIZATION/v1/mcp/s (CLAUDEAI-PROXY) - "),
        "{list:?}"
    );
    assert_eq!(list.out.matches("connected").count(), 2, "{list:?}");
    let asked = server.stats()["catalog"].clone();
    let offline = world.mcparley(&["list", "--offline"]);
    assert_eq!(offline.out, "No servers are configured.\n");
    assert_eq!(server.stats()["catalog"], asked, "nobody is asked offline");
    assert_eq!(world.json(&["get", "claude.ai Slack"])["declarations"][0]["type"], "claudeai-proxy");
}

// T7 N1
#[test]
fn tools_of_connectors_are_shown_and_called() {
    let (world, server) = organization(&two());
    let tools = world.mcparley(&["tools", "claude.ai Slack (2)"]);
    assert!(tools.out.starts_with("claude.ai Slack (2)\n  echo("), "{tools:?}");
    assert_eq!(world.ok(&["call", "claude.ai Slack", "echo", "message=hi"]), "hi\n");
    assert_eq!(world.ok(&["call", "mcp__claude_ai_Slack__echo", "message=hi"]), "hi\n");
    let asked = server.stats()["catalog"].clone();
    assert_eq!(world.ok(&["call", "mcp__mcparley__echo", "message=hi"]), "hi\n");
    assert_eq!(server.stats()["catalog"], asked, "no other tool waits for the catalog");
}

// C1 T7 C9
#[test]
fn problems_of_connectors_are_reported_and_stop_no_other_server() {
    let (mut world, server) = organization(&two());
    world.write("home/.claude.json", r#"{"mcpServers": {"mine": {"command": "x"}}}"#);
    let mine = |plan: &Output| plan.out.starts_with("ready           mine") && plan.code == 0;
    let hint =
        "hint: sign in again with the program that has the token, or set `MCPARLEY_CONNECTORS_TOKEN`\n";

    world.write("tokens", "other");
    let plan = world.mcparley(&["plan"]);
    assert!(mine(&plan), "{plan:?}");
    let refused = "error: the connector catalog: the connectors could not be fetched: the token is refused\n";
    assert_eq!(plan.err, format!("{refused}{hint}"));

    expose(&world, 0o644);
    let plan = world.mcparley(&["plan"]);
    assert!(mine(&plan), "{plan:?}");
    let exposed = "error: the connector catalog: there is no token for the connectors: \
                   `home/.claude/.credentials.json` is open to other users (mode 644)\n";
    assert_eq!(plan.err, format!("{exposed}{hint}"));

    world.set("MCPARLEY_CONNECTORS_TOKEN", "other");
    assert_eq!(world.mcparley(&["plan"]).err, LEFT_OUT);
    let denied = r#"{"deniedMcpServers": [{"serverName": "claude.ai Slack"}]}"#;
    world.write("managed/managed-settings.json", denied);
    let plan = world.mcparley(&["plan"]).out;
    assert!(plan.contains("blocked         claude.ai Slack "), "{plan}");
    assert!(plan.contains("ready           claude.ai Slack (2)"), "{plan}");

    world.set("MCPARLEY_CONNECTORS_URL", "http://elsewhere.example");
    let plan = world.mcparley(&["plan"]);
    let not_safe = "error: the connector catalog: the connectors URL is not `https`, \
                    or contains credentials or a query\n";
    assert!(mine(&plan) && plan.err.starts_with(not_safe), "{plan:?}");
    drop(server);
}

// C1
#[test]
fn a_project_cannot_name_the_catalog_that_gets_the_token() {
    let (world, server) = organization(&two());
    let settings = world.read("home/.claude/settings.json");
    world.write("home/.claude/settings.json", "{}");
    let env = json!({ "env": { "MCPARLEY_CONNECTORS_URL": format!("http://{}", server.address()) } });
    for file in ["home/project/.claude/settings.json", "home/project/.claude/settings.local.json"] {
        world.write(file, &settings);
        assert_eq!(world.mcparley(&["plan"]).out, "No servers are configured.\n", "{file}");
        world.write(file, &env.to_string());
        let plan = world.mcparley(&["plan"]).out;
        let waits =
            "No servers are configured.\n1 variable of this project needs approval; run `mcparley trust`\n";
        assert_eq!(plan, waits, "{file}");
        world.write(file, "{}");
    }
    assert_eq!(server.stats()["catalog"], 0);
    assert_eq!(server.stats()["unauthorized"], 0);
}

// C1
#[test]
fn connectors_that_may_not_run_are_not_fetched() {
    let (world, server) = organization(&two());
    world.mcparley(&["plan", "--strict-mcp-config"]);
    world.write("managed/managed-mcp.json", "{}");
    world.mcparley(&["plan"]);
    assert_eq!(server.stats()["catalog"], 0);
}
