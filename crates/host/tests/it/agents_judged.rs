//! Servers of an agent are checked by policy and approval like every other server, and blocked ones are
//! listed.

use mcparley::config::change;
use mcparley::{Agent, AgentSpec, CallError};
use mcparley_testkit::{ScriptedStdio, processes_tagged};
use serde_json::{Value, json};

use crate::agents::{begun, call, in_folder, names};
use crate::alive::{Alive, own, scripted, servers, stdio};

/// The plan status of the server, with the reason.
fn standing(agent: &Agent, name: &str) -> (&'static str, String) {
    let loaded = agent.loaded_config();
    let standing = &loaded.plan.servers_by_name(name).first().unwrap().status;
    (standing.as_str(), standing.reason().unwrap_or_default())
}

fn tagged(tag: &str) -> Value {
    stdio(&ScriptedStdio::new(&[]).with_option("--tag", tag))
}

/// Asserts that the server is not there, that a call says why, and that it was never started.
async fn assert_held_back(agent: &Agent, tag: &str, is: &str, because: &str) {
    let (standing, reason) = standing(agent, "mine");
    assert_eq!(standing, is, "{reason}");
    assert!(reason.contains(because), "{reason}");
    assert!(!names(agent).contains(&"mine".to_owned()));
    let CallError::UnknownServer { because: told, .. } = call(agent, "mine", "echo").await.unwrap_err()
    else {
        panic!("it was called");
    };
    assert!(told.unwrap().contains(because));
    assert_eq!(processes_tagged(tag), [0_u32; 0]);
}

async fn bringing(alive: &Alive, tag: &str) -> Agent {
    begun(alive, AgentSpec::new("a").bring_server("mine", &tagged(tag))).await
}

// X7 C9
#[tokio::test]
async fn a_denied_name_does_not_run() {
    let (_folder, _, tag) = own("agent-denied");
    let alive = servers([])
        .file("managed/managed-settings.json", &json!({ "deniedMcpServers": [{ "serverName": "mine" }] }))
        .ready()
        .await;
    let agent = bringing(&alive, &tag).await;
    assert_held_back(&agent, &tag, "blocked", "denied by policy: serverName `mine`").await;
}

// X7 C9 B32
#[tokio::test]
async fn a_denied_server_does_not_run_under_the_name_an_agent_gives_it() {
    let (_folder, _, tag) = own("agent-alias");
    let alive = servers([("evil", tagged(&tag))])
        .file("managed/managed-settings.json", &json!({ "deniedMcpServers": [{ "serverName": "evil" }] }))
        .ready()
        .await;
    let agent = bringing(&alive, &tag).await;
    assert_held_back(&agent, &tag, "blocked", "the same server as `evil`").await;
}

// X7 C9
#[tokio::test]
async fn blocked_server_of_an_agent_hides_no_shared_server() {
    let alive = servers([("good", in_folder("/"))])
        .file("managed/managed-settings.json", &json!({ "deniedMcpServers": [{ "serverName": "evil" }] }))
        .ready()
        .await;
    let agent = begun(
        &alive,
        AgentSpec::new("a").bring_server("evil", &in_folder("/")).bring_server("good", &json!(5)),
    )
    .await;
    assert_eq!(names(&agent), ["good", "mcparley"]);
    assert_eq!(call(&agent, "good", "echo").await.unwrap().to_text(), "hi");
    assert_eq!(standing(&agent, "evil").0, "blocked");
}

// X7 C1
#[tokio::test]
async fn strict_mode_runs_no_server_of_an_agent() {
    let (_folder, _, tag) = own("agent-strict");
    let alive = servers([]).wish(|run_options| run_options.strict = true).ready().await;
    let agent = bringing(&alive, &tag).await;
    assert_held_back(&agent, &tag, "blocked", "--strict-mcp-config").await;
}

// X7 C5
#[tokio::test]
async fn managed_servers_exclude_servers_of_agents() {
    let (_folder, _, tag) = own("agent-managed");
    let alive = servers([]).file("managed/managed-mcp.json", &json!({ "mcpServers": {} })).ready().await;
    let agent = bringing(&alive, &tag).await;
    assert_held_back(&agent, &tag, "blocked", "managed-mcp.json").await;
}

// X7 C4
#[tokio::test]
async fn disabled_server_name_stays_disabled_for_agents() {
    let (_folder, _, tag) = own("agent-off");
    let alive = servers([])
        .wish(|run_options| run_options.settings.push(json!({ "disabledMcpServers": ["mine"] }).to_string()))
        .ready()
        .await;
    let agent = bringing(&alive, &tag).await;
    assert_held_back(&agent, &tag, "disabled", "switched off").await;
}

// X7 C7 H05
#[tokio::test]
async fn server_of_a_repositorys_agent_waits_for_approval_of_its_exact_entry() {
    let (_folder, _, tag) = own("agent-approval");
    let alive = servers([]).ready().await;
    let spec = |entry: &Value| AgentSpec::new("a").with_project_scope().bring_server("mine", entry);
    let agent = begun(&alive, spec(&tagged(&tag))).await;
    assert_held_back(&agent, &tag, "needs approval", "not approved yet").await;

    let loaded = alive.world.load().for_agent(&spec(&tagged(&tag)));
    change::approve_server(&alive.world.paths(), &loaded, "mine", None).unwrap();
    alive.host.reload().await;
    // The agent that waited has it now, and so has the next.
    assert_eq!(call(&agent, "mine", "echo").await.unwrap().to_text(), "hi");
    agent.end().await;

    let (_folder, _, other) = own("agent-approval-other");
    let changed = begun(&alive, spec(&tagged(&other))).await;
    assert_held_back(&changed, &other, "needs approval", "changed since it was approved").await;
}

// X7 C6
#[tokio::test]
async fn variables_expand_and_an_unusable_entry_stands_in_the_plan() {
    let alive = servers([])
        .variable("MESSAGE_TOOL", &ScriptedStdio::new(&[]).program.to_string_lossy())
        .ready()
        .await;
    let mut entry = scripted(&[]);
    entry["command"] = json!("${MESSAGE_TOOL}");
    let spec = AgentSpec::new("a")
        .bring_server("mine", &entry)
        .bring_server("bad", &json!({ "command": "${NOT_SET}" }));
    let agent = begun(&alive, spec).await;
    assert_eq!(call(&agent, "mine", "echo").await.unwrap().to_text(), "hi");
    let (is, reason) = standing(&agent, "bad");
    assert_eq!(is, "invalid");
    assert!(reason.contains("NOT_SET"), "{reason}");
}

// X7 P1
#[tokio::test]
async fn permission_rules_hold_for_an_agent_too() {
    let alive = servers([]).deny("mcp__mine__echo").ready().await;
    let agent = begun(&alive, AgentSpec::new("a").bring_server("mine", &in_folder("/"))).await;
    assert!(matches!(call(&agent, "mine", "echo").await.unwrap_err(), CallError::Denied { .. }));
    assert!(call(&agent, "mine", "pid").await.is_ok());
}
