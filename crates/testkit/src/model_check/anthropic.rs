//! The rules of Anthropic's Messages API on the order of messages.

use serde_json::Value;

use super::{duplicate_problems, list, strings};

/// The maximum number of cache marks in a request.
const CACHE_MARKS: usize = 4;

pub(super) fn order_problems(request: &Value) -> Vec<String> {
    let messages = list(request, "messages");
    let mut problems = duplicate_problems("tool", &strings(list(request, "tools").iter(), "name"));
    if messages.first().is_some_and(|message| message["role"] != "user") {
        problems.push("the first message is not the user's".to_owned());
    }
    if messages.last().is_some_and(|message| message["role"] != "user") {
        problems.push("the last message is not the user's".to_owned());
    }
    let mut open: Vec<&str> = Vec::new();
    let mut all: Vec<&str> = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        let blocks = list(message, "content");
        let of_type = |kind: &'static str| blocks.iter().filter(move |block| block["type"] == kind);
        let results = strings(of_type("tool_result"), "tool_use_id");
        problems.extend(result_problems(place, blocks, &results, &open));
        problems.extend(thinking_problem(place, message));
        open = strings(of_type("tool_use"), "id");
        all.extend(&open);
    }
    if !open.is_empty() {
        problems.push(format!("no tool_result for {open:?}"));
    }
    if !all.is_empty() && list(request, "tools").is_empty() {
        problems.push("there are tool_use blocks, but no tools".to_owned());
    }
    problems.extend(duplicate_problems("tool_use id", &all));
    let marks = request.to_string().matches("\"cache_control\":").count();
    if marks > CACHE_MARKS {
        problems.push(format!("{marks} blocks have cache_control; {CACHE_MARKS} are allowed"));
    }
    problems
}

/// The problem of an answer that ends with thinking.
fn thinking_problem(place: usize, message: &Value) -> Option<String> {
    let last = list(message, "content").last()?;
    let is_thinking = matches!(last["type"].as_str(), Some("thinking" | "redacted_thinking"));
    let is_answer = message["role"] == "assistant";
    (is_answer && is_thinking)
        .then(|| format!("messages.{place}: the final block of an assistant message is `thinking`"))
}

/// The problems of the results in one message, after a message with the calls `open`.
fn result_problems(place: usize, blocks: &[Value], results: &[&str], open: &[&str]) -> Vec<String> {
    let mut problems = duplicate_problems("tool_use_id", results);
    for id in results.iter().filter(|id| !open.contains(id)) {
        problems.push(format!("messages.{place}: tool_result `{id}` has no tool_use in the message before"));
    }
    for id in open.iter().filter(|id| !results.contains(id)) {
        problems.push(format!("messages.{place}: tool_use `{id}` has no tool_result in the next message"));
    }
    let is_result = |block: &Value| block["type"] == "tool_result";
    if blocks.iter().skip_while(|block| is_result(block)).any(is_result) {
        problems.push(format!("messages.{place}: tool_result blocks do not come first"));
    }
    for block in blocks.iter().filter(|block| block["is_error"] == true) {
        if list(block, "content").iter().any(|part| part["type"] != "text") {
            problems.push(format!("messages.{place}: a tool_result with is_error has content besides text"));
        }
    }
    problems
}
