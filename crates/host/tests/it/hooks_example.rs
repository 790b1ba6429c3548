//! The hooks example of the documentation works as described.

use std::path::Path;

use mcparley::{Call, CallError};
use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};

use crate::alive::{servers, stdio};
use crate::hooking::hooks;

/// Settings with the example for these events.
fn example() -> Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let script = root.join("docs/examples/guard-hook.py");
    let command = format!("python3 -B '{}'", script.display());
    let events = ["PreToolUse", "PostToolUse", "Elicitation"]
        .map(|event| (event.to_owned(), hooks(event, "*", &[&command])["hooks"][event].clone()));
    json!({ "hooks": Value::Object(events.into_iter().collect()) })
}

// P5 X5
#[tokio::test]
async fn hooks_example_denies_redacts_and_answers() {
    let plain = stdio(&ScriptedStdio::new(&[]));
    let asks =
        ScriptedStdio::new(&["server-request:elicitation/create"]).with_option("--versions", "2025-11-25");
    let making = servers([("plain", plain), ("asks", stdio(&asks))]);
    let making = making.file("home/.claude/settings.json", &example());
    let alive = making.allow("mcp__plain").allow("mcp__asks").ready().await;
    let echo = |arguments: Value| alive.host.call(Call::new("mcp__plain__echo", arguments));

    assert_eq!(echo(json!({ "message": "hi", "path": "a" })).await.unwrap().to_text(), "hi");
    let error = echo(json!({ "message": "hi", "path": "../a" })).await.unwrap_err();
    assert!(matches!(error, CallError::Denied { .. }), "{error}");
    assert!(error.to_string().contains("paths stay inside the project"), "{error}");
    let withheld = echo(json!({ "message": "the Password is 7" })).await.unwrap();
    assert_eq!(withheld.to_text(), "[withheld: it mentions a password]");
    let told = alive.echo("asks", "hi").await.unwrap();
    assert!(told.contains(r#""action":"accept""#) && told.contains("Ada"), "{told}");
    assert_eq!(alive.host.hook_notes(), []);
}
