//! Tests of the bytes that an edit changes, and of those it keeps.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn edited(text: &str, edit: impl FnOnce(&JsonEditor) -> Result<(), EditError>) -> Result<String, EditError> {
    let editor = JsonEditor::open(Source::from_label("test"), Some(text))?;
    edit(&editor)?;
    Ok(editor.edited_text())
}

fn add(text: &str) -> Result<String, EditError> {
    edited(text, |editor| {
        editor.insert_member(&["mcpServers"], "new", &json!({"command": "x", "args": ["-y"]}))
    })
}

// C14 F78
#[test]
fn an_insert_keeps_every_byte_around_it() {
    for (before, after) in [
        (
            "",
            "{\n  \"mcpServers\": {\n    \"new\": {\n      \"command\": \"x\",\n      \"args\": [\"-y\"]\n    }\n  }\n}\n",
        ),
        (
            "{\n    \"z\": 1, // why\n    \"a\": [1,2]\n}",
            "{\n    \"z\": 1, // why\n    \"a\": [1,2],\n    \"mcpServers\": {\n        \"new\": {\n            \"command\": \"x\",\n            \"args\": [\"-y\"]\n        }\n    }\n}",
        ),
        (
            "{\r\n\t\"mcpServers\": {\r\n\t\t\"old\": {\"command\":\"o\",\"odd\":true}\r\n\t}\r\n}\r\n",
            "{\r\n\t\"mcpServers\": {\r\n\t\t\"old\": {\"command\":\"o\",\"odd\":true},\r\n\t\t\"new\": {\r\n\t\t\t\"command\": \"x\",\r\n\t\t\t\"args\": [\"-y\"]\r\n\t\t}\r\n\t}\r\n}\r\n",
        ),
        (
            "\u{feff}{\n  \"a\": 1\n}\n",
            "\u{feff}{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"new\": {\n      \"command\": \"x\",\n      \"args\": [\"-y\"]\n    }\n  }\n}\n",
        ),
    ] {
        assert_eq!(add(before).as_deref(), Ok(after), "{before:?}");
    }
}

// C14
#[test]
fn removing_an_added_member_restores_the_file() {
    let before = "{\n  \"mcpServers\": {\n    \"old\": {\"command\": \"o\"}\n  },\n  \"other\": [1, 2]\n}\n";
    let added = add(before).unwrap();
    let removed = edited(&added, |editor| editor.remove_member(&["mcpServers"], "new").map(drop)).unwrap();
    assert_eq!(removed, before);
}

// C14 F77
#[test]
fn invalid_file_is_refused() {
    for (text, message) in [
        ("{\"mcpServers\": ", "test:1:16"),
        ("[]", "test: the file is an array, not an object"),
        ("{\"mcpServers\": []}", "test: `mcpServers` is an array, not an object"),
        ("{\"mcpServers\": null}", "test: `mcpServers` is null, not an object"),
        ("{\"mcpServers\": {\"new\": {}}}", "`new` already exists in test"),
        ("{'a': 1}", "test:1:2"),
        ("{\"a\": 1 \"b\": 2}", "test:1:8"),
    ] {
        let error = add(text).unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}

// C14
#[test]
fn a_duplicate_key_is_removed_with_its_twin() {
    let text = "{\"mcpServers\": {\"a\": {}, \"b\": {}, \"a\": {}}}";
    let removed = edited(text, |editor| editor.remove_member(&["mcpServers"], "a").map(drop)).unwrap();
    let value: Value = serde_json::from_str(&removed).unwrap();
    assert_eq!(value, json!({"mcpServers": {"b": {}}}));
}

// C14
#[test]
fn list_items_are_added_once_and_removed_at_any_index() {
    let text = "{\n  \"names\": [\"a\", \"b\"]\n}\n";
    let same = edited(text, |editor| editor.add_to_list(&[], "names", "b")).unwrap();
    assert_eq!(same, text);
    let longer = edited(text, |editor| editor.add_to_list(&[], "names", "c")).unwrap();
    assert_eq!(longer, "{\n  \"names\": [\"a\", \"b\", \"c\"]\n}\n");
    let shorter =
        edited(&longer, |editor| editor.remove_from_list(&[], "names", |name| name != "b").map(drop));
    let shorter: Value = serde_json::from_str(&shorter.unwrap()).unwrap();
    assert_eq!(shorter, json!({"names": ["b"]}));
    let wrong = edited("{\"names\": 1}", |editor| editor.add_to_list(&[], "names", "c"));
    assert_eq!(wrong.unwrap_err().to_string(), "test: `names` is not a list");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    // C14: in every file, an edit adds its one member and changes no other value or order.
    #[test]
    fn other_values_and_their_order_survive(keys in prop::collection::vec("[a-z]{1,6}", 0..6), pretty: bool) {
        let members: serde_json::Map<String, Value> = keys.into_iter().map(|key| (key, json!({"x": [1, null]}))).collect();
        let before = Value::Object(members);
        let text = if pretty { serde_json::to_string_pretty(&before) } else { serde_json::to_string(&before) };
        let after: Value = serde_json::from_str(&add(&text.unwrap()).unwrap()).unwrap();
        let mut expected = before;
        expected["mcpServers"] = json!({"new": {"command": "x", "args": ["-y"]}});
        prop_assert_eq!(after.to_string(), expected.to_string());
    }
}
