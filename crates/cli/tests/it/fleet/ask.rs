//! `ask` with a scripted model over a real server: several tools, an image, and a stored result that is read on.

use mcparley_testkit::ModelServer;
use serde_json::{Value, json};

use super::place::Place;
use super::servers::EVERYTHING;
use crate::ask::{use_anthropic, use_openai};
use crate::world::World;

/// How the configuration names the server.
const NAME: &str = "everything";

fn call(tool: &str, arguments: &Value) -> Value {
    json!({ "name": format!("mcp__{NAME}__{tool}"), "arguments": arguments })
}

/// A task with four tools. The model checks each result before it goes on.
fn task() -> Value {
    let lines: String = (1..=400).map(|number| format!("line {number}\n")).collect();
    let read = json!({ "name": "ReadResult", "arguments": { "handle": "${handle}", "grep": "line 399" } });
    let handle = json!({ "handle": { "after": "It is stored as `", "before": "`" } });
    json!([
        { "text": "First the sum.", "calls": [call("get-sum", &json!({ "a": 40, "b": 2 })), call("get-tiny-image", &json!({}))] },
        { "calls": [call("echo", &json!({ "message": lines }))], "expect": ["The sum of 40 and 2 is 42."] },
        { "calls": [read], "capture": handle },
        { "text": "The sum is 42, the image is tiny, and line 399 is there.", "expect": ["399:line 399"] },
    ])
}

fn assert_task_is_done(provider: &str, configure: fn(&mut World, &ModelServer), image: &str) {
    let mut place = Place::new();
    let (entry, _running) = (EVERYTHING.entry)(&place);
    place.configure(NAME, &entry);
    let model = ModelServer::start(&task());
    configure(&mut place.world, &model);
    place.world.set("MAX_MCP_OUTPUT_TOKENS", "700");
    let report = place.world.json(&["ask", "do all of it", "--allowed-tools", "mcp__everything,ReadResult"]);
    assert_eq!(report["text"], "The sum is 42, the image is tiny, and line 399 is there.", "{report:#}");
    let calls = report["toolCalls"].as_array().unwrap();
    let outcomes: Vec<(&str, &str)> = calls
        .iter()
        .map(|call| (call["name"].as_str().unwrap(), call["outcome"].as_str().unwrap()))
        .collect();
    assert_eq!(
        outcomes,
        [
            ("mcp__everything__get-sum", "ok"),
            ("mcp__everything__get-tiny-image", "ok"),
            ("mcp__everything__echo", "ok"),
            ("ReadResult", "ok"),
        ],
        "{provider}"
    );
    assert_eq!(calls[1]["images"], 1, "{provider}: {report:#}");
    assert!(calls[2]["storedBytes"].as_u64().unwrap() > 3_000, "{provider}: {report:#}");
    let requests = model.requests();
    assert_eq!(requests.len(), 4, "{provider}");
    assert!(requests[1]["body"].to_string().contains(image), "{provider}: {:#}", requests[1]["body"]);
    for request in requests {
        assert_eq!(request["problems"], json!([]), "{provider}");
    }
    assert_eq!(place.processes(), Vec::<u32>::new(), "nothing is left running");
}

// U4 N13 R1 R2 R3 R5 K5
#[test]
fn fleet_everything_task_with_an_image_and_a_stored_result_is_done_with_anthropic() {
    assert_task_is_done("anthropic", use_anthropic, r#""media_type":"image/png""#);
}

// U4 N13 R1 R2 R3 R5 K5
#[test]
fn fleet_everything_task_with_an_image_and_a_stored_result_is_done_with_openai() {
    assert_task_is_done("openai", use_openai, "data:image/png;base64,");
}

// U4 N13 R1 R2 R3 R5 K5
#[test]
fn fleet_everything_task_with_an_image_and_a_stored_result_is_done_with_gemini() {
    let configure = |world: &mut World, model: &ModelServer| {
        world.set("GEMINI_API_KEY", "canary-key");
        world.set("GEMINI_BASE_URL", model.url());
    };
    assert_task_is_done("gemini", configure, r#""mimeType":"image/png""#);
}
