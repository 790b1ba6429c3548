//! What a real server answers, as a model is given it: every kind of content.

use mcparley::{Block, Body};
use serde_json::json;

use crate::alive::Alive;
use crate::fleet_asks::everything;

/// The server, and files for what is no text.
fn begun() -> Alive {
    everything().start_in(|paths| paths.results = Some(paths.home.join("results")))
}

// R1 R3
#[tokio::test]
async fn fleet_everything_gives_an_image_that_a_model_can_see() {
    let alive = begun();
    let given = alive.call("everything", "get-tiny-image", json!({})).await.unwrap();
    let [Block::Text(_), Block::Image { mime, data }, Block::Text(_)] = given.content.as_slice() else {
        panic!("{:?}", given.content)
    };
    assert!(mime == "image/png" && data.starts_with("iVBORw0KGgo"), "{mime}");
    assert!(!given.is_fitted && given.stored.is_empty());
}

// R1
#[tokio::test]
async fn fleet_everything_gives_a_message_with_an_image() {
    let alive = begun();
    let arguments = json!({ "messageType": "success", "includeImage": true });
    let given = alive.call("everything", "get-annotated-message", arguments).await.unwrap();
    assert!(matches!(given.content.as_slice(), [Block::Text(_), Block::Image { .. }]), "{:?}", given.content);
}

// R1
#[tokio::test]
async fn fleet_everything_gives_links_to_resources() {
    let alive = begun();
    let given = alive.call("everything", "get-resource-links", json!({ "count": 3 })).await.unwrap();
    let links = given.content.iter().filter(|block| matches!(block, Block::Link { .. })).count();
    assert_eq!(links, 3, "{:?}", given.content);
    assert!(given.text().contains("[link "), "{}", given.text());
}

// R1 R3
#[tokio::test]
async fn fleet_everything_gives_embedded_resources_and_binary_ones_go_into_files() {
    let alive = begun();
    let arguments = |kind: &str| json!({ "resourceType": kind, "resourceId": 1 });
    let given = alive.call("everything", "get-resource-reference", arguments("Text")).await.unwrap();
    let has_text = |block: &Block| matches!(block, Block::Resource { body: Body::Text(_), .. });
    assert!(given.content.iter().any(has_text), "{:?}", given.content);
    let given = alive.call("everything", "get-resource-reference", arguments("Blob")).await.unwrap();
    let [stored] = given.stored.as_slice() else { panic!("{given:?}") };
    let path = stored.path.as_ref().unwrap();
    assert_eq!(path.metadata().unwrap().len(), stored.bytes);
    assert!(given.text().contains(path.to_str().unwrap()), "{}", given.text());
}

// R1 R7
#[tokio::test]
async fn fleet_everything_gives_data_once() {
    let alive = begun();
    let given =
        alive.call("everything", "get-structured-content", json!({ "location": "New York" })).await.unwrap();
    let structured = given.structured.as_ref().unwrap().as_str();
    let text = given.text();
    assert_eq!(text.matches("temperature").count(), 1, "{text} {structured}");
}
