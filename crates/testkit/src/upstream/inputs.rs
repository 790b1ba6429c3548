//! The tools whose results ask for input, with and without a sealed state.

use super::rpc::{RpcOutcome, text_result};
use super::scope::{RequestScope, form, input_required, roots, sampling};
use super::seal::StateSeal;
use super::tools::define_tool;
use serde_json::{Map, Value, json};

const PREFIX: &str = "test_input_required_result_";
const TOOLS: [&str; 8] = [
    "elicitation",
    "sampling",
    "list_roots",
    "request_state",
    "multiple_inputs",
    "multi_round",
    "tampered_state",
    "capabilities",
];

/// The definitions of the tools.
pub(crate) fn input_tools() -> impl Iterator<Item = Value> {
    TOOLS.iter().map(|word| {
        let text = format!("Asks for input: {}", word.replace('_', " "));
        define_tool(&format!("{PREFIX}{word}"), &text, &json!({}), &[])
    })
}

/// Calls a tool of this family; none for other tools.
pub(crate) fn call_input_tool(name: &str, scope: &RequestScope<'_>, seal: &StateSeal) -> Option<RpcOutcome> {
    let word = name.strip_prefix(PREFIX)?;
    Some(match word {
        "elicitation" => Ok(ask_name(scope)),
        "sampling" => Ok(ask_one(scope, "capital_question", &sampling("What is the capital of France?"))),
        "list_roots" => Ok(ask_one(scope, "client_roots", &roots())),
        "request_state" => ask_with_state(scope, seal, &json!({ "confirm": confirm() })),
        "multiple_inputs" => {
            let questions = json!({
                "user_name": ask_for("What is your name?", "name"),
                "greeting": sampling("Write a greeting"),
                "client_roots": roots(),
            });
            ask_with_state(scope, seal, &questions)
        }
        "multi_round" => ask_twice(scope, seal),
        "tampered_state" => match &scope.params["requestState"] {
            Value::Null => {
                Ok(input_required(&json!({ "confirm": confirm() }), Some(seal.seal_state(&json!(1)))))
            }
            state => seal.open_state(state).map(|_| text_result("The state is intact.")),
        },
        "capabilities" => Ok(ask_as_able(scope)),
        _ => return None,
    })
}

fn ask_name(scope: &RequestScope<'_>) -> Value {
    match scope.input("user_name").and_then(|given| given["content"]["name"].as_str()) {
        Some(name) => text_result(format!("Hello, {name}!")),
        None => input_required(&json!({ "user_name": ask_for("What is your name?", "name") }), None),
    }
}

fn ask_one(scope: &RequestScope<'_>, key: &str, request: &Value) -> Value {
    match scope.input(key) {
        Some(given) => text_result(format!("The client answered {given}")),
        None => input_required(&json!({ key: request }), None),
    }
}

/// Asks all questions at once; the answers count only with the state that came with the questions.
fn ask_with_state(scope: &RequestScope<'_>, seal: &StateSeal, questions: &Value) -> RpcOutcome {
    let mut keys = questions.as_object().into_iter().flat_map(Map::keys);
    if keys.all(|key| scope.input(key).is_some()) {
        seal.open_state(&scope.params["requestState"])?;
        return Ok(text_result("state-ok: all answers arrived"));
    }
    Ok(input_required(questions, Some(seal.seal_state(&json!({ "asked": true })))))
}

fn ask_twice(scope: &RequestScope<'_>, seal: &StateSeal) -> RpcOutcome {
    let state = match &scope.params["requestState"] {
        Value::Null => json!({ "step": 0 }),
        state => seal.open_state(state)?,
    };
    Ok(match (state["step"].as_u64(), scope.input("step1"), scope.input("step2")) {
        (Some(1), Some(first), _) => {
            let state = json!({ "step": 2, "name": first["content"]["name"] });
            let question = ask_for("Step 2: your favorite color?", "color");
            input_required(&json!({ "step2": question }), Some(seal.seal_state(&state)))
        }
        (Some(2), _, Some(second)) => {
            let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            text_result(format!("{} likes {}", word(&state["name"]), word(&second["content"]["color"])))
        }
        _ => {
            let question = ask_for("Step 1: your name?", "name");
            input_required(&json!({ "step1": question }), Some(seal.seal_state(&json!({ "step": 1 }))))
        }
    })
}

/// Asks only questions that the client can answer.
fn ask_as_able(scope: &RequestScope<'_>) -> Value {
    if scope.params["inputResponses"].is_object() {
        return text_result("The client answered.");
    }
    let able = |word: &str| scope.capabilities[word].is_object();
    let mut questions = Map::new();
    if able("sampling") {
        questions.insert("model".to_owned(), sampling("Say hello"));
    }
    if able("elicitation") {
        questions.insert("user".to_owned(), confirm());
    }
    match questions.is_empty() {
        true => text_result("The client can answer nothing."),
        false => input_required(&json!(questions), None),
    }
}

pub(crate) fn ask_for(message: &str, field: &str) -> Value {
    form(message, &json!({ field: { "type": "string" } }), &[field])
}

fn confirm() -> Value {
    form("Please confirm", &json!({ "ok": { "type": "boolean" } }), &["ok"])
}
