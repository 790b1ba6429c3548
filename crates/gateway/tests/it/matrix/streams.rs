//! Notifications outside of calls: changed lists and updated resources.

use serde_json::{Value, json};

use crate::matrix::bench::Bench;
use crate::matrix::cell::Sight;

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

pub(crate) async fn list_change(bench: &mut Bench) -> Sight {
    assert_eq!(description(bench).await, "before");
    let listen = listen(bench, json!({ "toolsListChanged": true })).await;
    // In one step: the server may read the file at any time.
    std::fs::write(bench.path("described.new"), "after").unwrap();
    std::fs::rename(bench.path("described.new"), bench.path("described")).unwrap();
    let echo = bench.echo();
    bench.client.ask("tools/call", echo).await;
    let heard = bench.client.next_of("notifications/tools/list_changed").await;
    let seen = check_subscription(listen.as_ref(), &heard);
    assert_eq!(description(bench).await, "after");
    seen
}

pub(crate) async fn subscription(bench: &mut Bench) -> Sight {
    let uri = bench.address("test://note");
    let listen = listen(bench, json!({ "resourceSubscriptions": [uri] })).await;
    if listen.is_none() {
        let subscribed = bench.client.ask("resources/subscribe", json!({ "uri": uri })).await;
        assert_eq!(subscribed["result"], json!({}), "{subscribed}");
    }
    let echo = bench.echo();
    bench.client.ask("tools/call", echo).await;
    let heard = bench.client.next_of("notifications/resources/updated").await;
    assert_eq!(heard["params"]["uri"], uri, "{heard}");
    check_subscription(listen.as_ref(), &heard)
}

/// Opens a subscription of the new era, and checks that all of it is acknowledged.
async fn listen(bench: &mut Bench, filter: Value) -> Option<Value> {
    if !bench.cell.client.is_new() {
        return None;
    }
    let id = bench.client.begin("subscriptions/listen", json!({ "notifications": filter.clone() })).await;
    let acknowledged = bench.client.next_of("notifications/subscriptions/acknowledged").await;
    assert_eq!(acknowledged["params"]["notifications"], filter, "{acknowledged}");
    Some(id)
}

/// Checks that a notification names its subscription, if there is one.
fn check_subscription(listen: Option<&Value>, heard: &Value) -> Sight {
    assert_eq!(heard["params"]["_meta"].get(SUBSCRIPTION), listen, "{heard}");
    if listen.is_some() { Sight::SubscribedNotification } else { Sight::Notification }
}

/// The description of a tool whose server reads it from a file.
async fn description(bench: &mut Bench) -> String {
    let (name, list) = (bench.tool("add"), bench.client.ask("tools/list", json!({})).await);
    let tools = list["result"]["tools"].as_array().unwrap_or_else(|| panic!("{list}"));
    let tool = tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{list}"));
    tool["description"].as_str().unwrap().to_owned()
}
