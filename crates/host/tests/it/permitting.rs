//! What a host permits, as whoever offers its tools sees it.

use mcparley::model::permission::Mode;

use crate::alive::{Alive, scripted, servers};

/// The tools of server `one` that no call can reach.
fn denied(alive: &Alive) -> Vec<String> {
    let catalog = alive.host.catalog();
    let mut names: Vec<String> = catalog
        .iter()
        .filter(|entry| alive.host.denies_outright(entry))
        .map(|entry| entry.name.to_string())
        .collect();
    names.sort_unstable();
    names
}

// P3
#[tokio::test]
async fn a_tool_that_a_rule_denies_whatever_its_arguments_need_not_be_offered() {
    let entries = || [("one", scripted(&[])), ("two", scripted(&[]))];
    let alive = servers(entries())
        .deny("mcp__one__a*")
        .deny("mcp__one__echo(message:rm *)")
        .allow("mcp__one__add")
        .ready()
        .await;
    assert_eq!(denied(&alive), ["mcp__one__add"]);

    for mode in [Mode::Plan, Mode::DontAsk] {
        let alive = servers(entries()).wish(|wishes| wishes.mode = Some(mode)).ready().await;
        assert!(denied(&alive).is_empty(), "a mode may change at any time");
    }
}
