//! In-process servers as the host sees them: both eras, results, errors.

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Sum {
    a: i64,
    b: i64,
}

fn calculator() -> InProcessServer {
    let schema = json!({ "type": "object", "description": "Adds." });
    InProcessServer::new("calc")
        .version("1.2.3")
        .instructions("Ask for sums.")
        .tool("add", schema, |Sum { a, b }| async move {
            a.checked_add(b).map(|sum| json!({ "sum": sum })).ok_or("too large")
        })
        .tool("echo", json!({ "type": "object" }), |arguments: Value| async move {
            Ok::<_, String>(arguments["text"].clone())
        })
}

async fn answer(method: &str, params: Value) -> Result<Value, RpcError> {
    calculator().answer_request(method, RawJson::from_value(&params).ok().as_ref()).await
}

async fn call(name: &str, arguments: Value) -> Value {
    answer("tools/call", json!({ "name": name, "arguments": arguments })).await.unwrap()
}

#[tokio::test]
async fn both_eras_learn_name_version_and_instructions() {
    let new = answer("server/discover", json!({})).await.unwrap();
    assert_eq!(
        new["_meta"]["io.modelcontextprotocol/serverInfo"],
        json!({ "name": "calc", "version": "1.2.3" })
    );
    assert_eq!(
        (&new["instructions"], &new["supportedVersions"]),
        (&json!("Ask for sums."), &json!([NEW_ERA]))
    );
    let old = answer("initialize", json!({ "protocolVersion": "2025-06-18" })).await.unwrap();
    assert_eq!(
        old,
        json!({
            "protocolVersion": "2025-06-18", "capabilities": { "tools": {} }, "instructions": "Ask for sums.",
            "serverInfo": { "name": "calc", "version": "1.2.3" },
        })
    );
    assert_eq!(answer("ping", json!({})).await.unwrap(), json!({}));
}

#[tokio::test]
async fn tool_takes_its_description_from_the_schema() {
    let listed = answer("tools/list", json!({})).await.unwrap();
    let schema = json!({ "type": "object", "description": "Adds." });
    assert_eq!(listed["tools"][0], json!({ "name": "add", "description": "Adds.", "inputSchema": schema }));
}

#[tokio::test]
async fn object_is_structured_content_and_other_json_is_text() {
    let sum = call("add", json!({ "a": 40, "b": 2 })).await;
    assert_eq!(sum["structuredContent"], json!({ "sum": 42 }));
    assert_eq!(sum["content"], json!([{ "type": "text", "text": "{\"sum\":42}" }]));
    let text = call("echo", json!({ "text": "hello" })).await;
    assert_eq!(text, json!({ "resultType": "complete", "content": [{ "type": "text", "text": "hello" }] }));
    assert_eq!(call("echo", json!({ "text": [1] })).await["content"][0]["text"], "[1]");
}

#[tokio::test]
async fn tool_error_and_invalid_arguments_are_results_with_is_error() {
    let large = call("add", json!({ "a": i64::MAX, "b": 1 })).await;
    assert_eq!((&large["isError"], &large["content"][0]["text"]), (&json!(true), &json!("too large")));
    let unfit = call("add", json!({ "a": 1 })).await;
    assert_eq!(unfit["content"][0]["text"], "invalid arguments: missing field `b`");
    assert_eq!(unfit["isError"], true);
}

#[tokio::test]
async fn unknown_tool_and_unknown_method_are_protocol_errors() {
    let unknown = answer("tools/call", json!({ "name": "subtract" })).await.unwrap_err();
    assert_eq!(unknown.code, INVALID_PARAMS);
    assert_eq!(answer("resources/list", json!({})).await.unwrap_err().code, METHOD_NOT_FOUND);
}
