//! Shows that no server gets another's permissions by how it, or its tools, are named.

use super::super::{KnownServers, Rule, RuleKind, RuleSet, Subject, rule_text};
use super::{known, matched, rule};
use crate::name::{Names, ServerName, ToolName};

fn matches(rule: &Rule, names: &Names, known: &KnownServers, server: &str, tool: &str) -> bool {
    let (server, tool) = (ServerName::new(server), ToolName::new(tool));
    let public = names.public(&server, &tool);
    rule.matches(&Subject { server: &server, tool: &tool, public, arguments: None, read_only: false }, known)
}

#[test]
fn a_star_after_a_server_never_reaches_into_another_servers_name() {
    // B35 H12
    for servers in [&["slack__evil"][..], &["slack", "slack__evil"], &["slack", "slack__evil", "slack__"]] {
        assert_eq!(matched("mcp__slack__*", servers, "slack__evil", "post"), (false, false));
    }
    assert_eq!(matched("mcp__slack__*", &["slack", "slack__evil"], "slack", "post"), (true, true));
    assert_eq!(matched("mcp__slack", &["slack", "slack__evil"], "slack__evil", "post"), (false, false));
    assert_eq!(matched("mcp__slack__ev*", &["slack__evil"], "slack__evil", "post"), (false, false));
}

#[test]
fn a_text_with_two_meanings_forbids_both_and_permits_neither() {
    // B34 H12
    let servers = ["a", "a__b"];
    assert_eq!(matched("mcp__a__b__c", &servers, "a", "b__c"), (false, true));
    assert_eq!(matched("mcp__a__b__c", &servers, "a__b", "c"), (false, true));
    assert_eq!(matched("mcp__a__b__*", &servers, "a__b", "c"), (false, true));
    assert_eq!(matched("mcp__a__b", &servers, "a__b", "c"), (false, true));
    // With one of the servers there is one meaning.
    assert_eq!(matched("mcp__a__b__c", &["a"], "a", "b__c"), (true, true));
    assert_eq!(matched("mcp__a__b__c", &["a__b"], "a__b", "c"), (true, true));
    // Servers that are normalised alike are two meanings too, unless one is spelled out.
    assert_eq!(matched("mcp__a_b__c", &["a b", "a_b"], "a_b", "c"), (false, true));
    assert_eq!(matched("mcp__a b__c", &["a b", "a_b"], "a b", "c"), (true, true));
    assert_eq!(matched("mcp__a b__c", &["a b", "a_b"], "a_b", "c"), (false, true));
}

#[test]
fn a_public_name_means_its_tool_alone() {
    // B34 N2
    let pairs = [("a", "b__c"), ("a__b", "c")];
    let names = Names::assign(pairs.map(|(server, tool)| (ServerName::new(server), ToolName::new(tool))));
    let known = known(&["a", "a__b"]);
    assert_eq!(names.iter().len(), pairs.len());
    for (public, server, tool) in names.iter() {
        for kind in [RuleKind::Allow, RuleKind::Ask, RuleKind::Deny] {
            let rule = rule(kind, public.as_str());
            let meant = pairs.map(|(server, tool)| matches(&rule, &names, &known, server, tool));
            assert_eq!(meant, pairs.map(|pair| pair == (server.as_str(), tool.as_str())));
            assert_eq!(RuleSet::new([rule]).dead(&known), []);
        }
    }
}

#[test]
fn tools_normalised_alike_do_not_share_permissions() {
    // B34 B36
    let tools = ["x.y", "x_y", "x y"];
    let names = Names::assign(tools.map(|tool| (ServerName::new("s"), ToolName::new(tool))));
    let allowed = |text| {
        let rule = rule(RuleKind::Allow, text);
        tools.map(|tool| matches(&rule, &names, &known(&["s"]), "s", tool))
    };
    assert_eq!(allowed("mcp__s__x_y"), [false, true, false]);
    assert_eq!(allowed("mcp__s__x.y"), [true, false, false]);
    assert_eq!(allowed("mcp__s__x*"), [true, true, true]);
}

#[test]
fn a_shortened_server_name_permits_nothing_to_a_server_of_that_name() {
    // B34 H12: the public name of a long pair begins like the server `long-server-long`.
    let (server, tool) = (ServerName::new(&"long-server-".repeat(9)), ToolName::new(&"t".repeat(90)));
    let names = Names::assign([(server.clone(), tool.clone())]);
    let public = names.public(&server, &tool).unwrap().as_str();
    let (head, tail) = public.strip_prefix("mcp__").unwrap().split_once("__").unwrap();
    let rule = rule(RuleKind::Allow, public);
    let known = known(&[server.as_str(), head]);
    assert!(matches(&rule, &names, &known, server.as_str(), tool.as_str()));
    assert!(!matches(&rule, &names, &known, head, tail));
}

#[test]
fn a_rule_that_matches_nothing_is_reported() {
    // P3 P4
    let texts = ["mcp__gone__x", "mcp__a__b__c", "mcp__a__x", "mcp__a__b", "mcp__z*", "Bash(ls:*)", "*"];
    let allow = RuleSet::new(texts.map(|text| rule(RuleKind::Allow, text)));
    let dead = allow.dead(&known(&["a", "a__b"]));
    let told: Vec<_> = dead.iter().map(|dead| (dead.to_string(), dead.hint())).collect();
    let told: Vec<_> = told.iter().map(|(message, hint)| (message.as_str(), hint.as_str())).collect();
    let mend = "mend the server's name in the rule, or remove the rule";
    assert_eq!(
        told,
        [
            ("allow rule `mcp__gone__x` (user, settings) matches nothing: no server is called `gone`", mend),
            (
                "allow rule `mcp__a__b__c` (user, settings) matches nothing, because it could mean \
                 tool `b__c` of server `a` or tool `c` of server `a__b`",
                "write `mcp__a__b__c_dbaaa2f5` or `mcp__a__b__c_31ffefa8`",
            ),
            (
                "allow rule `mcp__a__b` (user, settings) matches nothing, because it could mean \
                 tool `b` of server `a` or tool `*` of server `a__b`",
                "write `mcp__a__b_cf6ab613`",
            ),
            ("allow rule `mcp__z*` (user, settings) matches nothing: no server is called `z*`", mend),
        ]
    );
    let deny = RuleSet::new(texts.map(|text| rule(RuleKind::Deny, text)));
    assert_eq!(deny.dead(&known(&["a", "a__b"])).len(), 2);
}

#[test]
fn a_rule_written_for_a_tool_is_clear() {
    // P3 B34
    let text = |servers, server, tool| {
        let (server, tool) = (ServerName::new(server), ToolName::new(tool));
        let subject =
            Subject { server: &server, tool: &tool, public: None, arguments: None, read_only: false };
        rule_text(&subject, &known(servers))
    };
    assert_eq!(text(&["a"], "a", "b__c"), "mcp__a__b__c");
    assert_eq!(text(&["a", "a__b"], "a", "b__c"), "mcp__a__b__c_dbaaa2f5");
    assert_eq!(text(&["a", "a__b"], "a", "c.*(x)"), "mcp__a__c___x_");
}
