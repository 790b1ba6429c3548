//! The meaning of rules written down a second time, plainly, and compared with the real thing.

use proptest::prelude::*;

use super::super::{KnownServers, RuleKind, Subject};
use super::rule;
use crate::glob::Glob;
use crate::name::{ServerName, ToolName, normalise_server, normalise_tool};

/// Whether `written` can stand for something called `original`, or `normal` once normalised.
fn stands_for(written: &str, original: &str, normal: &str) -> bool {
    let pattern = Glob::new(written);
    pattern.matches(original) || pattern.matches(normal)
}

/// Every way to take a text apart; a star stands for all tools.
fn splits(text: &str) -> Vec<(String, String)> {
    let rest = text.strip_prefix("mcp__").unwrap();
    let mut all: Vec<_> = (0..rest.len())
        .filter(|at| rest[*at..].starts_with("__"))
        .map(|at| (rest[..at].to_owned(), rest[at + 2..].to_owned()))
        .collect();
    all.push((rest.to_owned(), "*".to_owned()));
    all.retain(|(server, _)| !server.contains('*') || !server.contains("__"));
    all
}

/// Whether the server part means the server.
fn means(part: &str, server: &ServerName) -> bool {
    if part.contains('*') {
        stands_for(part, server.as_str(), &normalise_server(server))
    } else {
        normalise_server(&ServerName::new(part)) == normalise_server(server)
    }
}

/// What [`super::super::Rule::matches`] should say, for texts without a hash and subjects without public name.
fn expected(kind: RuleKind, text: &str, server: &ServerName, tool: &ToolName, known: &[ServerName]) -> bool {
    let tool_fits = |part: &str| stands_for(part, tool.as_str(), &normalise_tool(tool));
    if kind != RuleKind::Allow {
        return splits(text).iter().any(|(part, wanted)| means(part, server) && tool_fits(wanted));
    }
    let mut meanings = Vec::new();
    for (part, wanted) in splits(text) {
        let meant: Vec<_> = known.iter().filter(|server| means(&part, server)).collect();
        let spelled: Vec<_> = meant.iter().filter(|server| server.as_str() == part).copied().collect();
        let needs_normalising = normalise_server(&ServerName::new(&part)) != part;
        match (part.contains('*'), needs_normalising && !spelled.is_empty()) {
            (true, _) if meant.is_empty() => {}
            (true, _) => meanings.push((meant, wanted)),
            (false, true) => meanings.push((spelled, wanted)),
            (false, false) => meanings.extend(meant.into_iter().map(|server| (vec![server], wanted.clone()))),
        }
    }
    matches!(&*meanings, [(servers, wanted)] if servers.contains(&server) && tool_fits(wanted))
}

fn server() -> impl Strategy<Value = ServerName> {
    "[ab _]{0,4}".prop_map(|name| ServerName::new(&name))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn rules_mean_what_the_reference_says(
        text in "mcp__([ab _*]{1,3}|[ab_]{1,2}__[ab_*]{0,3}|a(__[ab*]){1,2})",
        mut known in prop::collection::btree_set(server(), 1..5).prop_map(Vec::from_iter),
        chosen in any::<prop::sample::Index>(),
        tool in "[ab _]{0,4}",
    ) {
        // P3 B34 B35
        // The text is trimmed when it is read.
        prop_assume!(text.trim() == text && text != "mcp__");
        known.dedup();
        let server = chosen.get(&known).clone();
        let tool = ToolName::new(&tool);
        let subject = Subject { server: &server, tool: &tool, public: None, arguments: None, read_only: false };
        let servers = KnownServers::new(known.clone());
        for kind in [RuleKind::Allow, RuleKind::Ask, RuleKind::Deny] {
            prop_assert_eq!(
                rule(kind, &text).matches(&subject, &servers),
                expected(kind, &text, &server, &tool, &known),
                "{} {} for {:?} {:?} among {:?}", kind, text, server, tool, known
            );
        }
    }
}
