//! The plain tools of the server: contents, errors, progress, logs and questions in mid-call.

use super::rpc::{RpcFailure, RpcOutcome, content_result, text_block, text_result};
use super::scope::{ClientInput, RequestScope, form, sampling};
use serde_json::{Value, json};
use std::thread;
use std::time::Duration;

/// An image of one pixel.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNQaDgAAAIkAWHdFJqQAAAAAElFTkSuQmCC";
/// A sound of four samples.
const WAV: &str = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQgAAAAAAIQDAAB8/A==";

/// The time between two notifications of a call.
const STEP: Duration = Duration::from_millis(50);

/// The names and descriptions of tools without arguments.
const PLAIN: [(&str, &str); 14] = [
    ("test_simple_text", "Returns a text"),
    ("test_image_content", "Returns an image"),
    ("test_audio_content", "Returns a sound"),
    ("test_embedded_resource", "Returns an embedded resource"),
    ("test_multiple_content_types", "Returns text, image and resource"),
    ("test_error_handling", "Fails always"),
    ("test_tool_with_logging", "Logs three messages"),
    ("test_logging_tool", "Logs one message"),
    ("test_tool_with_progress", "Reports progress three times"),
    ("test_elicitation_sep1034_defaults", "Asks with a form that has defaults"),
    ("test_elicitation_sep1330_enums", "Asks with a form of choices"),
    ("test_reconnection", "Closes its stream before the answer"),
    ("test_missing_capability", "Needs a client that can sample"),
    ("test_streaming_elicitation", "Asks once"),
];

/// The definitions of the tools.
pub(crate) fn plain_tools() -> Vec<Value> {
    let mut tools: Vec<Value> =
        PLAIN.iter().map(|&(name, text)| define_tool(name, text, &json!({}), &[])).collect();
    let text = json!({ "type": "string" });
    tools.extend([
        define_tool("greet", "Greets by name", &json!({ "name": text }), &["name"]),
        define_tool("test_sampling", "Asks the client's model", &json!({ "prompt": text }), &["prompt"]),
        define_tool("test_elicitation", "Asks the user", &json!({ "message": text }), &["message"]),
        define_tool(
            "test_x_mcp_header",
            "Has an argument that is mirrored in a header",
            &json!({ "region": { "type": "string", "x-mcp-header": "Region" } }),
            &[],
        ),
        json!({
            "name": "json_schema_2020_12_tool",
            "description": "Has a schema with many keywords",
            "inputSchema": rich_schema(),
        }),
    ]);
    tools
}

/// A definition with an object schema.
pub(crate) fn define_tool(name: &str, description: &str, properties: &Value, required: &[&str]) -> Value {
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    json!({ "name": name, "description": description, "inputSchema": schema })
}

fn rich_schema() -> Value {
    let text = json!({ "type": "string" });
    let needs = |field: &str| json!({ "required": [field] });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": text, "city": text },
            },
        },
        "properties": {
            "name": text,
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": text,
            "email": text,
        },
        "allOf": [{ "anyOf": [needs("phone"), needs("email")] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": needs("phone"),
        "else": needs("email"),
        "additionalProperties": false,
    })
}

