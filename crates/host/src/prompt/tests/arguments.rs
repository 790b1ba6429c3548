//! Typed commands, and the assignment of values to arguments.

use std::sync::Arc;

use serde_json::{Value, json};

use super::prompts;
use crate::prompt::{Prompt, PromptCall, PromptError, argument_values};

/// A prompt with a required `first`, and `second` and `third` that may be left out.
fn three() -> Arc<Prompt> {
    let arguments = json!([
        { "name": "first", "required": true, "description": "what comes\u{202e} first" },
        { "name": "second" },
        { "name": "third", "required": false },
    ]);
    let prompts = prompts("s", &[json!({ "name": "p", "arguments": arguments })]);
    Arc::clone(prompts.get("mcp__s__p").unwrap())
}

fn told(line: &str) -> Result<Value, PromptError> {
    let call = PromptCall::parse(line)?;
    argument_values::assign_values(&three(), call.values()).map(Value::Object)
}

// X3
#[test]
fn prompt_values_are_assigned_by_position_or_by_name() {
    let table = [
        ("/p a", json!({ "first": "a" })),
        ("p a b c", json!({ "first": "a", "second": "b", "third": "c" })),
        ("/p  a\t b", json!({ "first": "a", "second": "b" })),
        ("/p third=c a", json!({ "first": "a", "third": "c" })),
        ("/p second=b a c", json!({ "first": "a", "second": "b", "third": "c" })),
        ("/p first=", json!({ "first": "" })),
        // An address has a `=` and is no argument of that name.
        ("/p https://a.b/?q=1", json!({ "first": "https://a.b/?q=1" })),
        ("/p unknown=x", json!({ "first": "unknown=x" })),
        ("/p first=a=b", json!({ "first": "a=b" })),
    ];
    for (line, expected) in table {
        assert_eq!(told(line).unwrap(), expected, "{line}");
    }
}

// X3
#[test]
fn quotes_and_backslashes_keep_values_together() {
    let table = [
        (r#"/p "a b" 'c "d"'"#, json!({ "first": "a b", "second": "c \"d\"" })),
        (r#"/p first="a b" c"#, json!({ "first": "a b", "second": "c" })),
        (r#"/p "second=b""#, json!({ "first": "second=b" })),
        (r"/p second\=b", json!({ "first": "second=b" })),
        (r#"/p a\ b "" "#, json!({ "first": "a b", "second": "" })),
        (r#"/p "a\"b\\" 'c\'"#, json!({ "first": "a\"b\\", "second": "c\\" })),
        (r#"/p a"b c"d"#, json!({ "first": "ab cd" })),
        ("/p grüße\u{3000}zwei", json!({ "first": "grüße", "second": "zwei" })),
        (r"/p a\", json!({ "first": "a\\" })),
    ];
    for (line, expected) in table {
        assert_eq!(told(line).unwrap(), expected, "{line}");
    }
}

// X3 B43: nothing has been sent yet.
#[test]
fn wrong_prompt_arguments_are_errors_with_the_usage_line() {
    let table = [
        ("/p", "the argument `first` is missing (what comes first)", true),
        ("/p second=b", "the argument `first` is missing (what comes first)", true),
        ("/p a b c d", "`d` is unexpected: the prompt takes 3 arguments", true),
        ("/p a b c x=1", "`x=1` is unexpected: the prompt takes 3 arguments", true),
        ("/p first=a first=b", "the argument `first` is given twice", true),
        ("/p \"a", "the quote `\"` is never closed", false),
        ("/p it's", "the quote `'` is never closed", false),
        ("  ", "the line has no command", false),
        ("/", "the line has no command", false),
    ];
    for (line, expected, has_usage) in table {
        let error = told(line).unwrap_err();
        assert_eq!(error.to_string(), expected, "{line}");
        assert!(error.is_usage(), "{line}");
        let usage = "/mcp__s__p <first> [second] [third]";
        assert_eq!(error.hint().is_some_and(|hint| hint.contains(usage)), has_usage, "{line}");
    }
}

// X3
#[test]
fn program_passes_prompt_values_without_quoting() {
    let call =
        PromptCall::new("mcp__s__p").with_value("a \"b\"").with_named("third", "x=y").with_word("second=2");
    let told = argument_values::assign_values(&three(), call.values()).unwrap();
    assert_eq!(Value::Object(told), json!({ "first": "a \"b\"", "second": "2", "third": "x=y" }));
    let wrong = PromptCall::new("mcp__s__p").with_named("fourth", "x");
    let error = argument_values::assign_values(&three(), wrong.values()).unwrap_err();
    assert_eq!(error.to_string(), "the prompt has no argument `fourth`");
}
