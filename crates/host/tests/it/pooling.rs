//! Hosts over one pool: servers that would see the same of either host run once, and end with the last host.

use mcparley::config::StartPolicy;
use mcparley::model::name::ServerName;
use mcparley::permission::Consent;
use mcparley::{Call, Host, HostBuilder, Pool};
use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};

use crate::alive::{LONG, stdio};
use crate::world::World;

fn world(entry: &Value) -> World {
    let world = World::new();
    world.write("home/.claude.json", &json!({ "mcpServers": { "one": entry } }).to_string());
    world
}

/// A host of this world over the pool.
fn host(world: &World, pool: &Pool, change: impl FnOnce(HostBuilder) -> HostBuilder) -> Host {
    let builder =
        Host::builder(&world.paths(), &world.run_options).start_with(StartPolicy::OnDemand).pool(pool);
    change(builder.without_built_in_server()).start()
}

/// The process of the server, as the server tells.
async fn pid(host: &Host) -> String {
    let call = Call::on_server("one", "pid", json!({})).with_consent(Consent::Given);
    host.call(call).await.unwrap().to_text()
}

// L4 G3
#[tokio::test]
async fn two_hosts_of_one_folder_share_a_server_until_the_last_one_ends() {
    let (world, pool) = (world(&stdio(&ScriptedStdio::new(&[]))), Pool::default());
    let (first, second) = (host(&world, &pool, |it| it), host(&world, &pool, |it| it));
    let process = pid(&first).await;
    assert_eq!(pid(&second).await, process, "one process for both");
    first.shut_down().await;
    assert_eq!(pid(&second).await, process, "the second goes on with it");
    second.shut_down().await;
    let third = host(&world, &pool, |it| it);
    assert_ne!(pid(&third).await, process, "it has ended with the last host");
    third.shut_down().await;
}

// L4 G3
#[tokio::test]
async fn folder_and_environment_of_a_local_server_keep_hosts_apart() {
    let entry = stdio(&ScriptedStdio::new(&[]));
    let (mut other, pool) = (world(&entry), Pool::default());
    let here = world(&entry);
    let (first, elsewhere) = (host(&here, &pool, |it| it), host(&other, &pool, |it| it));
    assert_ne!(pid(&first).await, pid(&elsewhere).await, "another project folder");
    other.set("TZ", "Antarctica/Troll");
    let changed = host(&other, &pool, |it| it);
    assert_ne!(pid(&elsewhere).await, pid(&changed).await, "another environment");
    for host in [first, elsewhere, changed] {
        host.shut_down().await;
    }
}

// L4 G3
#[tokio::test]
async fn server_disabled_by_one_host_stays_enabled_for_the_other() {
    let (world, pool) = (world(&stdio(&ScriptedStdio::new(&[]))), Pool::default());
    let (first, second) = (host(&world, &pool, |it| it), host(&world, &pool, |it| it));
    let (name, process) = (ServerName::new("one"), pid(&first).await);
    assert_eq!(pid(&second).await, process);
    assert!(first.disable_server(&name).await);
    let call = Call::on_server("one", "pid", json!({})).with_consent(Consent::Given);
    first.call(call).await.unwrap_err();
    assert_eq!(pid(&second).await, process, "the other host keeps it");
    assert!(first.enable_server(&name).await);
    assert!(first.wait_until_ready(LONG).await.settled);
    pid(&first).await;
    for host in [first, second] {
        host.shut_down().await;
    }
}
