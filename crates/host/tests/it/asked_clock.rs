//! The clock of a call while a person is asked, on a clock of its own.

use std::time::Duration;

use mcparley::elicit::{Elicitation, ElicitationReply, Elicitor};
use mcparley::{BoxedFuture, Call, Host, HostBuilder};
use serde_json::json;
use tokio::time::Instant;

use crate::asking::{Answer, DONE, Inside, form};
use crate::world::World;

const HOUR: Duration = Duration::from_secs(60 * 60);
const LIMIT: Duration = Duration::from_secs(10);

const WANTS: &str = r#"{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":
    {"message":"m","requestedSchema":{"type":"object","properties":{}}}}}}"#;

/// Takes an hour to say no.
struct Ponderous;

impl Elicitor for Ponderous {
    fn ask<'q>(&'q self, _question: Elicitation<'q>) -> BoxedFuture<'q, ElicitationReply> {
        Box::pin(async {
            tokio::time::sleep(HOUR).await;
            ElicitationReply::Decline
        })
    }
}

fn host(server: &Inside) -> (Host, World) {
    let mut world = World::new();
    world.run_options.allowed_tools.push("mcp__inside".to_owned());
    let builder = HostBuilder::new(&world.paths(), world.load()).without_built_in_server();
    let builder = builder.in_process_handler("inside", std::sync::Arc::new(server.clone()));
    (builder.elicitor(Ponderous).start(), world)
}

fn call() -> Call {
    Call::new("mcp__inside__it", json!({})).with_limit(LIMIT)
}

// K2
#[tokio::test(start_paused = true)]
async fn a_person_may_take_longer_than_the_limit_of_the_call_in_both_eras() {
    let asks = Answer::Asks("elicitation/create", form());
    for (version, answers) in
        [("2025-11-25", vec![asks]), ("2026-07-28", vec![Answer::Result(WANTS), Answer::Result(DONE)])]
    {
        let (host, _world) = host(&Inside::new(version, answers));
        let begun = Instant::now();
        assert!(host.call(call()).await.is_ok(), "{version}");
        assert!(begun.elapsed() >= HOUR, "{version}: {:?}", begun.elapsed());
    }
}

// K2
#[tokio::test(start_paused = true)]
async fn remaining_deadline_counts_after_the_user_has_answered() {
    let (host, _world) = host(&Inside::new("2026-07-28", [Answer::Result(WANTS), Answer::Silence]));
    host.wait_until_ready(LIMIT).await;
    let begun = Instant::now();
    let error = host.call(call()).await.unwrap_err();
    assert!(error.is_timeout(), "{error}");
    assert_eq!(begun.elapsed().as_secs(), (HOUR + LIMIT).as_secs());
}

// K2
#[tokio::test(start_paused = true)]
async fn deadline_is_unchanged_without_questions() {
    let (host, _world) = host(&Inside::new("2025-11-25", [Answer::Silence]));
    host.wait_until_ready(LIMIT).await;
    let begun = Instant::now();
    assert!(host.call(call()).await.unwrap_err().is_timeout());
    assert_eq!(begun.elapsed().as_secs(), LIMIT.as_secs());
}

// K2: a server that reports progress is at work, but not for ever.
#[tokio::test(start_paused = true)]
async fn progress_resets_the_timeout_up_to_the_absolute_cap() {
    let server = Inside::new("2025-11-25", [Answer::Silence]);
    let (host, _world) = host(&server);
    host.wait_until_ready(LIMIT).await;
    let begun = Instant::now();
    let telling = async {
        loop {
            tokio::time::sleep(HOUR).await;
            let params: serde_json::Value = serde_json::from_str(&server.heard()[0]).unwrap();
            let token = &params["_meta"]["progressToken"];
            server.tell("notifications/progress", json!({ "progressToken": token, "progress": 1 })).await;
        }
    };
    let error = tokio::select! {
        result = host.call(call().with_limit(2 * HOUR)) => result.unwrap_err(),
        () = telling => unreachable!(),
    };
    assert!(error.is_timeout(), "{error}");
    assert_eq!(begun.elapsed().as_secs(), 100_000);
}
