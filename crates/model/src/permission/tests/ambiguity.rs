//! Tests that a server cannot get another's permissions by its name or the names of its tools.

use super::super::{
    KnownServers, PermissionRule, PermissionSubject, RuleKind, RuleSet, exact_rule_text, server_rule_text,
};
use super::{known, matched, rule};
use crate::name::{PublicNames, ServerName, ToolName};

fn matches(
    rule: &PermissionRule,
    names: &PublicNames,
    known: &KnownServers,
    server: &str,
    tool: &str,
) -> bool {
    let (server, tool) = (ServerName::new(server), ToolName::new(tool));
    let public = names.public_name(&server, &tool);
    rule.matches_call(
        &PermissionSubject { server: &server, tool: &tool, public, arguments: None, read_only: false },
        known,
    )
}

#[test]
fn star_after_a_server_never_matches_another_server() {
    // B35 H12
    for servers in [&["slack__evil"][..], &["slack", "slack__evil"], &["slack", "slack__evil", "slack__"]] {
        assert_eq!(matched("mcp__slack__*", servers, "slack__evil", "post"), (false, false));
    }
    assert_eq!(matched("mcp__slack__*", &["slack", "slack__evil"], "slack", "post"), (true, true));
    assert_eq!(matched("mcp__slack", &["slack", "slack__evil"], "slack__evil", "post"), (false, false));
    assert_eq!(matched("mcp__slack__ev*", &["slack__evil"], "slack__evil", "post"), (false, false));
}

#[test]
fn ambiguous_rule_denies_both_tools_and_allows_neither() {
    // B34 H12
    let servers = ["a", "a__b"];
    assert_eq!(matched("mcp__a__b__c", &servers, "a", "b__c"), (false, true));
    assert_eq!(matched("mcp__a__b__c", &servers, "a__b", "c"), (false, true));
    assert_eq!(matched("mcp__a__b__*", &servers, "a__b", "c"), (false, true));
    assert_eq!(matched("mcp__a__b", &servers, "a__b", "c"), (false, true));
    // With one of the servers there is one meaning.
    assert_eq!(matched("mcp__a__b__c", &["a"], "a", "b__c"), (true, true));
    assert_eq!(matched("mcp__a__b__c", &["a__b"], "a__b", "c"), (true, true));
    // Servers with equal normalized names are two meanings too, unless one is spelled out.
    assert_eq!(matched("mcp__a_b__c", &["a b", "a_b"], "a_b", "c"), (false, true));
    assert_eq!(matched("mcp__a b__c", &["a b", "a_b"], "a b", "c"), (true, true));
    assert_eq!(matched("mcp__a b__c", &["a b", "a_b"], "a_b", "c"), (false, true));
}

#[test]
fn public_name_matches_only_its_tool() {
    // B34 N2
    let pairs = [("a", "b__c"), ("a__b", "c")];
    let names =
        PublicNames::assign(pairs.map(|(server, tool)| (ServerName::new(server), ToolName::new(tool))));
    let known = known(&["a", "a__b"]);
    assert_eq!(names.iter().len(), pairs.len());
    for (public, server, tool) in names.iter() {
        for kind in [RuleKind::Allow, RuleKind::Ask, RuleKind::Deny] {
            let rule = rule(kind, public.as_str());
            let meant = pairs.map(|(server, tool)| matches(&rule, &names, &known, server, tool));
            assert_eq!(meant, pairs.map(|pair| pair == (server.as_str(), tool.as_str())));
            assert_eq!(RuleSet::new([rule]).find_dead_rules(&known), []);
        }
    }
}

#[test]
fn tools_with_equal_normalized_names_do_not_share_permissions() {
    // B34 B36
    let tools = ["x.y", "x_y", "x y"];
    let names = PublicNames::assign(tools.map(|tool| (ServerName::new("s"), ToolName::new(tool))));
    let allowed = |text| {
        let rule = rule(RuleKind::Allow, text);
        tools.map(|tool| matches(&rule, &names, &known(&["s"]), "s", tool))
    };
    assert_eq!(allowed("mcp__s__x_y"), [false, true, false]);
    assert_eq!(allowed("mcp__s__x.y"), [true, false, false]);
    assert_eq!(allowed("mcp__s__x*"), [true, true, true]);
}

#[test]
fn shortened_server_name_allows_nothing_for_a_server_of_that_name() {
    // B34 H12: the public name of a long pair begins like the server `long-server-long`.
    let (server, tool) = (ServerName::new(&"long-server-".repeat(9)), ToolName::new(&"t".repeat(90)));
    let names = PublicNames::assign([(server.clone(), tool.clone())]);
    let public = names.public_name(&server, &tool).unwrap().as_str();
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
    let dead = allow.find_dead_rules(&known(&["a", "a__b"]));
    let told: Vec<_> = dead.iter().map(|dead| (dead.to_string(), dead.hint())).collect();
    let told: Vec<_> = told.iter().map(|(message, hint)| (message.as_str(), hint.as_str())).collect();
    let fix = "fix the server name in the rule, or remove the rule";
    assert_eq!(
        told,
        [
            ("allow rule `mcp__gone__x` (user, settings) matches nothing: no server is called `gone`", fix),
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
            ("allow rule `mcp__z*` (user, settings) matches nothing: no server is called `z*`", fix),
        ]
    );
    let deny = RuleSet::new(texts.map(|text| rule(RuleKind::Deny, text)));
    assert_eq!(deny.find_dead_rules(&known(&["a", "a__b"])).len(), 2);
}

#[test]
fn exact_rule_text_is_unambiguous() {
    // P3 B34
    let text = |servers, server, tool| {
        let (server, tool) = (ServerName::new(server), ToolName::new(tool));
        let subject = PermissionSubject {
            server: &server,
            tool: &tool,
            public: None,
            arguments: None,
            read_only: false,
        };
        exact_rule_text(&subject, &known(servers))
    };
    assert_eq!(text(&["a"], "a", "b__c"), "mcp__a__b__c");
    assert_eq!(text(&["a", "a__b"], "a", "b__c"), "mcp__a__b__c_dbaaa2f5");
    assert_eq!(text(&["a", "a__b"], "a", "c.*(x)"), "mcp__a__c___x_");
}

#[test]
fn server_rule_text_is_left_out_where_it_could_mean_a_tool() {
    // P3 P6 B34
    let text = |servers, server| {
        let (server, tool) = (ServerName::new(server), ToolName::new("c"));
        let subject = PermissionSubject {
            server: &server,
            tool: &tool,
            public: None,
            arguments: None,
            read_only: false,
        };
        server_rule_text(&subject, &known(servers))
    };
    assert_eq!(text(&["a"], "a").as_deref(), Some("mcp__a"));
    assert_eq!(text(&["a__b"], "a__b").as_deref(), Some("mcp__a__b"));
    assert_eq!(text(&["a", "a__b"], "a__b"), None, "it is tool `b` of `a` as well");
}
