//! The catalog: the tools that a model is shown.

use mcparley::catalog::Catalog;
use mcparley::config::StartPolicy;
use mcparley::model::tool::ToolLoading;
use mcparley_testkit::{HttpServer, ScriptedStdio, log_lines};
use serde_json::json;

use crate::alive::{http, own, scripted, servers, stdio, with};

fn names(catalog: &Catalog) -> Vec<String> {
    catalog.iter().map(|entry| entry.name.to_string()).collect()
}

fn bytes(catalog: &Catalog) -> Vec<String> {
    catalog.iter().map(|entry| serde_json::to_string(entry).unwrap()).collect()
}

// N11
#[tokio::test]
async fn shown_tools_keep_position_and_bytes_when_a_server_connects_late_or_again() {
    // `a` stands before `z` in the file but comes later.
    let alive = servers([("a", scripted(&[])), ("z", with(scripted(&[]), "cwd", "/"))])
        .start_with(StartPolicy::Only(vec![mcparley::model::name::ServerName::new("z")]))
        .start_as(|builder| builder.without_built_in_server());
    alive.reach("z").await;
    let early = bytes(&alive.host.publish_catalog());
    assert!(!early.is_empty());

    alive.reach("a").await;
    let late = bytes(&alive.host.publish_catalog());
    assert_eq!(late[..early.len()], early[..]);
    // The host's own tools are there once.
    let own = alive.host.publish_catalog().iter().filter(|entry| entry.server().is_none()).count();
    assert_eq!((late.len(), own), (2 * early.len() - own, 4));

    alive.host.reconnect_server(&mcparley::model::name::ServerName::new("z")).await;
    assert_eq!(bytes(&alive.host.publish_catalog()), late, "while it is away");
    alive.reach("z").await;
    assert_eq!(bytes(&alive.host.publish_catalog()), late, "and when it is back");
}

// N11
#[tokio::test]
async fn unpublished_catalog_has_the_order_of_the_plan() {
    let alive =
        servers([("a", scripted(&[])), ("z", scripted(&[]))]).start_with(StartPolicy::OnDemand).start();
    alive.reach("z").await;
    alive.reach("a").await;
    let names = names(&alive.host.publish_catalog());
    assert!(names.first().unwrap().starts_with("mcp__a__"), "{names:?}");
}

// C10
#[tokio::test]
async fn an_entry_chooses_which_tools_are_offered_and_always_loaded() {
    let entry = with(scripted(&[]), "enabledTools", json!(["e*", "add"]));
    let entry = with(with(entry, "disabledTools", json!(["env"])), "alwaysLoad", true);
    let alive = servers([("one", entry)]).start_as(|builder| builder.without_built_in_server());
    alive.host.wait_until_ready(crate::alive::LONG).await;
    let catalog = alive.host.publish_catalog();
    let of_server = || catalog.iter().filter(|entry| entry.server().is_some());
    assert_eq!(
        of_server().map(|entry| entry.name.as_str()).collect::<Vec<_>>(),
        ["mcp__one__echo", "mcp__one__add"]
    );
    assert!(of_server().all(|entry| entry.tool.loading == ToolLoading::Always));
    let error = alive.call("one", "env", json!({})).await.unwrap_err();
    assert!(error.to_string().contains("does not offer it"), "{error}");
}

// L10 F61
#[tokio::test]
async fn burst_of_list_changes_causes_few_requests_and_delays_no_reply() {
    let (_folder, log, _) = own("storm");
    let scripted = ScriptedStdio::new(&["list-changed-storm:100000"]).with_option("--versions", "2025-11-25");
    let alive =
        servers([("storm", stdio(&scripted.with_option("--times", "1").with_log(&log)))]).ready().await;
    let mut changes = alive.host.server_events();
    let begun = std::time::Instant::now();
    assert_eq!(alive.echo("storm", "hi").await.unwrap(), "hi");
    assert!(begun.elapsed() < std::time::Duration::from_secs(5), "{:?}", begun.elapsed());
    // Another call long after: the lists are fetched again meanwhile, each time after a pause.
    alive.call("storm", "slow", json!({ "ms": 3000 })).await.unwrap();
    let lists = log_lines(&log).iter().filter(|line| line.text.contains("tools/list")).count();
    assert!((2..=4).contains(&lists), "one at the start, then {} more", lists - 1);
    assert!(changes.try_recv().is_err(), "the server never left");
}

