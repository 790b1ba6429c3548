//! The folders that a real filesystem server ends up with: those it was given, wherever the program is started.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use super::place::Place;
use super::servers::{node, text};

/// How the configuration names the server.
const NAME: &str = "fs";

/// A place with a filesystem server of the user's own that was given `data`, and a project beside it.
fn place() -> Place {
    let place = Place::new();
    place.world.write("data/note.txt", "in the data");
    place.world.write("home/other/.git/HEAD", "ref: refs/heads/main\n");
    place.world.write("home/other/secret.txt", "in the project");
    place.configure(NAME, &filesystem(&place, &[&text(place.world.root.join("data"))]));
    place
}

fn filesystem(place: &Place, folders: &[&str]) -> Value {
    node(place, "mcp-server-filesystem", folders, &[])
}

/// The folders that the server works in, as it says itself.
fn allowed(place: &Place) -> Vec<String> {
    let said = place.world.ok(&["call", NAME, "list_allowed_directories"]);
    let mut lines = said.lines();
    assert_eq!(lines.next(), Some("Allowed directories:"), "{said}");
    lines.map(str::to_owned).collect()
}

// X6 B125: the second run knows the tools from the first, and calls at once.
#[test]
fn fleet_filesystem_keeps_its_folders_wherever_the_program_is_started() {
    let mut place = place();
    let outside = [text(place.world.home.join("other/secret.txt")), "/etc/passwd".to_owned()];
    for folder in ["/", "home", "home/other"] {
        place.world.stand_in(folder);
        for run in ["first", "second"] {
            assert_eq!(allowed(&place), ["data"], "{folder}, {run} run");
            for path in &outside {
                let path = format!("path={path}");
                let done = place.world.mcparley(&["call", NAME, "read_text_file", &path]);
                assert!(done.code != 0 && done.out.contains("Access denied"), "{folder}: {path}: {done:?}");
            }
        }
    }
}

/// What a client of `serve` hears from the filesystem server about its folders.
fn served(place: &Place, capabilities: &Value, roots: &Value) -> String {
    let mut command = place.world.command(&["serve", "--allowed-tools", "mcp__fs"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let greeting = json!({
        "protocolVersion": "2025-11-25", "capabilities": capabilities,
        "clientInfo": { "name": "x", "version": "1" },
    });
    let call = json!({ "name": "fs__list_allowed_directories", "arguments": {} });
    for message in [
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": greeting }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call }),
    ] {
        writeln!(input, "{message}").unwrap();
    }
    let mut said = None;
    for line in output.lines() {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if message["method"] == "roots/list" {
            let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "roots": roots } });
            writeln!(input, "{answer}").unwrap();
        }
        if message["id"] == 1 && message.get("result").is_some() {
            said = Some(message["result"]["content"][0]["text"].as_str().unwrap().to_owned());
            break;
        }
    }
    drop(input);
    assert!(child.wait().unwrap().success());
    place.world.relative(&said.unwrap())
}

// X6 B125
#[test]
fn fleet_filesystem_keeps_its_folders_behind_the_gateway() {
    let mut place = place();
    let other = format!("file://{}", text(place.world.home.join("other")));
    let clients = [
        (json!({}), json!([])),
        (json!({ "roots": {} }), json!([])),
        (json!({ "roots": { "listChanged": true } }), json!([{ "uri": "file:///" }])),
        (json!({ "roots": { "listChanged": true } }), json!([{ "uri": other }])),
    ];
    for folder in ["/", "home", "home/other"] {
        place.world.stand_in(folder);
        for (capabilities, roots) in &clients {
            let said = served(&place, capabilities, roots);
            assert_eq!(said, "Allowed directories:\ndata", "{folder}: {roots}");
        }
    }
}

// X6: it was given no folder, and works where its client works.
#[test]
fn fleet_filesystem_without_folders_gets_those_of_the_gateways_client() {
    let place = place();
    place.configure(NAME, &filesystem(&place, &[]));
    let other = format!("file://{}", text(place.world.home.join("other")));
    let said = served(&place, &json!({ "roots": {} }), &json!([{ "uri": other, "name": "other" }]));
    assert_eq!(said, "Allowed directories:\nhome/other");
    let said = served(&place, &json!({ "roots": {} }), &json!([{ "uri": "file:///" }]));
    assert!(!said.contains('/'), "neither `/` nor anything else: {said}");
}

// X6 C10: of the project the command line tells servers of the project, and others that have no folder.
#[test]
fn fleet_filesystem_works_in_the_project_where_that_is_meant() {
    let mut place = place();
    place.world.stand_in("home/other");
    place.configure(NAME, &filesystem(&place, &[]));
    for run in ["first", "second"] {
        assert_eq!(allowed(&place), ["home/other"], "{run} run");
    }
    let data = text(place.world.root.join("data"));
    let mut entry = filesystem(&place, &[&data]);
    let local = |entry: &Value| {
        let project = text(place.world.home.join("other"));
        json!({ "projects": { project: { "mcpServers": { NAME: entry } } } }).to_string()
    };
    place.world.write("home/.claude.json", &local(&entry));
    assert_eq!(allowed(&place), ["home/other"], "local scope");
    let doctor = place.world.mcparley(&["doctor"]);
    let warning = "`fs` gets the roots `home/other`, which may override the folders in its arguments: `data`";
    let said = place.world.relative(&doctor.out).replace(&place.world.root.display().to_string(), "");
    assert!(said.contains(warning), "{said}");
    for (roots, expected) in [(json!(false), "data"), (json!([data]), "data"), (json!(["."]), "home/other")] {
        entry["roots"] = roots.clone();
        place.world.write("home/.claude.json", &local(&entry));
        assert_eq!(allowed(&place), [expected], "{roots}");
    }
}
