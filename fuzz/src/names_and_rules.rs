//! Oracle of public names and permission rules.
//!
//! Public names have at most 64 characters of `[A-Za-z0-9_-]`, each belongs to one tool, and neither the order
//! of tools nor later tools change them. Normalizing twice is normalizing once. Whatever an allow rule matches,
//! the same text also asks for and denies. The rule for exactly one tool matches that tool alone, and the
//! index of rules decides like all rules one after the other.

use std::collections::BTreeSet;

use mcparley_model::name::{
    PublicNames, ServerName, ToolName, is_same_server, normalize_server, normalize_tool,
};
use mcparley_model::permission::{
    KnownServers, PermissionMode, PermissionRule, PermissionSubject, PermissionVerdict, RuleKind, RuleScope,
    RuleSet, decide_call, exact_rule_text, server_rule_text,
};
use mcparley_model::scope::{ConfigOrigin, Source};

/// The most tools and rules of one input, so that comparing all with all stays quick.
const MOST: usize = 12;

/// Checks lines: `server<TAB>tool` is a tool, any other line a rule.
pub fn check_names(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (tools, rules): (Vec<&str>, Vec<&str>) = text.split('\n').partition(|line| line.contains('\t'));
    let pairs: Vec<(ServerName, ToolName)> = tools
        .into_iter()
        .take(MOST)
        .filter_map(|line| line.split_once('\t'))
        .map(|(server, tool)| (ServerName::new(server), ToolName::new(tool)))
        .collect();
    let names = check_public_names(&pairs);
    check_normalization(&pairs);
    let rules: Vec<&str> = rules.into_iter().take(MOST).collect();
    check_rules(&pairs, &names, &rules);
}

fn is_public(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

fn check_public_names(pairs: &[(ServerName, ToolName)]) -> PublicNames {
    let names = PublicNames::assign(pairs.to_vec());
    let distinct: BTreeSet<_> = pairs.iter().collect();
    assert_eq!(names.iter().len(), distinct.len(), "each tool has one name");
    let published: BTreeSet<_> = names.iter().map(|(public, ..)| public.as_str()).collect();
    assert_eq!(published.len(), distinct.len(), "no two tools share a name");
    for (server, tool) in pairs {
        let Some(public) = names.public_name(server, tool) else {
            unreachable!("{server} {tool} has no name")
        };
        let public = public.as_str();
        assert!((1..=64).contains(&public.len()) && is_public(public), "{public}");
        assert_eq!(names.find_tool(public), Some((server, tool)));
    }
    assert_eq!(PublicNames::assign(pairs.iter().rev().cloned()), names, "the order means nothing");
    let (early, late) = pairs.split_at(pairs.len() / 2);
    let before = PublicNames::assign(early.to_vec());
    let after = before.extend(late.to_vec());
    assert_eq!(after.iter().len(), distinct.len());
    for (public, server, tool) in before.iter() {
        assert_eq!(after.public_name(server, tool), Some(public), "a later tool takes no name");
    }
    names
}

fn check_normalization(pairs: &[(ServerName, ToolName)]) {
    for (server, tool) in pairs {
        let (once, part) = (normalize_server(server), normalize_tool(tool));
        assert!(is_public(&once) && is_public(&part));
        assert_eq!(normalize_server(&ServerName::new(&once)), once);
        assert_eq!(normalize_tool(&ToolName::new(&part)), part);
        for (other, _) in pairs {
            let is_same = is_same_server(server.as_str(), other.as_str());
            assert_eq!(is_same, once == normalize_server(other), "{server:?} and {other:?}");
        }
    }
}

fn check_rules(pairs: &[(ServerName, ToolName)], names: &PublicNames, rules: &[&str]) {
    let known = KnownServers::new(pairs.iter().map(|(server, _)| server.clone()));
    let subjects: Vec<PermissionSubject<'_>> = pairs.iter().map(|pair| subject_of(pair, names)).collect();
    for subject in &subjects {
        check_exact_rule(subject, &subjects, &known);
        check_server_rule(subject, &subjects, &known);
    }
    for text in rules {
        let [Some(allow), Some(ask), Some(deny)] =
            [RuleKind::Allow, RuleKind::Ask, RuleKind::Deny].map(|kind| parse_rule(kind, text))
        else {
            continue;
        };
        assert_eq!(parse_rule(RuleKind::Allow, allow.text()).as_ref(), Some(&allow), "{text:?}");
        for subject in &subjects {
            let matches = [&allow, &ask, &deny].map(|rule| rule.matches_call(subject, &known));
            let [is_allowed, is_asked, is_denied] = matches;
            assert!(is_asked == is_denied && (!is_allowed || is_denied), "{text:?} {subject:?}: {matches:?}");
        }
    }
    subjects.iter().for_each(|subject| check_decision(subject, rules, &known));
}

fn subject_of<'n>(pair: &'n (ServerName, ToolName), names: &'n PublicNames) -> PermissionSubject<'n> {
    let (server, tool) = pair;
    PermissionSubject {
        server,
        tool,
        public: names.public_name(server, tool),
        arguments: None,
        read_only: false,
    }
}

fn parse_rule(kind: RuleKind, text: &str) -> Option<PermissionRule> {
    let origin = ConfigOrigin::for_source(Source::from_label("fuzz"));
    PermissionRule::parse(kind, text, origin, RuleScope::User).ok()
}

/// The rule written for one tool matches that tool, and no other one.
fn check_exact_rule(subject: &PermissionSubject<'_>, all: &[PermissionSubject<'_>], known: &KnownServers) {
    let text = exact_rule_text(subject, known);
    let Some(rule) = parse_rule(RuleKind::Allow, &text) else { unreachable!("{text:?} is a rule") };
    assert!(rule.matches_call(subject, known), "{text:?} for {subject:?}");
    for other in all {
        let is_same = (other.server, other.tool) == (subject.server, subject.tool);
        assert!(is_same || !rule.matches_call(other, known), "{text:?} is for {subject:?}, not {other:?}");
    }
}

