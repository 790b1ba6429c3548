//! Files with syntax errors, and files without servers.

use proptest::prelude::*;

use super::*;

fn error(app: App, text: &str) -> (String, String) {
    let error = parse_servers(app, Source::from_label("there"), text).unwrap_err();
    (error.to_string(), error.hint().unwrap())
}

// C16
#[test]
fn file_without_servers_gives_an_empty_outcome() {
    for app in App::ALL {
        let other = if app == App::Codex { "model = \"o9\"" } else { r#"{ "theme": "dark" }"# };
        for text in ["", "\u{feff}", other] {
            assert_eq!(
                parse_servers(app, Source::from_label("there"), text),
                Ok(ImportOutcome::default()),
                "{app}: {text:?}"
            );
        }
    }
    assert_eq!(
        parse_servers(App::Cursor, Source::from_label("there"), r#"{ "mcpServers": null }"#),
        Ok(ImportOutcome::default())
    );
}

// C16
#[test]
fn a_syntax_error_has_its_place_and_a_hint() {
    assert_eq!(
        error(App::Cursor, "{\n  \"mcpServers\": {,}\n}"),
        (
            "there:2:18: not JSON: unexpected token in object".to_owned(),
            "fix line 2 of there and import again; nothing was imported from it".to_owned()
        )
    );
    let (message, hint) = error(App::Codex, "[mcp_servers.a]\ncommand = \"npx\"\nenv = { TOKEN = s3cret }\n");
    assert!(message.starts_with("there:3:17: "), "{message}");
    assert!(!message.contains("s3cret"), "{message}");
    assert_eq!(hint, "fix line 3 of there and import again; nothing was imported from it");
}

// C16
#[test]
fn servers_field_that_is_not_an_object_is_an_error() {
    assert_eq!(
        error(App::Windsurf, "{ \"mcpServers\": [] }"),
        (
            "there:1:17: `mcpServers` is an array, not an object".to_owned(),
            "check that there is the file of the program you named".to_owned()
        )
    );
    assert_eq!(error(App::Zed, "[1]").0, "there:1:1: the whole text is an array, not an object");
    assert_eq!(error(App::Codex, "mcp_servers = 1").0, "there:1:1: `mcp_servers` is a number, not an object");
}

// C16
#[test]
fn a_name_with_control_characters_does_not_reach_a_message() {
    let text = r#"{ "mcpServers": { "a": { "command": "x", "b\u001b[31m\n": 1 } } }"#;
    assert_eq!(only(App::Cursor, text).notes, ["not carried over: `b [31m `"]);
}

proptest! {
    // C16
    #[test]
    fn no_text_makes_parsing_panic(text in "[\\[\\]{}\":,$a-z=. \\n]{0,80}") {
        for app in App::ALL {
            // The result does not matter: only a panic would fail here.
            drop(parse_servers(app, Source::from_label("there"), &text));
        }
    }
}
