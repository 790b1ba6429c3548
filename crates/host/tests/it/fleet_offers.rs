//! A real server's resources, templates, prompts and instructions.

use mcparley::ContentBlock;
use mcparley::model::name::ServerName;
use mcparley::prompt::PromptCall;
use mcparley::results::ResourceBody;
use serde_json::json;

use crate::alive::{Alive, LONG};
use crate::fleet_asks::everything;

async fn alive() -> (Alive, ServerName) {
    (everything().ready().await, ServerName::new("everything"))
}

// X1 L11
#[tokio::test]
async fn fleet_everything_lists_and_reads_resources_and_those_of_its_templates() {
    let (alive, server) = alive().await;
    let all = alive.host.resources(Some(&server)).unwrap();
    assert!(!all.resources.is_empty() && all.templates.len() == 2, "{all:?}");
    let read = alive.host.read_resource(&server, &all.resources[0].uri).await.unwrap();
    assert!(!read.content.is_empty());
    let text = all.templates.iter().find(|it| it.uri_template.contains("/text/")).unwrap();
    assert_eq!(text.variables(), ["resourceId"]);
    let uri = text.expand(&[("resourceId", "1")]).unwrap();
    let read = alive.host.read_resource(&server, &uri).await.unwrap();
    let [ContentBlock::Resource { body: ResourceBody::Text(words), .. }] = read.content.as_slice() else {
        panic!("{read:?}")
    };
    assert!(words.contains("Resource 1"), "{words}");
    let error = alive.host.read_resource(&server, "demo://nowhere").await.unwrap_err();
    assert!(error.is_not_found(), "{error}");
}

// X1
#[tokio::test]
async fn fleet_everything_tells_when_a_resource_changes() {
    let (alive, server) = alive().await;
    let uri = alive.host.resources(Some(&server)).unwrap().resources[0].uri.clone();
    let mut watched = alive.host.subscribe_to_resource(&server, &uri).await.unwrap();
    alive.call("everything", "toggle-subscriber-updates", json!({})).await.unwrap();
    tokio::time::timeout(LONG, watched.wait_for_update()).await.unwrap().unwrap();
}

// X3 X4
#[tokio::test]
async fn fleet_everything_gives_prompts_with_arguments_and_has_instructions() {
    let (alive, _) = alive().await;
    let call = PromptCall::parse(r#"/mcp__everything__args-prompt "New York" state=NY"#).unwrap();
    let given = alive.host.fetch_prompt(&call).await.unwrap();
    assert_eq!(given.messages[0].content, [ContentBlock::Text("What's weather in New York, NY?".to_owned())]);
    let missing =
        alive.host.fetch_prompt(&PromptCall::new("mcp__everything__args-prompt")).await.unwrap_err();
    assert_eq!(missing.to_string(), "the argument `city` is missing (Name of the city)");
    assert!(alive.host.instructions().text().contains("## everything\n\n> "));
}
