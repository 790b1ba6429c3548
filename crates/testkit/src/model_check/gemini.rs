//! The rules of Gemini's `generateContent` on the order of contents.

use serde_json::Value;

use super::{list, strings};

pub(super) fn order_problems(request: &Value) -> Vec<String> {
    let contents = list(request, "contents");
    let mut problems = Vec::new();
    if contents.first().is_some_and(|content| content["role"] != "user") {
        problems.push("the first content is not the user's".to_owned());
    }
    if contents.last().is_some_and(|content| content["role"] != "user") {
        problems.push("the last content is not the user's".to_owned());
    }
    let mut open: Vec<&str> = Vec::new();
    for (place, content) in contents.iter().enumerate() {
        if place > 0 && contents[place - 1]["role"] == content["role"] {
            problems.push(format!("contents.{place}: the roles do not alternate"));
        }
        let members = |name: &'static str| {
            list(content, "parts").iter().filter_map(move |part| part.get(name)).collect::<Vec<_>>()
        };
        let responses = strings(members("functionResponse").into_iter(), "name");
        if responses != open {
            problems.push(format!("contents.{place}: the calls {open:?} are answered by {responses:?}"));
        }
        open = strings(members("functionCall").into_iter(), "name");
        let first = list(content, "parts").iter().find(|part| part.get("functionCall").is_some());
        if first.is_some_and(|part| part.get("thoughtSignature").is_none()) {
            problems.push(format!("contents.{place}: the first call lost its thoughtSignature"));
        }
    }
    if !open.is_empty() {
        problems.push(format!("the calls {open:?} are not answered"));
    }
    problems
}
