//! Rows and texts of the pages.

use std::time::Duration;

use mcparley::model::text::Untrusted;
use serde_json::json;
use serde_json::value::RawValue;

use super::*;

fn tool(name: &str, annotations: &serde_json::Value) -> Arc<Tool> {
    let entry = json!({ "name": name, "inputSchema": { "type": "object" }, "annotations": annotations });
    Arc::new(Tool::parse(&RawValue::from_string(entry.to_string()).unwrap()).unwrap())
}

/// The detail of a server with these tools, without arguments and annotations.
pub(in super::super) fn detail_with_tools(names: &[&str]) -> ServerDetail {
    let tools = names.iter().map(|name| tool(name, &json!({}))).collect();
    detail_of(Surface { tools, ..Surface::default() })
}

/// The detail of a server with this surface.
pub(in super::super) fn detail_of(surface: Surface) -> ServerDetail {
    ServerDetail {
        facts: vec!["uvx mcp-server-git".to_owned(), ".mcp.json:3".to_owned(), "pid 4711".to_owned()],
        lists: Arc::new(SurfaceLists::from_surface(&Arc::new(surface))),
        ..ServerDetail::default()
    }
}

// U4 N4
#[test]
fn tool_row_has_signature_hint_and_counts() {
    let tools = vec![
        tool("status", &json!({ "readOnlyHint": true })),
        tool("commit", &json!({ "destructiveHint": true })),
        tool("log", &json!({})),
    ];
    let mut detail = detail_of(Surface { tools, ..Surface::default() });
    let mut count = CallCount::default();
    (count.calls, count.time) = (1_204, Duration::from_millis(12) * 1_204);
    detail.tools.counts.insert(ToolName::new("status"), count);
    let rows: Vec<(String, String)> =
        (0..3).filter_map(|index| detail.row(Page::Tools, index)).map(|row| (row.text, row.remark)).collect();
    let expected =
        [("status()", "read-only   1,204 calls 12 ms"), ("commit()", "destructive"), ("log()", "")];
    assert_eq!(rows, expected.map(|(text, remark)| (text.to_owned(), remark.to_owned())));
}

// U4 N4
#[test]
fn popup_of_a_tool_has_every_hint_and_the_whole_schema() {
    let detail = detail_with_tools(&["log"]);
    let popup = detail.popup(Page::Tools, 0).unwrap();
    for text in ["Hints of the server: writes, may destroy", "State: on", "\"type\": \"object\""] {
        assert!(popup.text.contains(text), "{text}: {}", popup.text);
    }
}

// U4
#[test]
fn tabs_have_counts_where_there_is_something_to_count() {
    let mut detail = detail_with_tools(&["a", "b"]);
    let tabs = |detail: &ServerDetail| Page::ALL.map(|page| detail.tab(page)).join(" ");
    assert_eq!(tabs(&detail), "Tools 2 Resources 0 Prompts 0 Calls Log Errors About");
    detail.errors.push("failed".to_owned());
    assert!(tabs(&detail).ends_with("Errors 1 About"));
}

// U4 N7
#[test]
fn log_lines_are_found_and_opened_whole() {
    let mut detail = ServerDetail::default();
    let long = "x".repeat(500);
    for text in ["started", long.as_str()] {
        let text = Untrusted::new(text).display_line().into_owned();
        detail.log.push(LogRow { source: "stderr".to_owned(), text });
    }
    assert_eq!(detail.find_rows(Page::Log, "xxx"), [1]);
    assert_eq!(detail.popup(Page::Log, 1).unwrap().text, long);
}
