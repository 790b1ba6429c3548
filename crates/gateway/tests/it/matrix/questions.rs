//! Requests of servers during a call: forms, pages, sampling and roots.

use serde_json::{Value, json};

use crate::matrix::bench::Bench;
use crate::matrix::cell::{Feature, Sight};

/// The method of the request, the beginning of its key, the answer, and the part of it that proves that the
/// server got it.
fn exchange(feature: Feature) -> (&'static str, &'static str, Value, &'static str) {
    match feature {
        Feature::Form => {
            let answer = json!({ "action": "accept", "content": { "name": "Grace" } });
            ("elicitation/create", "elicitation-1", answer, "Grace")
        }
        Feature::Url => ("elicitation/create", "elicitation-1", json!({ "action": "accept" }), "accept"),
        Feature::Sampling => {
            let content = json!({ "type": "text", "text": "Paris" });
            let answer = json!({ "role": "assistant", "content": content, "model": "m" });
            ("sampling/createMessage", "sampling-1", answer, "Paris")
        }
        _ => {
            let answer = json!({ "roots": [{ "uri": "file:///srv/here", "name": "here" }] });
            ("roots/list", "roots-1", answer, "file:///srv/here")
        }
    }
}

pub(crate) async fn ask(bench: &mut Bench) -> Sight {
    if bench.cell.client.is_new() {
        return ask_in_result(bench).await;
    }
    let (method, _, answer, proof) = exchange(bench.cell.feature);
    let echo = bench.echo();
    let id = bench.client.begin("tools/call", echo).await;
    let question = bench.client.next_of(method).await;
    check_question(bench, &question["params"]);
    bench.client.reply(&question["id"], answer).await;
    let done = bench.client.answer(&id).await;
    check_proof(&done, proof);
    if bench.cell.feature == Feature::Url && !bench.cell.server.is_new() {
        let visited = bench.client.next_of("notifications/elicitation/complete").await;
        assert_eq!(visited["params"]["elicitationId"], question["params"]["elicitationId"], "{visited}");
    }
    Sight::Request
}

pub(crate) async fn roots(bench: &mut Bench) -> Sight {
    if bench.cell.client.is_new() {
        return ask_in_result(bench).await;
    }
    let (method, _, answer, proof) = exchange(Feature::Roots);
    let question = bench.client.next_of(method).await;
    bench.client.reply(&question["id"], answer).await;
    for _ in 0..2 {
        let echo = bench.echo();
        let done = bench.client.ask("tools/call", echo).await;
        check_proof(&done, proof);
    }
    assert!(bench.client.heard.iter().all(|it| it["method"] != method), "{:?}", bench.client.heard);
    Sight::SessionRequest
}

/// Answers the input requests in the result of a call.
async fn ask_in_result(bench: &mut Bench) -> Sight {
    let (method, counted, answer, proof) = exchange(bench.cell.feature);
    let mut echo = bench.echo();
    let asked = bench.client.ask("tools/call", echo.clone()).await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let requests = asked["result"]["inputRequests"].as_object().unwrap_or_else(|| panic!("{asked}"));
    let (key, request) = requests.iter().next().unwrap();
    assert_eq!((requests.len(), &request["method"]), (1, &json!(method)), "{asked}");
    check_question(bench, &request["params"]);
    echo["inputResponses"] = json!({ key.as_str(): answer });
    echo["requestState"] = asked["result"]["requestState"].clone();
    let done = bench.client.ask("tools/call", echo).await;
    check_proof(&done, proof);
    match key.as_str() {
        "it" => Sight::ServerKeys,
        key => {
            assert_eq!(key, counted);
            Sight::CountedKeys
        }
    }
}

/// Checks the parameters that the schema leaves open.
fn check_question(bench: &Bench, params: &Value) {
    let has_id = params.get("elicitationId").is_some();
    match bench.cell.feature {
        Feature::Url => {
            assert_eq!(params["url"], "https://example.com/visit", "{params}");
            let is_removed = bench.cell.client.is_new() && !bench.cell.server.is_new();
            assert!(!is_removed || !has_id, "{params}");
        }
        Feature::Form => {
            assert_eq!(params["message"], "Who are you?", "{params}");
            assert_eq!(params["requestedSchema"]["required"], json!(["name"]), "{params}");
        }
        Feature::Sampling => assert_eq!(params["maxTokens"], 10, "{params}"),
        _ => {}
    }
}

fn check_proof(done: &Value, proof: &str) {
    let text = done["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{done}"));
    assert!(text.contains(proof), "the server did not get the answer: {done}");
}
