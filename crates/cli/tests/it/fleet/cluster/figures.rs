//! The price of a cluster: processor time of calls, and their duration while Redis is slow.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::parts::{
    Balancer, ClusterGateway, Redis, SlowProxy, TOKEN_A, call_body, free_port, open_session, refer, send,
};
use super::{echo, plain};
use crate::fleet::cluster::parts::post_new;
use crate::talk::entry;

/// The calls of one round.
const CALLS: u64 = 600;
/// Rounds of which the best counts: other programs disturb a round, and never improve it.
const ROUNDS: usize = 4;

fn servers() -> Value {
    json!({ "one": entry(&plain()), "two": entry(&plain()) })
}

fn start(redis: &Redis, options: &[&str]) -> ClusterGateway {
    let gateway = ClusterGateway::start(&servers(), redis, options);
    let tools = post_new(&gateway.address, TOKEN_A, "tools/list", json!({}));
    assert!(tools.body.contains("one__echo"), "{tools:?}");
    gateway
}

fn call_echo(address: &str, session: &[String], id: u64) {
    let body = call_body(id, "one__echo", &json!({ "message": "hello" }), false);
    assert_eq!(send(address, "POST", &refer(session), &body).text(), "hello");
}

/// The least processor time of a round of calls through a balancer, in ticks for all gateways together.
fn best_round(port: u16, gateways: &[&ClusterGateway]) -> u64 {
    let balancer = Balancer::start(port, gateways);
    let session = open_session(&balancer.address, TOKEN_A);
    // Each gateway has the session before the first round.
    (0..20).for_each(|id| call_echo(&balancer.address, &session, id));
    let spent = || gateways.iter().map(|gateway| gateway.process.processor_time()).sum::<u64>();
    let rounds = (0..ROUNDS).map(|_| {
        let before = spent();
        (0..CALLS).for_each(|id| call_echo(&balancer.address, &session, 100 + id));
        spent() - before
    });
    rounds.min().unwrap()
}

// G9 F93
#[test]
#[expect(clippy::print_stdout, reason = "the figure is what a reader of the test's output looks for")]
fn heavy_call_needs_the_same_processor_time_with_two_gateways_as_with_one() {
    let redis = Redis::start();
    let port = free_port();
    let host = format!("127.0.0.1:{port}");
    let (one, two) = (start(&redis, &["--host", &host]), start(&redis, &["--host", &host]));
    let (alone, both) = (best_round(port, &[&one]), best_round(port, &[&one, &two]));
    println!("{CALLS} calls: {alone} ticks with one gateway, {both} with two");
    assert!(alone >= 20, "{alone} ticks are too few to compare");
    // The goal of a release build is a tenth more at most; a debug build on a busy machine varies more.
    assert!(4 * both <= 5 * alone, "{both} ticks with two gateways, {alone} with one");
}

// G9
#[test]
fn heavy_calls_do_not_wait_for_redis_that_answers_slowly() {
    let redis = Redis::start();
    let slow = SlowProxy::start(&redis, &[200, 700, 450, 600]);
    let url = slow.url();
    let (one, _two) = (start(&redis, &["--state", &url]), start(&redis, &["--state", &url]));
    let session = open_session(&one.address, TOKEN_A);
    call_echo(&one.address, &session, 1);
    let mut times: Vec<Duration> = (0..40)
        .map(|id| {
            let begun = Instant::now();
            match id % 2 {
                0 => call_echo(&one.address, &session, 10 + id),
                _ => assert_eq!(post_new(&one.address, TOKEN_A, "tools/call", echo()).text(), "x"),
            }
            begun.elapsed()
        })
        .collect();
    times.sort_unstable();
    // A call that waited for one answer of Redis would take 200 ms at least.
    assert!(times[times.len() / 2] < Duration::from_millis(150), "{times:?}");
}
