//! The rules of OpenAI's Chat Completions on the order of messages.

use serde_json::Value;

use super::{duplicate_problems, list, strings};

pub(super) fn order_problems(request: &Value) -> Vec<String> {
    let names = list(request, "tools").iter().map(|tool| &tool["function"]);
    let mut problems = duplicate_problems("tool", &strings(names, "name"));
    if request.get("stream_options").is_some() && request["stream"] != true {
        problems.push("stream_options without stream".to_owned());
    }
    if request.get("max_tokens").is_some() && request.get("max_completion_tokens").is_some() {
        problems.push("both max_tokens and max_completion_tokens".to_owned());
    }
    let mut open: Vec<&str> = Vec::new();
    for (place, message) in list(request, "messages").iter().enumerate() {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            match open.iter().position(|known| *known == id) {
                Some(found) => drop(open.remove(found)),
                None => {
                    problems.push(format!("messages.{place}: tool message `{id}` answers no call before it"))
                }
            }
            continue;
        }
        if !open.is_empty() {
            problems.push(format!("messages.{place}: the calls {open:?} are not answered by tool messages"));
        }
        open = strings(list(message, "tool_calls").iter(), "id");
        problems.extend(duplicate_problems("tool call id", &open));
        let is_empty = message["content"].is_null() && open.is_empty();
        if message["role"] == "assistant" && is_empty {
            problems.push(format!("messages.{place}: an answer without content and calls"));
        }
    }
    if !open.is_empty() {
        problems.push(format!("the calls {open:?} are not answered"));
    }
    problems
}
