//! The help of one tool.

use serde_json::{Value, json};

use super::super::{DescribedTool, tool_help};

fn help_of(schema: &Value) -> String {
    tool_help(&DescribedTool {
        how: vec!["git", "search_files"],
        title: Some("Search"),
        description: "Find files.\n\nSlowly.\n",
        schema,
    })
}

// U2 U3
#[test]
fn help_shows_every_argument_with_all_that_is_known_of_it() {
    let schema = json!({
        "properties": {
            "query": {"type": "string", "description": "What to look for"},
            "maxResults": {"type": "integer", "default": 10, "description": "At most\nthat many"},
            "mode": {"enum": ["fast", "slow"], "default": "fast"},
            "follow": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "where": {"$ref": "#/$defs/where"},
            "since": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null},
            "any": {},
        },
        "required": ["query"],
        "$defs": {"where": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}},
    });
    assert_eq!(
        help_of(&schema),
        "\
Search
Find files.

Slowly.

Usage: mcparley call git search_files [ARGUMENTS]…

Arguments:
  --query <string>
        What to look for
        [required]
  --max-results <integer>
        At most
        that many
        [name: maxResults] [default: 10]
  --mode <string>
        [default: fast] [one of: fast, slow]
  --follow
        [off: --no-follow]
  --tags <string>
        [may be repeated]
  --where <object>
  --where.path <string>
  --since <string|null>
  --any <value>

Arguments can also be written as key=value, key=@file or key:=JSON, or together as one JSON
object, or as `-` for a JSON object on standard input.
"
    );
}

// U2
#[test]
fn a_tool_without_arguments_says_so() {
    let help = help_of(&json!({"type": "object"}));
    assert!(
        help.ends_with("Usage: mcparley call git search_files\n\nThis tool takes no arguments.\n"),
        "{help}"
    );
}

// N7 B45
#[test]
fn nothing_in_it_drives_a_terminal() {
    let hostile = "\u{1b}[31m\u{202e}\u{200b}\u{7}x";
    let schema = json!({"properties": {hostile: {
        "description": hostile, "default": hostile, "enum": [hostile], "type": "string",
    }}});
    let shown = tool_help(&DescribedTool {
        how: vec![hostile, hostile],
        title: Some(hostile),
        description: hostile,
        schema: &schema,
    });
    assert!(shown.matches("[31m").count() >= 5, "every part is shown: {shown:?}");
    assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown:?}");
    assert!(!shown.contains(['\u{202e}', '\u{200b}']), "{shown:?}");
}

// U2: a schema that contains itself, or names very much, gives a help that ends.
#[test]
fn help_is_bounded() {
    let itself = json!({"properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}});
    assert!(help_of(&itself).lines().count() < 50);
    let wide: serde_json::Map<String, Value> = (0..5_000).map(|n| (format!("p{n}"), json!({}))).collect();
    let shown = help_of(&json!({"properties": wide}));
    assert!(shown.contains("  … and 4800 more\n") && shown.lines().count() < 300);
}
