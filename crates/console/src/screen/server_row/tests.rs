//! The text of rows.

use super::*;

/// A row of a connected server with 14 tools.
pub(in super::super) fn connected_row(name: &str) -> ServerRow {
    ServerRow {
        id: RowId { server: ServerName::new(name), origin: ".mcp.json:3".to_owned() },
        name: name.to_owned(),
        scope: "local",
        transport: "stdio",
        state: RowState::Connected,
        tools: 14,
        took: Some(Duration::from_millis(40)),
        running: 0,
        is_configured: true,
    }
}

// U4
#[test]
fn summary_has_state_counts_and_time_to_connect() {
    let now = Instant::now();
    let failed = RowState::Failed { reason: "exit code 1".to_owned() };
    let rows = [
        (connected_row("a"), "connected   14 tools   0.04 s"),
        (
            ServerRow { tools: 1, running: 2, ..connected_row("a") },
            "connected   1 tool   0.04 s   2 calls running",
        ),
        (ServerRow { state: failed, tools: 0, ..connected_row("a") }, "failed   exit code 1"),
        (ServerRow { state: RowState::OnDemand, ..connected_row("a") }, "starts on demand   14 tools"),
        (ServerRow { state: RowState::NeedsSignIn, tools: 0, ..connected_row("a") }, "needs sign-in"),
    ];
    for (row, summary) in rows {
        assert_eq!(row.summary(now), summary);
    }
}

// U4 N7
#[test]
fn reason_of_a_server_is_escaped() {
    let state = RowState::Failed { reason: "\u{1b}[2Jgone\u{202e}".to_owned() };
    let summary = ServerRow { state, ..connected_row("a") }.summary(Instant::now());
    assert_eq!(summary, r"failed   \x1b[2Jgone\u{202e}");
}

// U4
#[test]
fn numbers_are_grouped_and_durations_are_short() {
    let numbers = [(0, "0"), (999, "999"), (1_204, "1,204"), (1_234_567, "1,234,567")];
    for (number, text) in numbers {
        assert_eq!(group_digits(number), text);
    }
    let times = [(40, "0.04 s"), (9_999, "10.00 s"), (12_345, "12 s"), (600_000, "10 min")];
    for (millis, text) in times {
        assert_eq!(format_seconds(Duration::from_millis(millis)), text);
    }
}
