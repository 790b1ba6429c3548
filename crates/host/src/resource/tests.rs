//! Resources as tables: lists, template expansion, and mentions in a text.

mod mentions;
mod templates;

use mcparley_model::name::ServerName;
use mcparley_wire::RawJson;
use serde_json::{Value, json};

use super::listed;

fn listed_as(entries: &[Value]) -> Value {
    let raw: Vec<RawJson> = entries.iter().map(|entry| RawJson::from_value(entry).unwrap()).collect();
    json!(listed::parse_resources(&ServerName::new("s"), &raw))
}

// X1 N7 B43
#[test]
fn bad_resource_is_skipped_alone_and_every_text_is_sanitized() {
    let found = listed_as(&[
        json!({ "name": "no address" }),
        json!({ "uri": 7 }),
        json!("text"),
        json!({ "uri": "" }),
        json!({ "uri": "a:b", "name": "first" }),
        json!({ "uri": "a:b", "name": "second" }),
        json!({
            "uri": "c:\u{200b}d", "title": "T\u{202e}\nitle", "description": "d\u{1b}[2J", "mimeType": "text/plain",
            "size": 12, "annotations": { "audience": ["user", "nobody"], "priority": 0.5, "lastModified": "2026\u{200b}" },
        }),
        json!({ "uri": "e:f", "size": "large", "annotations": { "priority": 7, "audience": "user" } }),
    ]);
    assert_eq!(
        found,
        json!([
            { "server": "s", "uri": "a:b", "name": "first" },
            {
                "server": "s", "uri": "c:d", "name": "c:d", "title": "T itle", "description": "d[2J",
                "mimeType": "text/plain", "size": 12,
                "annotations": { "audience": ["user"], "priority": 0.5, "lastModified": "2026" },
            },
            { "server": "s", "uri": "e:f", "name": "e:f" },
        ])
    );
    let long = "x".repeat(70_000);
    assert_eq!(listed_as(&[json!({ "uri": long })]), json!([]));
}
