//! A tool call as one line for people: `git.log(since="yesterday")`.

use mcparley::catalog::CatalogEntry;
use mcparley_model::text::{display_line, truncated_prefix};
use serde_json::Value;

/// The maximum length of one argument in characters.
const ARGUMENT_CHARS: usize = 60;

/// The maximum length of all arguments in characters.
const ARGUMENTS_CHARS: usize = 160;

/// The name of a tool for people: `server.tool`, or the name of a built-in tool.
pub(crate) fn tool_label(entry: &CatalogEntry) -> String {
    match entry.server() {
        Some(server) => format!("{}.{}", server.as_str(), entry.tool.name.as_str()),
        None => entry.name.to_string(),
    }
}

/// Renders a call as one line, without control sequences; long arguments are shortened.
#[must_use]
pub fn format_call(label: &str, arguments: &Value) -> String {
    let words = match arguments {
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| format!("{name}={}", format_argument(value));
            members.iter().map(member).collect::<Vec<_>>().join(", ")
        }
        Value::Null => String::new(),
        other => format_argument(other),
    };
    let words = shorten(words, ARGUMENTS_CHARS);
    display_line(&format!("{label}({words})")).into_owned()
}

fn format_argument(value: &Value) -> String {
    shorten(value.to_string(), ARGUMENT_CHARS)
}

fn shorten(text: String, limit: usize) -> String {
    match truncated_prefix(&text, limit) {
        Some(beginning) => format!("{beginning}…"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // U4
    #[test]
    fn call_is_one_line_without_control_sequences() {
        let table = [
            (json!({ "a": 40, "b": 2 }), "everything.get-sum(a=40, b=2)"),
            (json!({}), "everything.get-sum()"),
            (json!({ "t": "x\u{1b}[31m\ny" }), "everything.get-sum(t=\"x\\u001b[31m\\ny\")"),
        ];
        for (arguments, expected) in table {
            assert_eq!(format_call("everything.get-sum", &arguments), expected);
        }
        let long = format_call("s.t", &json!({ "text": "x".repeat(5000), "more": "y".repeat(5000) }));
        assert!(long.chars().count() < 200, "{long}");
    }
}
