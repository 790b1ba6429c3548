//! The life of an agent: start, changes of the host, end (X7).

use std::time::Duration;

use mcparley::config::StartPolicy;
use mcparley::host::AgentError;
use mcparley::model::explain::Explain;
use mcparley::{AgentSpec, CallError};
use mcparley_testkit::{ScriptedStdio, processes_tagged};
use serde_json::{Value, json};

use crate::agents::{begun, call, in_folder, names};
use crate::alive::{Alive, LONG, is_connected, own, scripted, servers, stdio, until_gone, with};

fn tagged(tag: &str) -> Value {
    stdio(&ScriptedStdio::new(&[]).with_option("--tag", tag))
}

fn rewrite(alive: &Alive, servers: &Value) {
    alive.world.write("home/.claude.json", &json!({ "mcpServers": servers }).to_string());
}

// X7
#[tokio::test]
async fn ending_an_agent_ends_its_servers_and_no_others() {
    let (_folder, _, tag) = own("agent-end");
    let alive = servers([("one", in_folder("/"))]).ready().await;
    let agent = begun(&alive, AgentSpec::new("a").bring_server("mine", &tagged(&tag))).await;
    assert!(!processes_tagged(&tag).is_empty());
    agent.end().await;
    assert_eq!(processes_tagged(&tag), [0_u32; 0]);
    assert!(call(&agent, "mine", "echo").await.is_err());
    assert_eq!(alive.echo("one", "here").await.unwrap(), "here");
    // A change afterwards does not bring it back.
    rewrite(&alive, &json!({}));
    alive.host.reload().await;
    assert_eq!(processes_tagged(&tag), [0_u32; 0]);
}

// X7 L9
#[tokio::test]
async fn dropping_an_agent_leaves_no_process() {
    let (_folder, _, tag) = own("agent-drop");
    let alive = servers([]).ready().await;
    let entry = stdio(&ScriptedStdio::new(&["ignore-term"]).with_option("--tag", &tag));
    let agent = begun(&alive, AgentSpec::new("a").bring_server("mine", &entry)).await;
    let same = agent.clone();
    drop(agent);
    assert_eq!(call(&same, "mine", "echo").await.unwrap().to_text(), "hi");
    drop(same);
    tokio::task::spawn_blocking(move || until_gone(&tag, LONG)).await.unwrap();
}

// X7 L9
#[tokio::test]
async fn host_shutdown_ends_its_agents() {
    let (_folder, _, tag) = own("agent-host-end");
    let alive = servers([]).ready().await;
    let outer = begun(&alive, AgentSpec::new("outer").bring_server("mine", &tagged(&tag))).await;
    let deep = with(tagged(&tag), "cwd", "/");
    let inner = outer
        .start_agent(AgentSpec::new("inner").bring_server("deep", &deep).require_server("deep"))
        .await
        .unwrap();
    alive.host.shut_down().await;
    assert_eq!(processes_tagged(&tag), [0_u32; 0]);
    for late in [&alive.host, &*outer, &*inner] {
        let refused = late.start_agent(AgentSpec::new("late")).await.unwrap_err();
        assert!(matches!(refused, AgentError::Ended { .. }));
    }
}

// X7
#[tokio::test]
async fn missing_server_of_an_agent_has_a_reason() {
    let alive = servers([("github", in_folder("/")), ("off", in_folder("/usr"))])
        .wish(|run_options| run_options.settings.push(json!({ "disabledMcpServers": ["off"] }).to_string()))
        .ready()
        .await;
    let agent =
        begun(&alive, AgentSpec::new("a").share_server("githib").share_server("off").share_server("github"))
            .await;
    assert_eq!(names(&agent), ["github", "mcparley"]);
    let missing = agent.missing_servers();
    let told: Vec<(&str, Option<&str>, Vec<&str>)> = missing
        .iter()
        .map(|it| (it.name.as_str(), it.because.as_deref(), it.similar.iter().map(String::as_str).collect()))
        .collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[0], ("githib", None, vec!["github"]));
    assert!(told[1].0 == "off" && told[1].1.unwrap().contains("switched off"), "{told:?}");
}

// X7
#[tokio::test]
async fn a_required_server_that_is_not_there_stops_the_agent_with_a_hint() {
    let (_folder, _, tag) = own("agent-requires");
    let alive = servers([("github", in_folder("/"))]).ready().await;
    let spec = AgentSpec::new("a")
        .bring_server("mine", &tagged(&tag))
        .require_server("mine")
        .require_server("githib");
    let error = alive.host.start_agent(spec).await.unwrap_err();
    assert_eq!(error.to_string(), "agent `a` requires server `githib`, which is not declared");
    assert_eq!(error.hint().unwrap(), "did you mean `github`?");
    assert_eq!(processes_tagged(&tag), [0_u32; 0]);
}

// X7
#[tokio::test]
async fn a_required_server_that_fails_stops_the_agent_and_what_was_started_for_it() {
    let (_folder, _, tag) = own("agent-fails");
    let alive = servers([("bad", scripted(&["exit-start"]))]).start_with(StartPolicy::OnDemand).ready().await;
    let spec =
        AgentSpec::new("a").bring_server("mine", &tagged(&tag)).require_server("mine").require_server("bad");
    let error = alive.host.start_agent(spec).await.unwrap_err();
    assert!(matches!(&error, AgentError::Unavailable { server, .. } if server.as_str() == "bad"), "{error}");
    assert!(error.to_string().contains("code 3"), "{error}");
    assert_eq!(processes_tagged(&tag), [0_u32; 0]);
}

