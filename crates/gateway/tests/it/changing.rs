//! Lists that change while a client looks at them.

use mcparley_testkit::ScriptedStdio;
use serde_json::json;

use crate::client::{Client, NEW};
use crate::world::World;

const LIST_CHANGED: &str = "notifications/tools/list_changed";

// L10 N11 C13 G1
#[tokio::test]
async fn client_is_notified_of_new_tools_and_lists_them_after_the_old_ones() {
    let mut gateway = World::one().gateway();
    let mut client = Client::new(&gateway, "2025-11-25").await;
    let before = client.tools().await;
    gateway.world.add("a_second", &ScriptedStdio::new(&[]));
    client.next_of(LIST_CHANGED).await;
    let after = client.tools().await;
    assert_eq!(after.get(..before.len()), Some(before.as_slice()), "what was shown has not moved");
    assert!(after.contains(&"a_second__echo".to_owned()), "{after:?}");
}

// G1: a change is announced to subscribers only, under the id of the subscription.
#[tokio::test]
async fn new_client_gets_the_notifications_it_subscribed_to() {
    let mut gateway = World::one().gateway();
    let mut listening = Client::new(&gateway, NEW).await;
    let mut silent = Client::new(&gateway, NEW).await;
    listening.tools().await;
    silent.tools().await;
    let wanted =
        json!({ "toolsListChanged": true, "promptsListChanged": true, "resourceSubscriptions": ["a://b"] });
    listening.begin_as(&json!("sub"), "subscriptions/listen", json!({ "notifications": wanted })).await;
    let taken = listening.next_of("notifications/subscriptions/acknowledged").await;
    // Nothing has this address, so it is not acknowledged.
    let kept = json!({ "toolsListChanged": true, "promptsListChanged": true });
    assert_eq!(taken["params"]["notifications"], kept);
    assert_eq!(taken["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "sub");
    gateway.world.add("second", &ScriptedStdio::new(&[]));
    let told = listening.next_of(LIST_CHANGED).await;
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "sub");
    assert!(listening.tools().await.contains(&"second__echo".to_owned()));
    assert!(silent.tools().await.contains(&"second__echo".to_owned()));
    assert!(silent.heard.is_empty(), "{:?}", silent.heard);
    listening.tell("notifications/cancelled", Some(json!({ "requestId": "sub" }))).await;
    listening.tools().await;
    assert!(
        listening.heard.iter().all(|message| message["id"] != "sub"),
        "what is taken back is not answered"
    );
}

// F61
#[tokio::test]
async fn list_changes_without_effect_are_not_announced() {
    let server = ScriptedStdio::new(&["list-changed-storm:20000"]);
    let gateway = World::with([("one", server)]).allow("mcp__one").gateway();
    let mut client = Client::new(&gateway, "2025-11-25").await;
    client.tools().await;
    for _ in 0..3 {
        let result = client.call("one__echo", json!({ "message": "through" })).await;
        assert_eq!(result["content"][0]["text"], "through");
    }
    assert!(client.heard.is_empty(), "{:?}", client.heard);
}
