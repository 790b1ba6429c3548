//! Frames of the screen at several sizes, compared as text.

use std::sync::Arc;
use std::time::Duration;

use mcparley::model::tool::Tool;
use mcparley::pool::surface::Surface;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;
use serde_json::json;
use serde_json::value::RawValue;

use super::super::page::Page;
use super::super::popup::Popup;
use super::super::row_state::RowState;
use super::super::server_detail::tests::{detail_of, detail_with_tools};
use super::super::server_row::ServerRow;
use super::super::server_row::tests::connected_row;
use super::*;

/// The screen of the sketch: six servers in six states, the tools of the second below.
fn model(now: Instant) -> ScreenModel {
    let mut model = ScreenModel::default();
    let row = |name: &str, scope, transport, state| ServerRow {
        scope,
        transport,
        state,
        tools: 0,
        ..connected_row(name)
    };
    let reconnecting = RowState::Reconnecting {
        attempt: 3,
        retry_at: Some(now + Duration::from_secs(4)),
        reason: Some("connection refused".to_owned()),
    };
    let waiting = RowState::NeedsApproval { reason: "you have not approved it".to_owned() };
    let reason = "`deniedMcpServers` names it (managed-settings.json:4)".to_owned();
    model.list.set_rows(vec![
        connected_row("fs"),
        ServerRow { scope: "project", tools: 12, running: 2, ..connected_row("git") },
        row("jira", "user", "http", reconnecting),
        row("notion", "user", "http", RowState::NeedsSignIn),
        row("old-db", "project", "stdio", waiting),
        row("crm", "enterprise", "sse", RowState::Unusable { word: "blocked", reason }),
    ]);
    model.list.cursor.move_to(2);
    let tool = |name: &str, properties: serde_json::Value, annotations: serde_json::Value| {
        let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
        let schema = json!({ "type": "object", "properties": properties, "required": required });
        let entry = json!({ "name": name, "inputSchema": schema, "annotations": annotations });
        Arc::new(Tool::parse(&RawValue::from_string(entry.to_string()).unwrap()).unwrap())
    };
    let text = json!({ "type": "string" });
    let path = json!({ "repo_path": text });
    let commit = json!({ "repo_path": text, "message": text });
    let tools = vec![
        tool("git_status", path.clone(), json!({ "readOnlyHint": true })),
        tool("git_commit", commit, json!({ "destructiveHint": true })),
        tool("git_log", path, json!({})),
    ];
    model.set_detail(detail_of(Surface { tools, ..Surface::default() }));
    model
}

fn frame(model: &mut ScreenModel, width: u16, height: u16, now: Instant) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let theme = Theme::new(false);
    terminal
        .draw(|frame| model.draw_at(frame.buffer_mut(), Rect::new(0, 0, width, height), theme, now))
        .unwrap();
    let buffer = terminal.backend().buffer();
    let rows = buffer.content().chunks(usize::from(width).max(1));
    let lines = rows.map(|cells| {
        let (mut line, mut skip) = (String::new(), 0);
        for cell in cells {
            if skip == 0 {
                line.push_str(cell.symbol());
            }
            skip = usize::max(skip, painter::width_of(cell.symbol())).saturating_sub(1);
        }
        line.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

fn assert_frame(actual: &str, expected: &str) {
    assert!(actual == expected, "the frame differs\n--- actual\n{actual}\n--- expected\n{expected}");
}

// U4 L1
#[test]
fn frame_of_80_by_24() {
    let now = Instant::now();
    assert_frame(&frame(&mut model(now), 80, 24, now), include_str!("tests/80x24.txt"));
}

// U4 L1
#[test]
fn frame_of_40_by_10() {
    let now = Instant::now();
    assert_frame(&frame(&mut model(now), 40, 10, now), include_str!("tests/40x10.txt"));
}

// U4 L1
#[test]
fn frame_of_200_by_60() {
    let now = Instant::now();
    assert_frame(&frame(&mut model(now), 200, 60, now), include_str!("tests/200x60.txt"));
}

// U4
#[test]
fn help_covers_every_key() {
    let now = Instant::now();
    let mut model = model(now);
    model.popup = Some(Popup::help());
    assert_frame(&frame(&mut model, 80, 24, now), include_str!("tests/help.txt"));
}

// U4
#[test]
fn every_size_is_drawn_without_breaking() {
    let now = Instant::now();
    for (width, height) in (0..90).step_by(7).flat_map(|width| (0..30).map(move |height| (width, height))) {
        let mut model = model(now);
        for focus in [Focus::Servers, Focus::Detail] {
            model.focus = focus;
            for page in Page::ALL {
                model.page = page;
                model.find_rows();
                frame(&mut model, width, height, now);
            }
        }
        model.popup = Some(Popup::help());
        frame(&mut model, width, height, now);
    }
}

// U4 N7
#[test]
fn text_of_servers_cannot_leave_its_cells() {
    let now = Instant::now();
    let mut model = ScreenModel::default();
    let name = "日本語\u{1b}]0;title\u{7}\u{202e}".repeat(20);
    let reason = "line\nbreak\u{1b}[31m\u{200b}語".repeat(30);
    model.list.set_rows(vec![ServerRow { state: RowState::Failed { reason }, ..connected_row(&name) }]);
    model.set_detail(detail_with_tools(&[&name]));
    model.detail.facts = vec![name.clone()];
    model.detail.errors = vec![name.clone()];
    model.popup = Some(Popup::text(&name, &name));
    for (width, height) in [(80, 24), (41, 12), (13, 7)] {
        for page in [Page::Tools, Page::Errors] {
            model.page = page;
            let text = frame(&mut model, width, height, now);
            model.popup = None;
            assert!(text.lines().all(|line| painter::width_of(line) <= usize::from(width)), "{text}");
            assert!(!text.chars().any(|c| c.is_control() && c != '\n' || c == '\u{202e}'), "{text:?}");
        }
    }
}

// U4
#[test]
fn screen_without_colors_uses_none() {
    let now = Instant::now();
    for has_colors in [false, true] {
        let area = Rect::new(0, 0, 80, 24);
        let mut buffer = Buffer::empty(area);
        model(now).draw_at(&mut buffer, area, Theme::new(has_colors), now);
        let is_colored =
            buffer.content().iter().any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset);
        assert_eq!(is_colored, has_colors);
    }
}

// U4
#[test]
fn frame_of_many_servers_and_tools_is_drawn_within_sixteen_milliseconds() {
    let now = Instant::now();
    let mut model = ScreenModel::default();
    model.list.set_rows((0..100).map(|index| connected_row(&format!("server-{index}"))).collect());
    let names: Vec<String> = (0..100).map(|index| format!("tool_{index}")).collect();
    model.set_detail(detail_with_tools(&names.iter().map(String::as_str).collect::<Vec<_>>()));
    let area = Rect::new(0, 0, 80, 24);
    let mut buffer = Buffer::empty(area);
    // The fastest of several: other programs may take the processor meanwhile.
    let fastest = (0..50).map(|_| {
        let start = std::time::Instant::now();
        model.draw_at(&mut buffer, area, Theme::new(true), now);
        start.elapsed()
    });
    let fastest = fastest.min().unwrap();
    assert!(fastest < Duration::from_millis(16), "{fastest:?}");
}
