//! An agent sees the shared servers it names and its own, and no other host sees those (X7).

use mcparley::model::name::ServerName;
use mcparley::permission::Consent;
use mcparley::{Agent, AgentSpec, Call, CallError, CallOutcome, Host};
use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};

use crate::alive::{Alive, LONG, own, scripted, servers, stdio, with};

/// An entry that differs from all others by its folder, and so has a connection of its own.
pub(crate) fn in_folder(folder: &str) -> Value {
    with(scripted(&[]), "cwd", folder)
}

/// Starts an agent and waits for its servers.
pub(crate) async fn begun(alive: &Alive, spec: AgentSpec) -> Agent {
    let agent = alive.host.start_agent(spec).await.unwrap();
    assert!(agent.wait_until_ready(LONG).await.settled);
    agent
}

pub(crate) fn names(host: &Host) -> Vec<String> {
    host.servers().iter().map(|server| server.name.to_string()).collect()
}

pub(crate) async fn call(host: &Host, server: &str, tool: &str) -> Result<CallOutcome, CallError> {
    host.call(Call::on_server(server, tool, json!({ "message": "hi" })).with_consent(Consent::Given)).await
}

async fn public(host: &Host, name: &str) -> Result<CallOutcome, CallError> {
    host.call(Call::new(name, json!({ "message": "hi" })).with_consent(Consent::Given)).await
}

/// The servers that appear in any answer of the host to a model.
async fn told(host: &Host, tool: &str, field: &str) -> Vec<String> {
    let text = host.call(Call::new(tool, json!({})).with_consent(Consent::Given)).await.unwrap().to_text();
    let told: Vec<Value> = serde_json::from_str(&text).unwrap();
    told.iter().map(|server| server[field].as_str().unwrap().to_owned()).collect()
}

async fn until_off(host: &Host, name: &str) {
    let is_on =
        || host.servers().iter().any(|it| it.name.as_str() == name && it.state.status.as_str() != "disabled");
    let waiting = async {
        while is_on() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, waiting).await.unwrap();
}

/// Asserts that no answer of a host mentions the server.
async fn assert_unknown(host: &Host, hidden: &str) {
    let tool = format!("mcp__{hidden}__echo");
    let name = ServerName::new(hidden);
    assert!(!names(host).contains(&hidden.to_owned()));
    assert!(host.publish_catalog().get(&tool).is_none());
    assert!(host.publish_catalog().names().iter().all(|(_, server, _)| server.as_str() != hidden));
    let refused = call(host, hidden, "echo").await.unwrap_err();
    assert!(
        matches!(&refused, CallError::UnknownServer { similar, .. } if !similar.contains(&hidden.to_owned()))
    );
    let refused = public(host, &tool).await.unwrap_err();
    assert!(matches!(&refused, CallError::UnknownTool { .. }));
    assert!(!refused.to_string().contains(&format!("server `{hidden}`")), "{refused}");
    let state = serde_json::to_string(&host.state()).unwrap();
    assert!(!state.contains(&format!("\"{hidden}\"")), "{state}");
    assert!(
        host.server_log(&name).is_none()
            && host.connect_server(&name).await.is_err()
            && !host.disable_server(&name).await
    );
    for (tool, field) in [
        ("ListMcpResources", "server"),
        ("mcp__mcparley__list_servers", "name"),
        ("mcp__mcparley__explain_plan", "name"),
    ] {
        assert!(!told(host, tool, field).await.contains(&hidden.to_owned()), "{tool}");
    }
    let read = json!({ "server": hidden, "uri": "test://note" });
    let refused =
        host.call(Call::new("ReadMcpResource", read).with_consent(Consent::Given)).await.unwrap_err();
    assert!(matches!(refused, CallError::UnknownServer { .. }));
}

