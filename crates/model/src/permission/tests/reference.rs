//! A second, plain implementation of the meaning of rules, compared with the real one.

use proptest::prelude::*;

use super::super::{KnownServers, PermissionSubject, RuleKind};
use super::rule;
use crate::glob::Glob;
use crate::name::{ServerName, ToolName, normalize_server, normalize_tool};

/// Whether `written` can mean the name `original`, or `normal` once normalized.
fn stands_for(written: &str, original: &str, normal: &str) -> bool {
    let pattern = Glob::new(written);
    pattern.matches(original) || pattern.matches(normal)
}

/// Every way to split a text; a star stands for all tools.
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
        stands_for(part, server.as_str(), &normalize_server(server))
    } else {
        normalize_server(&ServerName::new(part)) == normalize_server(server)
    }
}

/// The expected result of [`super::super::PermissionRule::matches_call`], without hashes and public names.
fn expected(kind: RuleKind, text: &str, server: &ServerName, tool: &ToolName, known: &[ServerName]) -> bool {
    let tool_fits = |part: &str| stands_for(part, tool.as_str(), &normalize_tool(tool));
    if kind != RuleKind::Allow {
        return splits(text).iter().any(|(part, wanted)| means(part, server) && tool_fits(wanted));
    }
    let mut meanings = Vec::new();
    for (part, wanted) in splits(text) {
        let meant: Vec<_> = known.iter().filter(|server| means(&part, server)).collect();
        let spelled: Vec<_> = meant.iter().filter(|server| server.as_str() == part).copied().collect();
        let needs_normalizing = normalize_server(&ServerName::new(&part)) != part;
        match (part.contains('*'), needs_normalizing && !spelled.is_empty()) {
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
    fn rules_agree_with_the_reference_matcher(
        text in "mcp__([ab _*]{1,3}|[ab_]{1,2}__[ab_*]{0,3}|a(__[ab*]){1,2})",
        mut known in prop::collection::btree_set(server(), 1..5).prop_map(Vec::from_iter),
        chosen in any::<prop::sample::Index>(),
        tool in "[ab _]{0,4}",
    ) {
        // P3 B34 B35
        // The text is trimmed when it is parsed.
        prop_assume!(text.trim() == text && text != "mcp__");
        known.dedup();
        let server = chosen.get(&known).clone();
        let tool = ToolName::new(&tool);
        let subject = PermissionSubject { server: &server, tool: &tool, public: None, arguments: None, read_only: false };
        let servers = KnownServers::new(known.clone());
        for kind in [RuleKind::Allow, RuleKind::Ask, RuleKind::Deny] {
            prop_assert_eq!(
                rule(kind, &text).matches_call(&subject, &servers),
                expected(kind, &text, &server, &tool, &known),
                "{} {} for {:?} {:?} among {:?}", kind, text, server, tool, known
            );
        }
    }
}