// X7
#[tokio::test]
async fn a_required_server_is_waited_for_until_the_deadline_and_no_longer() {
    let (_folder, _, tag) = own("agent-late");
    let alive = servers([]).ready().await;
    let silent = stdio(&ScriptedStdio::new(&["hang-start"]).with_option("--tag", &tag));
    // An entry may say of itself that it is required.
    let silent = with(silent, "required", true);
    let limit = Duration::from_millis(300);
    let begun = std::time::Instant::now();
    let error = alive
        .host
        .start_agent(AgentSpec::new("a").bring_server("mine", &silent).with_deadline(limit))
        .await
        .unwrap_err();
    assert!(begun.elapsed() >= limit);
    assert!(matches!(&error, AgentError::TimedOut { server, .. } if server.as_str() == "mine"), "{error}");
    assert_eq!(processes_tagged(&tag), [0_u32; 0]);
}

// X7
#[tokio::test]
async fn an_agent_begins_with_the_servers_it_requires() {
    let alive = servers([("one", in_folder("/"))]).start_with(StartPolicy::OnDemand).start();
    let spec = AgentSpec::new("a")
        .bring_server("mine", &in_folder("/usr"))
        .require_server("mine")
        .require_server("one");
    let agent = alive.host.start_agent(spec).await.unwrap();
    let answering = agent.servers().into_iter().filter(|server| is_connected(&server.state.status));
    let answering: Vec<String> = answering.map(|server| server.name.to_string()).collect();
    assert!(answering.contains(&"one".to_owned()) && answering.contains(&"mine".to_owned()), "{answering:?}");
}

// X7 C13 C11
#[tokio::test]
async fn agent_follows_changes_of_shared_servers() {
    let alive = servers([("one", in_folder("/")), ("two", in_folder("/usr"))]).ready().await;
    let spec =
        AgentSpec::new("a").share_server("one").share_server("new").bring_server("mine", &in_folder("/bin"));
    let agent = begun(&alive, spec).await;
    let all = begun(&alive, AgentSpec::new("all")).await;
    let pid = async |name: &str| call(&agent, name, "pid").await.unwrap().to_text();
    let (one, mine) = (pid("one").await, pid("mine").await);

    rewrite(&alive, &json!({ "one": in_folder("/etc"), "new": in_folder("/var") }));
    alive.host.reload().await;
    assert_eq!(names(&agent), ["one", "new", "mine", "mcparley"]);
    assert_eq!(names(&all), ["one", "new", "mcparley"]);
    assert_eq!(agent.missing_servers(), []);
    assert_ne!(pid("one").await, one);
    assert_eq!(pid("mine").await, mine);
    assert_eq!(call(&agent, "new", "echo").await.unwrap().to_text(), "hi");
    assert!(agent.publish_catalog().get("mcp__new__echo").is_some());

    rewrite(&alive, &json!({ "new": in_folder("/var") }));
    alive.host.reload().await;
    assert!(agent.publish_catalog().get("mcp__one__echo").is_none());
    assert!(matches!(call(&agent, "one", "echo").await.unwrap_err(), CallError::UnknownServer { .. }));
    assert_eq!(agent.missing_servers()[0].name.as_str(), "one");
}

// X7 C9 C13
#[tokio::test]
async fn later_policy_stops_servers_of_an_agent() {
    let (_folder, _, tag) = own("agent-later-policy");
    let alive = servers([]).ready().await;
    let agent = begun(&alive, AgentSpec::new("a").bring_server("mine", &tagged(&tag))).await;
    let policy = json!({ "deniedMcpServers": [{ "serverName": "mine" }] });
    alive.world.write("managed/managed-settings.json", &policy.to_string());
    alive.host.reload().await;
    assert!(matches!(call(&agent, "mine", "echo").await.unwrap_err(), CallError::UnknownServer { .. }));
    tokio::task::spawn_blocking(move || until_gone(&tag, LONG)).await.unwrap();
    drop(agent);
}

// X7 L4 C13
#[tokio::test]
async fn agent_keeps_its_server_when_the_identical_shared_one_is_removed() {
    let alive = servers([("shared", in_folder("/"))]).ready().await;
    let agent = begun(&alive, AgentSpec::new("a").bring_server("mine", &in_folder("/"))).await;
    let before = call(&agent, "mine", "pid").await.unwrap().to_text();
    rewrite(&alive, &json!({}));
    alive.host.reload().await;
    assert_eq!(call(&agent, "mine", "pid").await.unwrap().to_text(), before, "it goes on as it was");
}

// X7
#[tokio::test]
async fn agent_events_report_its_own_servers() {
    let alive = servers([]).ready().await;
    let mut of_host = alive.host.server_events();
    let spec = AgentSpec::new("a").bring_server("mine", &in_folder("/")).with_start(StartPolicy::OnDemand);
    let agent = alive.host.start_agent(spec).await.unwrap();
    let mut events = agent.server_events();
    call(&agent, "mine", "echo").await.unwrap();
    let mut told = Vec::new();
    while let Ok(event) = events.try_recv() {
        told.push(event.server.to_string());
    }
    assert!(told.contains(&"mine".to_owned()), "{told:?}");
    while let Ok(event) = of_host.try_recv() {
        assert_ne!(event.server.as_str(), "mine");
    }
}