/// Calls a tool of this family; none for other tools.
pub(crate) fn call_plain_tool(name: &str, scope: &RequestScope<'_>) -> Option<RpcOutcome> {
    Some(match name {
        "test_simple_text" => Ok(text_result("This is a simple text response for testing.")),
        "test_image_content" => Ok(content_result(&[image()])),
        "test_audio_content" => {
            Ok(content_result(&[json!({ "type": "audio", "data": WAV, "mimeType": "audio/wav" })]))
        }
        "test_embedded_resource" => {
            let text = "This is an embedded resource content.";
            Ok(content_result(&[resource("test://embedded-resource", "text/plain", text)]))
        }
        "test_multiple_content_types" => {
            let data = r#"{"test":"data","value":123}"#;
            let resource = resource("test://mixed-content-resource", "application/json", data);
            Ok(content_result(&[text_block("Multiple content types test:"), image(), resource]))
        }
        "test_error_handling" => {
            let mut failed = text_result("This tool intentionally returns an error for testing");
            failed["isError"] = json!(true);
            Ok(failed)
        }
        "test_tool_with_logging" => {
            Ok(run_steps(&["started", "at work", "finished"], |step| scope.log(step)))
        }
        "test_logging_tool" => Ok(run_steps(&["called"], |step| scope.log(step))),
        "test_tool_with_progress" => Ok(run_steps(&[0, 50, 100], |step| scope.report_progress(*step, 100))),
        "test_reconnection" => {
            thread::sleep(STEP);
            scope.channel.hang_up();
            thread::sleep(STEP);
            Ok(text_result("The answer came after the stream was closed."))
        }
        "greet" => Ok(text_result(format!("Hello, {}!", scope.argument("name")))),
        "test_x_mcp_header" => Ok(text_result(format!("Region: {}", scope.argument("region")))),
        "json_schema_2020_12_tool" => Ok(text_result(scope.arguments().to_string())),
        "test_missing_capability" if scope.capabilities["sampling"].is_null() => {
            Err(RpcFailure::missing_capability(&json!({ "sampling": {} })))
        }
        "test_missing_capability" => Ok(text_result("The client can sample.")),
        _ => return ask_in_call(name, scope),
    })
}

fn ask_in_call(name: &str, scope: &RequestScope<'_>) -> Option<RpcOutcome> {
    let request = match name {
        "test_sampling" => sampling(scope.argument("prompt")),
        "test_elicitation" => {
            let text = |title: &str| json!({ "type": "string", "description": title });
            let fields =
                json!({ "username": text("The user's answer"), "email": text("The user's address") });
            form(scope.argument("message"), &fields, &["username", "email"])
        }
        "test_elicitation_sep1034_defaults" => form("Check the defaults", &default_fields(), &[]),
        "test_elicitation_sep1330_enums" => form("Choose", &choice_fields(), &[]),
        "test_streaming_elicitation" => form("Go on?", &json!({ "ok": { "type": "boolean" } }), &["ok"]),
        _ => return None,
    };
    Some(scope.ask(&request).map(|input| match input {
        ClientInput::Wanted(result) => result,
        ClientInput::Given(answer) if name == "test_sampling" => {
            text_result(format!("LLM response: {}", answer["content"]["text"].as_str().unwrap_or_default()))
        }
        ClientInput::Given(answer) => {
            let action = answer["action"].as_str().unwrap_or_default();
            text_result(format!("User response: action={action}, content={}", answer["content"]))
        }
    }))
}

fn default_fields() -> Value {
    json!({
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
        "verified": { "type": "boolean", "default": true },
    })
}

fn choice_fields() -> Value {
    let titled = |kind: &str| {
        let titles = [("value1", "First"), ("value2", "Second"), ("value3", "Third")];
        Value::from_iter(
            titles.map(|(value, title)| json!({ "const": value, "title": format!("{title} {kind}") })),
        )
    };
    let options = json!(["option1", "option2", "option3"]);
    json!({
        "untitledSingle": { "type": "string", "enum": options },
        "titledSingle": { "type": "string", "oneOf": titled("Option") },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
    })
}

fn run_steps<T>(steps: &[T], act: impl Fn(&T)) -> Value {
    for step in steps {
        act(step);
        thread::sleep(STEP);
    }
    text_result("All steps are done.")
}

pub(crate) fn image() -> Value {
    json!({ "type": "image", "data": PNG, "mimeType": "image/png" })
}

pub(crate) fn resource(uri: &str, mime: &str, text: &str) -> Value {
    json!({ "type": "resource", "resource": { "uri": uri, "mimeType": mime, "text": text } })
}
