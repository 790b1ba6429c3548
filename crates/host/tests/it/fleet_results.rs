//! Results of a real server, as a model gets them: every kind of content.

use mcparley::ContentBlock;
use mcparley::results::ResourceBody;
use serde_json::json;

use crate::alive::Alive;
use crate::fleet_asks::everything;

/// The server, and files for binary content.
fn begun() -> Alive {
    everything().start_in(|paths| paths.results = Some(paths.home.join("results")))
}

// R1 R3
#[tokio::test]
async fn fleet_everything_gives_an_image_that_a_model_can_see() {
    let alive = begun();
    let given = alive.call("everything", "get-tiny-image", json!({})).await.unwrap();
    let [ContentBlock::Text(_), ContentBlock::Image { mime, data }, ContentBlock::Text(_)] =
        given.content.as_slice()
    else {
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
    assert!(
        matches!(given.content.as_slice(), [ContentBlock::Text(_), ContentBlock::Image { .. }]),
        "{:?}",
        given.content
    );
}

// R1
#[tokio::test]
async fn fleet_everything_gives_links_to_resources() {
    let alive = begun();
    let given = alive.call("everything", "get-resource-links", json!({ "count": 3 })).await.unwrap();
    let links = given.content.iter().filter(|block| matches!(block, ContentBlock::Link { .. })).count();
    assert_eq!(links, 3, "{:?}", given.content);
    assert!(given.to_text().contains("[link "), "{}", given.to_text());
}

// R1 R3
#[tokio::test]
async fn fleet_everything_gives_embedded_resources_and_binary_ones_go_into_files() {
    let alive = begun();
    let arguments = |kind: &str| json!({ "resourceType": kind, "resourceId": 1 });
    let given = alive.call("everything", "get-resource-reference", arguments("Text")).await.unwrap();
    let has_text =
        |block: &ContentBlock| matches!(block, ContentBlock::Resource { body: ResourceBody::Text(_), .. });
    assert!(given.content.iter().any(has_text), "{:?}", given.content);
    let given = alive.call("everything", "get-resource-reference", arguments("Blob")).await.unwrap();
    let [stored] = given.stored.as_slice() else { panic!("{given:?}") };
    let path = stored.path.as_ref().unwrap();
    assert_eq!(path.metadata().unwrap().len(), stored.bytes);
    assert!(given.to_text().contains(path.to_str().unwrap()), "{}", given.to_text());
}

// R1 R7
#[tokio::test]
async fn fleet_everything_gives_data_once() {
    let alive = begun();
    let given =
        alive.call("everything", "get-structured-content", json!({ "location": "New York" })).await.unwrap();
    let structured = given.structured.as_ref().unwrap().as_str();
    let text = given.to_text();
    assert_eq!(text.matches("temperature").count(), 1, "{text} {structured}");
}