// X7
#[tokio::test]
async fn an_agent_that_names_servers_sees_these_and_its_own() {
    let alive = servers([("one", in_folder("/")), ("two", in_folder("/usr"))]).ready().await;
    let agent =
        begun(&alive, AgentSpec::new("a").share_server("one").bring_server("mine", &in_folder("/bin"))).await;
    assert_eq!(names(&agent), ["one", "mine", "mcparley"]);
    assert_eq!(call(&agent, "one", "echo").await.unwrap().to_text(), "hi");
    assert_eq!(public(&agent, "mcp__mine__echo").await.unwrap().to_text(), "hi");
    assert_eq!(told(&agent, "mcp__mcparley__list_servers", "name").await, ["one", "mine", "mcparley"]);
    assert_eq!(told(&agent, "ListMcpResources", "server").await, ["one", "mine"]);
    assert_unknown(&agent, "two").await;
    // The same process as the shared one.
    let shared = call(&alive.host, "one", "pid").await.unwrap().to_text();
    assert_eq!(call(&agent, "one", "pid").await.unwrap().to_text(), shared);
}

// X7
#[tokio::test]
async fn an_agent_that_names_none_sees_all_and_one_alone_sees_none() {
    let alive = servers([("one", in_folder("/")), ("two", in_folder("/usr"))]).ready().await;
    let all = begun(&alive, AgentSpec::new("all").bring_server("mine", &in_folder("/bin"))).await;
    assert_eq!(names(&all), ["one", "two", "mine", "mcparley"]);
    let alone = begun(
        &alive,
        AgentSpec::new("alone").without_shared_servers().bring_server("mine", &in_folder("/bin")),
    )
    .await;
    assert_eq!(names(&alone), ["mine", "mcparley"]);
    assert_unknown(&alone, "one").await;
    // A required server is visible, named or not.
    let requires = begun(&alive, AgentSpec::new("requires").share_server("one").require_server("two")).await;
    assert_eq!(names(&requires), ["one", "two", "mcparley"]);
}

// X7
#[tokio::test]
async fn servers_of_an_agent_are_visible_to_no_other() {
    let alive = servers([("one", in_folder("/"))]).ready().await;
    let left = begun(&alive, AgentSpec::new("left").bring_server("of-left", &in_folder("/bin"))).await;
    let right = begun(&alive, AgentSpec::new("right").bring_server("of-right", &in_folder("/usr"))).await;
    assert_unknown(&alive.host, "of-left").await;
    assert_unknown(&alive.host, "of-right").await;
    assert_unknown(&right, "of-left").await;
    assert_unknown(&left, "of-right").await;
    assert_eq!(call(&left, "of-left", "echo").await.unwrap().to_text(), "hi");
    assert_eq!(call(&right, "of-right", "echo").await.unwrap().to_text(), "hi");
}

// X7
#[tokio::test]
async fn two_agents_that_bring_the_same_server_have_one_each() {
    let alive = servers([]).ready().await;
    let left = begun(&alive, AgentSpec::new("left").bring_server("it", &in_folder("/"))).await;
    let right = begun(&alive, AgentSpec::new("right").bring_server("it", &in_folder("/"))).await;
    let pid = async |agent: &Agent| call(agent, "it", "pid").await.unwrap().to_text();
    assert_ne!(pid(&left).await, pid(&right).await);
    left.end().await;
    assert_eq!(call(&right, "it", "echo").await.unwrap().to_text(), "hi");
}

// X7
#[tokio::test]
async fn a_name_an_agent_brings_hides_the_shared_one_for_it_alone() {
    let alive = servers([("it", in_folder("/"))]).ready().await;
    let agent = begun(&alive, AgentSpec::new("a").bring_server("it", &in_folder("/usr"))).await;
    let (own, shared) = (call(&agent, "it", "pid").await, call(&alive.host, "it", "pid").await);
    assert_ne!(own.unwrap().to_text(), shared.unwrap().to_text());
    let standings: Vec<&str> =
        agent.loaded_config().plan.servers.iter().map(|server| server.status.as_str()).collect();
    assert_eq!(standings, ["shadowed", "ready"]);
    assert_eq!(alive.host.loaded_config().plan.ready_servers().count(), 1);
}

