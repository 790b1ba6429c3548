//! What is printed of a result, and what is written to files.

use mcparley_cli::exit;
use serde_json::{Value, json};

use crate::world::World;

/// A server whose one tool answers with this result.
fn answering(result: &Value) -> World {
    answering_text(&result.to_string())
}

/// The same for a result that no value can hold.
fn answering_text(result: &str) -> World {
    let tools = json!([{"name": "get it", "inputSchema": {"type": "object"}}]);
    let greeting = json!({
        "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"},
    });
    let script = format!(
        r#"while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *server/discover*) printf '%s\n' '{{"jsonrpc":"2.0","id":'"$id"',"error":{{"code":-32601,"message":"no"}}}}' ;;
    *'"initialize"'*) printf '%s\n' '{{"jsonrpc":"2.0","id":'"$id"',"result":{greeting}}}' ;;
    *tools/list*) printf '%s\n' '{{"jsonrpc":"2.0","id":'"$id"',"result":{{"tools":{tools}}}}}' ;;
    *tools/call*) printf '%s\n' '{{"jsonrpc":"2.0","id":'"$id"',"result":{result}}}' ;;
  esac
done
"#
    );
    let world = World::new();
    world.write("server.sh", &script);
    let path = world.root.join("server.sh");
    world.ok(&["add", "-s", "user", "s", "--", "sh", &path.to_string_lossy()]);
    world
}

fn binaries() -> Value {
    json!({"content": [
        {"type": "text", "text": "a picture"},
        {"type": "image", "mimeType": "image/png", "data": "iVBORw=="},
        {"type": "audio", "mimeType": "audio/wav", "data": "UklGRg"},
        {"type": "resource", "resource": {"uri": "file:///../../x", "blob": "AAEC"}},
    ]})
}

// R1 U3
#[test]
fn text_is_data_and_the_rest_is_told_on_standard_error() {
    let done = answering(&binaries()).mcparley(&["call", "s", "get it"]);
    assert_eq!((done.code, done.out.as_str()), (0, "a picture\n"), "{done:?}");
    let how = "not shown; use `--save DIR` or `--output FILE` to write it";
    assert_eq!(
        done.err,
        format!(
            "image (image/png, 4 bytes): {how}\naudio (audio/wav, 4 bytes): {how}\n\
             resource file:///../../x (application/octet-stream, 3 bytes): {how}\n"
        )
    );
}

// R1 B04 B09
#[test]
fn data_that_cannot_be_read_as_values_is_printed_as_it_came() {
    for data in [r#"{"far":1e999999}"#, r#"{"half":"\\ud800"}"#] {
        let marked = json!({"content": [], "structuredContent": "DATA"});
        let done =
            answering_text(&marked.to_string().replace("\"DATA\"", data)).mcparley(&["call", "s", "get it"]);
        assert_eq!((done.code, done.out.as_str()), (0, format!("{data}\n").as_str()), "{done:?}");
    }
}

// R1
#[test]
fn every_kind_of_content_is_printed() {
    let cases = [
        (json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b\n"}]}), "a\nb\n", ""),
        (json!({"content": []}), "", "no content\n"),
        (
            json!({"content": [{"type": "resource", "resource": {"uri": "u:1", "text": "inside"}}]}),
            "inside\n",
            "resource u:1\n",
        ),
        (
            json!({"content": [{"type": "resource_link", "uri": "u:2", "name": "n", "title": "Title"}]}),
            "Title <u:2>\n",
            "",
        ),
        (json!({"content": [], "structuredContent": {"a": 1}}), "{\"a\":1}\n", ""),
        (
            json!({"content": [{"type": "text", "text": "{ \"a\": 1 }"}], "structuredContent": {"a": 1}}),
            "{ \"a\": 1 }\n",
            "",
        ),
        (
            json!({"content": [{"type": "text", "text": "one"}], "structuredContent": {"a": 1}}),
            "one\n{\"a\":1}\n",
            "",
        ),
    ];
    for (result, out, err) in cases {
        let done = answering(&result).mcparley(&["call", "s", "get it"]);
        assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, out, err), "{result}");
    }
}

// R1
#[test]
fn a_damaged_block_is_noted_and_the_others_are_printed() {
    let result = json!({"content": [{"type": "text", "text": "good"}, {"type": "hologram"}, 7]});
    let done = answering(&result).mcparley(&["call", "s", "get it"]);
    assert_eq!((done.code, done.out.as_str()), (0, "good\n"));
    assert_eq!(done.err.matches("warning: ").count(), 2, "{done:?}");
}

// R3: names on disk are ours, and nothing is written over.
#[test]
fn saving_writes_every_binary_part_under_names_of_our_own() {
    let world = answering(&binaries());
    std::fs::create_dir(world.project.join("to")).unwrap();
    for (round, first) in [(1, "get_it-1.png"), (2, "get_it-2.png")] {
        let done = world.mcparley(&["call", "s", "get it", "--save", "to"]);
        assert_eq!(done.code, 0, "{done:?}");
        assert!(done.err.contains(&format!("image (image/png, 4 bytes): to/{first}\n")), "{round}: {done:?}");
    }
    let mut names: Vec<String> = std::fs::read_dir(world.project.join("to"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["get_it-1.bin", "get_it-1.png", "get_it-1.wav", "get_it-2.bin", "get_it-2.png", "get_it-2.wav"]
    );
    assert_eq!(std::fs::read(world.project.join("to/get_it-1.png")).unwrap(), b"\x89PNG");
    let missing = world.mcparley(&["call", "--save", "nowhere", "s", "get it"]);
    assert_eq!(missing.code, i32::from(exit::FILE.number), "{missing:?}");
}

// R3
#[test]
fn one_binary_part_goes_to_a_file_or_to_standard_output() {
    let image = json!({"content": [{"type": "image", "mimeType": "image/png", "data": "iVBORw=="}]});
    let world = answering(&image);
    world.ok(&["call", "s", "get it", "--output", "p.png"]);
    assert_eq!(std::fs::read(world.project.join("p.png")).unwrap(), b"\x89PNG");
    let done = world.command(&["call", "s", "get it", "--output", "-"]).output().unwrap();
    assert_eq!((done.status.code(), done.stdout.as_slice()), (Some(0), b"\x89PNG".as_slice()));
    let several = answering(&binaries()).mcparley(&["call", "s", "get it", "--output", "p.png"]);
    assert_eq!(several.code, i32::from(exit::FILE.number));
    assert_eq!(
        several.err,
        "error: the result has 3 images, audio clips and files, not one\nhint: use `--save DIR` to write all of them\n"
    );
}

// R1: a tool that fails says so on both channels.
#[test]
fn an_error_of_the_tool_is_data_with_its_own_exit_code() {
    let result = json!({"content": [{"type": "text", "text": "no luck"}], "isError": true});
    let world = answering(&result);
    let done = world.mcparley(&["call", "s", "get it"]);
    assert_eq!((done.code, done.out.as_str()), (i32::from(exit::TOOL_ERROR.number), "no luck\n"));
    assert_eq!(done.err, "error: tool `mcp__s__get_it` returned an error\n");
    let json = world.mcparley(&["call", "s", "get it", "--json"]);
    assert_eq!(json.code, i32::from(exit::TOOL_ERROR.number));
    assert_eq!(serde_json::from_str::<Value>(&json.out).unwrap()["isError"], true);
}