// L10
#[tokio::test]
async fn servers_of_the_new_era_are_listened_to() {
    for kind in ["stdio", "http"] {
        let (_folder, log, _) = own(&format!("listens-{kind}"));
        let options = ["--versions", "2026-07-28", "--log", log.to_str().unwrap()];
        let remote = HttpServer::start_with(&["list-changed-storm:3"], &options);
        let local = ScriptedStdio::new(&["list-changed-storm:3"])
            .with_option("--versions", "2026-07-28")
            .with_log(&log);
        let entry = if kind == "http" { http(&remote) } else { stdio(&local) };
        let alive = servers([("tells", entry)]).ready().await;
        let lists = || log_lines(&log).iter().filter(|line| line.text.contains("tools/list")).count();
        let before = lists();
        // Each call keeps the conversation going until the change has come and the list was fetched again.
        let waiting = async {
            // The lists are fetched once more when the subscription begins.
            while lists() <= before + 1 {
                alive.call("tells", "slow", json!({ "ms": 20 })).await.unwrap();
            }
        };
        tokio::time::timeout(crate::alive::LONG, waiting).await.unwrap();
    }
}

// L10 F98
#[tokio::test]
async fn change_between_the_first_list_and_the_subscription_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let described = folder.path().join("described");
    std::fs::write(&described, "before").unwrap();
    let script = format!("described:{}", described.display());
    let server =
        ScriptedStdio::new(&[&script, "changed-before-listen:after"]).with_option("--versions", "2026-07-28");
    let alive = servers([("late", stdio(&server))]).ready().await;
    let is_noticed = || {
        let catalog = alive.host.publish_catalog();
        catalog.iter().any(|entry| &*entry.tool.description == "after")
    };
    // Each call gives the refresh time.
    let waiting = async {
        while !is_noticed() {
            alive.call("late", "slow", json!({ "ms": 20 })).await.unwrap();
        }
    };
    tokio::time::timeout(crate::alive::LONG, waiting).await.unwrap();
}

// F64 L11
#[tokio::test]
async fn endless_lists_are_cut_and_their_tools_offered_once() {
    for script in ["cursor-same", "cursor-endless", "many-tools:20001"] {
        let alive = servers([("long", scripted(&[script]))]).ready().await;
        let server = alive.server("long");
        assert!(!server.state.surface.gaps.is_empty(), "{script}");
        let catalog = alive.host.publish_catalog();
        let mut seen = names(&catalog);
        assert!(seen.len() > 1, "{script}");
        seen.sort_unstable();
        let all = seen.len();
        seen.dedup();
        assert_eq!(seen.len(), all, "{script}");
        assert!(!server.state.surface.notes().is_empty());
    }
}

// N12 N2
#[tokio::test]
async fn host_state_is_complete_and_has_no_secret() {
    let entry = with(scripted(&[]), "env", json!({ "API_KEY": "canary-7f3a" }));
    let alive = servers([("one", entry), ("bad", scripted(&["exit-start"]))]).ready().await;
    let state = serde_json::to_value(alive.host.state()).unwrap();
    assert!(!state.to_string().contains("canary-7f3a"));
    let client = |name: &str| {
        state["clients"].as_array().unwrap().iter().find(|client| client["name"] == name).unwrap().clone()
    };
    assert_eq!(client("one")["state"], "connected");
    assert_eq!(client("bad")["state"], "failed");
    assert!(client("bad")["reason"].as_str().unwrap().contains("code 3"));
    let name =
        state["normalizedNames"].as_array().unwrap().iter().find(|name| name["public"] == "mcp__one__echo");
    assert_eq!(*name.unwrap(), json!({ "public": "mcp__one__echo", "server": "one", "tool": "echo" }));
    assert!(state["tools"].as_array().unwrap().len() >= 8);
}