// X7 L4
#[tokio::test]
async fn a_server_that_is_the_same_as_a_shared_one_shares_its_connection() {
    let (_folder, log, tag) = own("agent-same");
    let entry = stdio(&ScriptedStdio::new(&[]).with_log(&log).with_option("--tag", &tag));
    let alive = servers([("shared", entry.clone())]).ready().await;
    let mine = with(entry, "disabledTools", json!(["slow"]));
    let agent = begun(&alive, AgentSpec::new("a").without_shared_servers().bring_server("mine", &mine)).await;
    let (own, shared) = (call(&agent, "mine", "pid").await, call(&alive.host, "shared", "pid").await);
    assert_eq!(own.unwrap().to_text(), shared.unwrap().to_text());
    // The agent's own entry counts for its view.
    assert!(agent.publish_catalog().get("mcp__mine__slow").is_none());
    assert!(alive.host.publish_catalog().get("mcp__shared__slow").is_some());
    assert_unknown(&agent, "shared").await;
    agent.end().await;
    drop(agent);
    assert_eq!(alive.echo("shared", "still").await.unwrap(), "still");
    assert_eq!(mcparley_testkit::log_starts(&log).len(), 1);
}

// X7
#[tokio::test]
async fn an_agent_of_an_agent_sees_what_that_one_sees() {
    let alive = servers([("one", in_folder("/")), ("two", in_folder("/usr"))]).ready().await;
    let outer =
        begun(&alive, AgentSpec::new("outer").share_server("one").bring_server("mine", &in_folder("/bin")))
            .await;
    let inner =
        outer.start_agent(AgentSpec::new("inner").bring_server("deep", &in_folder("/etc"))).await.unwrap();
    assert!(inner.wait_until_ready(LONG).await.settled);
    assert_eq!(names(&inner), ["one", "mine", "deep", "mcparley"]);
    assert_eq!(call(&inner, "mine", "echo").await.unwrap().to_text(), "hi");
    assert_unknown(&outer, "deep").await;
    assert_unknown(&inner, "two").await;
}

// X7
#[tokio::test]
async fn shared_server_is_disabled_only_by_its_host() {
    let alive = servers([("one", in_folder("/"))]).ready().await;
    let agent = begun(&alive, AgentSpec::new("a").bring_server("mine", &in_folder("/usr"))).await;
    assert!(!agent.disable_server(&ServerName::new("one")).await);
    assert_eq!(alive.echo("one", "on").await.unwrap(), "on");
    assert!(agent.disable_server(&ServerName::new("mine")).await);
    until_off(&agent, "mine").await;
    assert!(call(&agent, "mine", "echo").await.is_err());
    assert!(alive.host.disable_server(&ServerName::new("one")).await);
    until_off(&agent, "one").await;
    assert!(call(&agent, "one", "echo").await.is_err());
}

// X7 L4
#[tokio::test]
async fn two_names_of_one_server_of_an_agent_share_it_and_are_disabled_separately() {
    let alive = servers([]).ready().await;
    let spec =
        AgentSpec::new("a").bring_server("left", &in_folder("/")).bring_server("right", &in_folder("/"));
    let agent = begun(&alive, spec).await;
    let pid = async |name: &str| call(&agent, name, "pid").await.unwrap().to_text();
    assert_eq!(pid("left").await, pid("right").await);
    assert!(agent.disable_server(&ServerName::new("left")).await);
    until_off(&agent, "left").await;
    assert!(call(&agent, "left", "echo").await.is_err());
    assert_eq!(call(&agent, "right", "echo").await.unwrap().to_text(), "hi");
    assert_eq!(names(&agent), ["left", "right", "mcparley"]);
    assert_eq!(names(&alive.host), ["mcparley"]);
}