/// The rule written for one server matches the tools of that server, and no others.
fn check_server_rule(subject: &PermissionSubject<'_>, all: &[PermissionSubject<'_>], known: &KnownServers) {
    let Some(text) = server_rule_text(subject, known) else { return };
    let Some(rule) = parse_rule(RuleKind::Allow, &text) else { unreachable!("{text:?} is a rule") };
    for other in all {
        let is_same = other.server == subject.server;
        assert_eq!(rule.matches_call(other, known), is_same, "{text:?} is for {subject:?}, and {other:?}");
    }
}

/// The decision with the index is the decision of all rules one after the other: deny, ask, allow.
fn check_decision(subject: &PermissionSubject<'_>, rules: &[&str], known: &KnownServers) {
    let kinds = [RuleKind::Allow, RuleKind::Ask, RuleKind::Deny].into_iter().cycle();
    let parse = || kinds.clone().zip(rules).filter_map(|(kind, text)| parse_rule(kind, text));
    let set = RuleSet::new(parse());
    let decision = decide_call(subject, &set, PermissionMode::Default, known);
    let matching: Vec<RuleKind> =
        parse().filter(|rule| rule.matches_call(subject, known)).map(|rule| rule.kind()).collect();
    let expected = match (matching.contains(&RuleKind::Deny), matching.contains(&RuleKind::Ask)) {
        (true, _) => PermissionVerdict::Deny,
        (false, true) => PermissionVerdict::Ask,
        (false, false) if matching.contains(&RuleKind::Allow) => PermissionVerdict::Allow,
        (false, false) => PermissionVerdict::Ask,
    };
    assert_eq!(decision.verdict, expected, "{rules:?} for {subject:?}");
}
