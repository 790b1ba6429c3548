//! The folders that servers are told to work in.

use std::path::{Path, PathBuf};

use mcparley::{Call, Host, HostBuilder};
use serde_json::{Value, json};

use crate::alive::LONG;
use crate::asking::{Answer, DONE, Inside};
use crate::world::World;

const WANTS: &str = r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}"#;

fn host(server: &Inside, added: &[&str]) -> (Host, World) {
    let mut world = World::with(&[("home/project/.git/HEAD", "")]);
    world.run_options.allowed_tools.push("mcp__inside".to_owned());
    let mut paths = world.paths();
    paths.add_dirs = added.iter().map(|path| world.path(path)).collect();
    let builder = HostBuilder::new(&paths, world.load()).without_built_in_server();
    (builder.in_process_handler("inside", std::sync::Arc::new(server.clone())).start(), world)
}

fn roots(folders: &[PathBuf]) -> Value {
    let root = |folder: &PathBuf| json!({ "uri": format!("file://{}", folder.display()) });
    json!({ "roots": folders.iter().map(root).collect::<Value>() })
}

async fn asked(host: &Host) -> Value {
    let call = Call::new("mcp__inside__it", json!({}));
    serde_json::from_str(&host.call(call).await.unwrap().to_text()).unwrap()
}

// X6
#[tokio::test]
async fn server_of_the_old_era_is_notified_of_changed_roots() {
    let server = Inside::new("2025-11-25", [Answer::Asks("roots/list", json!({}))]);
    let (host, world) = host(&server, &["home/other"]);
    let here = world.path("home/project");
    assert_eq!(asked(&host).await, roots(&[here.clone(), world.path("home/other")]));
    assert_eq!(host.roots(), [here.clone(), world.path("home/other")]);
    let greeting = server.greeted.lock().unwrap().last().unwrap().clone();
    assert!(greeting.contains(r#""roots":{"listChanged":true}"#), "{greeting}");
    host.set_roots([&here]);
    let told = async {
        while !server.noted.lock().unwrap().iter().any(|it| it == "notifications/roots/list_changed") {
            server.news.notified().await;
        }
    };
    tokio::time::timeout(LONG, told).await.unwrap();
    assert_eq!(asked(&host).await, roots(&[here]));
}

// X6
#[tokio::test]
async fn server_of_the_new_era_gets_changed_roots_with_its_next_request() {
    let server = Inside::new("2026-07-28", [WANTS, DONE, WANTS, DONE].map(Answer::Result));
    let (host, world) = host(&server, &[]);
    let call = || host.call(Call::new("mcp__inside__it", json!({})));
    call().await.unwrap();
    host.set_roots([Path::new("/srv/data")]);
    call().await.unwrap();
    let heard = server.heard();
    let given = |params: &str| serde_json::from_str::<Value>(params).unwrap()["inputResponses"]["a"].clone();
    assert_eq!(given(&heard[1]), roots(&[world.path("home/project")]));
    assert_eq!(given(&heard[3]), roots(&["/srv/data".into()]));
    let greeting = server.greeted.lock().unwrap().last().unwrap().clone();
    assert!(greeting.contains(r#""roots":{}"#), "{greeting}");
    assert!(server.noted.lock().unwrap().is_empty(), "it is told nothing unasked");
}
