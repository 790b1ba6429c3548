//! Import of one realistic file per app, compared whole; shared rules; and the default paths.
//!
//! Every secret value contains `s3cret`, and [`harvest`] checks that none reaches a message.

use serde_json::{Value, json};

use super::*;

mod claude_desktop;
mod cline;
mod codex;
mod cursor;
mod errors;
mod gemini;
mod open_code;
mod places;
mod qwen;
mod variables;
mod vs_code;
mod windsurf;
mod zed;

/// The import outcome of `text`, as JSON.
fn harvest(app: App, text: &str) -> Value {
    let harvest = parse_servers(app, Source::from_label("there"), text).unwrap();
    assert!(!format!("{harvest:?}").contains("s3cret"), "a secret in a message: {harvest:?}");
    let found = harvest.found.iter().map(|server| {
        let at = server.origin.to_string();
        json!({ "name": server.name, "at": at, "entry": server.entry, "notes": server.notes })
    });
    let skipped = harvest.skipped.iter().map(
        |server| json!({ "name": server.name, "at": server.origin.to_string(), "reason": server.reason }),
    );
    json!({ "found": found.collect::<Vec<_>>(), "skipped": skipped.collect::<Vec<_>>() })
}

/// Compares outcomes as text, because the order of an entry's keys counts.
#[track_caller]
fn assert_harvest(app: App, text: &str, expected: &Value) {
    let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap();
    assert_eq!(pretty(&harvest(app, text)), pretty(expected));
}

/// The only server in `text`.
fn only(app: App, text: &str) -> ImportedServer {
    let harvest = parse_servers(app, Source::from_label("there"), text).unwrap();
    assert_eq!(harvest.skipped, []);
    harvest.found.into_iter().next().unwrap()
}

// C16
#[test]
fn every_app_is_found_by_its_word() {
    for app in App::ALL {
        assert_eq!(App::parse(app.as_str()), Some(app));
        assert_eq!(json!(app), json!(app.to_string()));
        assert!(!app.title().is_empty());
    }
    assert_eq!(App::parse("Cursor"), None);
}
