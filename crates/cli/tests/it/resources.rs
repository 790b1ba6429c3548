//! `resources` and `read` against real servers.

use mcparley_cli::exit;
use mcparley_testkit::{ScriptedStdio, log_starts};
use serde_json::json;

use crate::talk::{entry, good, scripted, world};
use crate::world::{World, refusal};

/// A world with a server that has a text, a picture and a template.
fn rich() -> World {
    let world = World::new();
    let file = world.root.join("offers.json");
    let offers = json!({
        "resources/list": { "resources": [
            { "uri": "a:text", "name": "text", "title": "A te\u{202e}xt", "description": "Some\nlines", "mimeType": "text/plain" },
            { "uri": "a:bytes", "name": "bytes", "size": 3 },
        ] },
        "resources/templates/list": { "resourceTemplates": [{ "uriTemplate": "day:{name}", "name": "days" }] },
        "resources/read": {
            "a:text": { "contents": [{ "uri": "a:text", "text": "caf\u{e9}\u{200b}\n" }] },
            "a:bytes": { "contents": [{ "uri": "a:bytes", "blob": "AP8K" }] },
            "day:mon%20day": { "contents": [{ "uri": "day:mon%20day", "text": "rain" }] },
        },
    });
    world.write("offers.json", &offers.to_string());
    let server = scripted(&[&format!("offers:{}", file.display())]);
    world.write("home/.claude.json", &json!({ "mcpServers": { "rich": server } }).to_string());
    world
}

// U2 X1 N7 B43
#[test]
fn resources_and_templates_are_listed_clean() {
    let world = rich();
    let out = "rich  a:text  A text: Some  [text/plain]\nrich  a:bytes  bytes\nrich  day:{name}  days\n";
    assert_eq!(world.ok(&["resources"]), out);
    assert_eq!(world.ok(&["resources", "rich", "--templates"]), "rich  day:{name}  days\n");
    let report = world.json(&["resources", "--templates"]);
    let template = json!({ "server": "rich", "uriTemplate": "day:{name}", "name": "days" });
    assert_eq!(report, json!({ "templates": [template], "servers": [] }));
    assert_eq!(world.json(&["resources"])["resources"][1]["size"], 3);
}

// U2 L12
#[test]
fn cached_lists_are_shown_without_starting_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let world = world(&json!({ "one": entry(&ScriptedStdio::new(&[]).with_log(&log)) }));
    let first = world.ok(&["resources"]);
    assert_eq!(first, "one  test://note  note\n");
    assert_eq!(world.ok(&["resources", "one"]), first);
    assert_eq!(log_starts(&log).len(), 1);
}

// U2 X1
#[test]
fn text_and_bytes_come_as_they_are() {
    let world = rich();
    assert_eq!(world.ok(&["read", "rich", "a:text"]), "caf\u{e9}\u{200b}\n");
    let done = world.command(&["read", "rich", "a:bytes"]).output().unwrap();
    assert_eq!(done.stdout, [0, 0xff, b'\n']);
    let path = world.root.join("bytes");
    world.ok(&["read", "rich", "a:bytes", "--output", path.to_str().unwrap()]);
    assert_eq!(std::fs::read(path).unwrap(), [0, 0xff, b'\n']);
    assert_eq!(world.ok(&["read", "rich", "day:{name}", "name=mon day"]), "rain\n");
    let read = world.json(&["read", "rich", "a:text"]);
    assert_eq!(
        read["contents"][0]["resource"]["text"], "caf\u{e9}\n",
        "what is hidden is for nobody's model"
    );
}

// U2 U3
#[test]
fn wrong_usage_is_refused_with_a_hint() {
    let world = good();
    let code = i32::from(exit::USAGE.number);
    let unknown = "error: the template has no variable `b`";
    assert_eq!(world.mcparley(&["read", "good", "x:{a}", "b=1"]), refusal(code, unknown));
    assert_eq!(world.mcparley(&["read", "good", "x:{a}", "b"]).code, code);
    assert_eq!(world.mcparley(&["read", "nobody", "x:y"]).code, i32::from(exit::NOT_FOUND.number));
    assert_eq!(world.mcparley(&["resources", "nobody"]).code, i32::from(exit::NOT_FOUND.number));
}
