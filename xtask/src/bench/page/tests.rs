//! Tests of the layout of the page.

use serde_json::json;

use super::{PageOptions, render_page};

#[test]
fn page_has_bounds_and_peers_in_tables_of_their_own_and_says_what_is_missing() {
    let figures = [
        json!({ "figure": "call of 100 B", "unit": "seconds", "limit": 1e-5, "mcparley": 1.5e-5, "ratio": 1.5,
            "promised": "≤ 1.6", "over": false }),
        json!({ "figure": "`mcparley tools`, 20 servers seen before", "unit": "seconds", "limit": 0.002,
            "mcparley": 0.004, "ratio": 2.0, "promised": "≤ 1.5", "over": true }),
        json!({ "figure": "`mcparley list`, 1 server, limit is mcporter", "unit": "seconds", "limit": 0.4,
            "mcparley": 0.01, "ratio": 0.025, "promised": "≤ 0.05", "over": false }),
        json!({ "figure": "gateway, limit is mcp-hub", "missing": "not installed" }),
    ];
    let options = PageOptions { write: "x.md".into(), rounds: 3, only: None, peers: None, mcparley: None };
    let page = render_page(&figures, "a machine", &options, &["`mcp-hub`: no network\nhint".to_owned()]);
    let tables: Vec<&str> = page.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(
        tables,
        [
            "| figure | bound | mcparley | ratio | promised |",
            "|---|---|---|---|---|",
            "| call of 100 B | 10.0 µs | 15.0 µs | 1.50 | ≤ 1.6 |",
            "| `mcparley tools`, 20 servers seen before | 2.00 ms | 4.00 ms | 2.00 | ≤ 1.5, **missed** |",
            "| figure | other program | its figure | mcparley | ratio | promised |",
            "|---|---|---|---|---|---|",
            "| `mcparley list`, 1 server | mcporter | 400.00 ms | 10.00 ms | 0.025 | ≤ 0.05 |",
            "| gateway | mcp-hub | | not measured: not installed | | |",
        ]
    );
    assert!(page.contains("Measured on: a machine."), "{page}");
    assert!(page.contains("could not be installed on this machine: `mcp-hub`: no network.\n"), "{page}");
}
