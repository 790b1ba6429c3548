//! Questions, roots and capabilities of clients that share a server, or must not.

use mcparley::elicit::ElicitationReply;
use mcparley_testkit::ScriptedStdio;
use serde_json::json;

use crate::world::{Client, World, entry};

/// A client that answers every form with this name.
fn asked(world: &World, session: &str, server: &ScriptedStdio, name: &str) -> Client {
    let answer = json!({ "name": name });
    world.client_with("project", session, &entry(server), |host| {
        host.elicitor_fn(move |_| Box::pin(std::future::ready(ElicitationReply::Accept(answer.clone()))))
    })
}

// G3 G8
#[tokio::test]
async fn questions_of_a_shared_server_reach_the_client_of_the_call() {
    let world = World::new();
    let server = ScriptedStdio::new(&["asks:form"]);
    let (first, second) = (asked(&world, "a", &server, "Ada"), asked(&world, "b", &server, "Bob"));
    let (ada, bob) = tokio::join!(
        first.call("echo", json!({ "message": "x" })),
        second.call("echo", json!({ "message": "x" })),
    );
    assert!(ada.as_ref().is_ok_and(|text| text.contains("Ada")), "{ada:?}");
    assert!(bob.as_ref().is_ok_and(|text| text.contains("Bob")), "{bob:?}");
}

// G8
#[tokio::test]
async fn server_that_has_asked_gets_a_process_for_each_session() {
    let world = World::new();
    let server = ScriptedStdio::new(&["asks:form"]);
    let first = asked(&world, "a", &server, "Ada");
    first.call("echo", json!({ "message": "x" })).await.unwrap();
    let second = asked(&world, "b", &server, "Bob");
    second.call("echo", json!({ "message": "x" })).await.unwrap();
    world.wait_for_status(|status| status.copies.len() == 2).await;
}

// G8 X6
#[tokio::test]
async fn server_that_reads_roots_has_a_process_for_each_set_of_roots() {
    let world = World::new();
    let server = entry(&ScriptedStdio::new(&["asks:roots"])).field("share", "auto").cwd("/");
    let (first, second) = (
        world.client_with("here", "a", &server, |host| host),
        world.client_with("there", "b", &server, |host| host),
    );
    let here = first.call("echo", json!({ "message": "x" })).await.unwrap();
    let there = second.call("echo", json!({ "message": "x" })).await.unwrap();
    assert!(here.contains("/home/here") && !here.contains("/home/there"), "{here}");
    assert!(there.contains("/home/there") && !there.contains("/home/here"), "{there}");
}

// G8 L12
#[tokio::test]
async fn clients_with_other_capabilities_share_a_server_only_once_it_is_known_not_to_depend_on_them() {
    let world = World::new();
    let server = ScriptedStdio::new(&[]);
    let silent = world.client("project", &server);
    let talking = asked(&world, "project", &server, "Ada");
    assert_ne!(silent.pid().await, talking.pid().await, "the server may list other tools");
    let third = asked(&world, "project", &server, "Bob");
    let fourth = world.client("project", &server);
    assert_eq!(third.pid().await, fourth.pid().await, "both lists were equal");
}

// G8
#[tokio::test]
async fn copy_that_offers_everything_is_shared_once_the_server_is_known_to_ignore_it() {
    let world = World::new();
    let server = ScriptedStdio::new(&[]);
    let silent = world.client("project", &server);
    silent.pid().await;
    let gateway = |session: &str| {
        world.client_with("project", session, &entry(&server), mcparley_gateway::Gateway::prepare_host)
    };
    let (first, second) = (gateway("a"), gateway("b"));
    assert_eq!(first.pid().await, second.pid().await);
    assert_eq!(world.status().await.copies.len(), 2);
}
