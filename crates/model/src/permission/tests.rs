//! Tests of the meaning and precedence of rules; the tables are the specification.

use serde_json::{Value, json};

use super::{
    Decision, DecisionReason, KnownServers, PermissionMode, PermissionRule, PermissionSubject,
    PermissionVerdict, RuleKind, RuleScope, RuleSet, decide_built_in, decide_call,
};
use crate::explain::Explain as _;
use crate::name::{PublicNames, ServerName, ToolName};
use crate::scope::{ConfigOrigin, Source};

mod advice;
mod ambiguity;
mod index;
mod modes;
mod reference;

fn origin() -> ConfigOrigin {
    ConfigOrigin::for_source(Source::from_label("settings"))
}

fn rule(kind: RuleKind, text: &str) -> PermissionRule {
    PermissionRule::parse(kind, text, origin(), RuleScope::User).unwrap()
}

fn known(servers: &[&str]) -> KnownServers {
    KnownServers::new(servers.iter().map(|server| ServerName::new(server)))
}

/// Which kinds of rule with this text match the tool: `allow`, `ask and deny`.
fn matched(text: &str, servers: &[&str], server: &str, tool: &str) -> (bool, bool) {
    let (server, tool) = (ServerName::new(server), ToolName::new(tool));
    let names = PublicNames::assign([(server.clone(), tool.clone())]);
    let public = names.public_name(&server, &tool);
    let subject =
        PermissionSubject { server: &server, tool: &tool, public, arguments: None, read_only: false };
    let by = |kind| rule(kind, text).matches_call(&subject, &known(servers));
    assert_eq!(by(RuleKind::Ask), by(RuleKind::Deny));
    (by(RuleKind::Allow), by(RuleKind::Deny))
}

#[test]
fn rule_matches_a_pair_of_server_and_tool() {
    // P3 N2
    for (text, server, tool, expected) in [
        ("mcp__git", "git", "status", true),
        ("mcp__git__*", "git", "status", true),
        ("mcp__git__status", "git", "status", true),
        ("mcp__git__st*s", "git", "status", true),
        ("mcp__git__st*x", "git", "status", false),
        ("mcp__git__status", "git", "stat", false),
        ("mcp__git__status", "hub", "status", false),
        ("mcp__Git__status", "git", "status", false),
        ("mcp__*", "git", "status", true),
        ("mcp__*__status", "git", "status", true),
        ("mcp__*__status", "git", "log", false),
        ("mcp__gi*__st*", "git", "status", true),
        ("mcp__hu*__st*", "git", "status", false),
        ("*", "git", "status", true),
        (" mcp__git ", "git", "status", true),
        ("mcp__my_db__a_b", "my db", "a.b", true),
        ("mcp__my db__a.b", "my db", "a.b", true),
        ("mcp__my db__a.b", "my db", "a_b", false),
        ("mcp__claude_ai_Foo__x", "claude.ai Foo", "x", true),
        ("mcp__claude.ai Foo__x", "claude.ai Foo", "x", true),
        ("mcp__git__", "git", "", true),
        ("mcp__git__", "git", "x", false),
        ("Bash(ls:*)", "git", "Bash", false),
        ("Read", "Read", "Read", false),
    ] {
        let servers = ["git", "hub", "my db", "claude.ai Foo", "Read"];
        assert_eq!(matched(text, &servers, server, tool), (expected, expected), "{text} {server} {tool}");
    }
}

#[test]
fn rule_may_have_a_condition_on_an_argument() {
    // P4
    let (server, tool) = (ServerName::new("db"), ToolName::new("query"));
    let matches = |text: &str, arguments: Option<&Value>| {
        let subject =
            PermissionSubject { server: &server, tool: &tool, public: None, arguments, read_only: false };
        rule(RuleKind::Allow, text).matches_call(&subject, &known(&["db"]))
    };
    for (text, arguments, expected) in [
        ("mcp__db__query(sql:SELECT *)", json!({"sql": "SELECT 1"}), true),
        ("mcp__db__query(sql:SELECT *)", json!({"sql": "DROP x; SELECT 1"}), false),
        ("mcp__db__query(sql:SELECT *)", json!({"other": "SELECT 1"}), false),
        ("mcp__db__query(sql:SELECT *)", json!("SELECT 1"), false),
        ("mcp__db__query(sql:count(*))", json!({"sql": "count(x)"}), true),
        ("mcp__db__query (sql:*)", json!({"sql": ""}), true),
        ("mcp__db(limit:1*)", json!({"limit": 12}), true),
        ("mcp__db__*(dry:true)", json!({"dry": true}), true),
        ("*(list:[1,*])", json!({"list": [1, 2]}), true),
        ("mcp__db__query(url:http:*)", json!({"url": "http://x"}), true),
    ] {
        assert_eq!(matches(text, Some(&arguments)), expected, "{text} {arguments}");
    }
    assert!(!matches("mcp__db__query(sql:*)", None));
}

#[test]
fn rule_error_names_the_fault() {
    // P3 P4
    for (text, message) in [
        ("mcp__", "`mcp__` is not a permission rule: no server follows `mcp__`"),
        ("", "`` is not a permission rule: it does not begin with `mcp__` and is not a tool name"),
        ("a b", "`a b` is not a permission rule: it does not begin with `mcp__` and is not a tool name"),
        ("mcp__a(b:c", "`mcp__a(b:c` is not a permission rule: `(` is never closed"),
        (
            "mcp__a__b(c)",
            "`mcp__a__b(c)` is not a permission rule: the condition is not `(argument:pattern)`",
        ),
        ("mcp__a(:c)", "`mcp__a(:c)` is not a permission rule: the condition is not `(argument:pattern)`"),
    ] {
        let error = PermissionRule::parse(RuleKind::Allow, text, origin(), RuleScope::User).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(error.hint().is_some());
    }
    let endless = format!("mcp__{}", "_".repeat(100_000));
    let error = PermissionRule::parse(RuleKind::Deny, &endless, origin(), RuleScope::User).unwrap_err();
    assert!(error.to_string().ends_with("its name has more than 512 bytes"));
}

fn verdict(rules: &[(RuleKind, &str)], mode: PermissionMode, read_only: bool) -> PermissionVerdict {
    let (server, tool) = (ServerName::new("git"), ToolName::new("push"));
    let subject =
        PermissionSubject { server: &server, tool: &tool, public: None, arguments: None, read_only };
    let rules = RuleSet::new(rules.iter().map(|(kind, text)| rule(*kind, text)));
    decide_call(&subject, &rules, mode, &known(&["git"])).verdict
}

#[test]
fn deny_beats_ask_beats_allow_in_every_mode() {
    // P2 P3: the columns are no rule, allow, ask and allow, all three.
    use PermissionVerdict::{Allow, Ask, Deny};
    let allow = (RuleKind::Allow, "mcp__git__push");
    let ask = (RuleKind::Ask, "mcp__git");
    let deny = (RuleKind::Deny, "mcp__*");
    for (mode, read_only, expected) in [
        (PermissionMode::Default, false, [Ask, Allow, Ask, Deny]),
        (PermissionMode::Default, true, [Ask, Allow, Ask, Deny]),
        (PermissionMode::AcceptEdits, false, [Ask, Allow, Ask, Deny]),
        (PermissionMode::Plan, false, [Deny, Deny, Deny, Deny]),
        (PermissionMode::Plan, true, [Ask, Allow, Ask, Deny]),
        (PermissionMode::BypassPermissions, false, [Allow, Allow, Ask, Deny]),
        (PermissionMode::Auto, true, [Ask, Allow, Ask, Deny]),
        (PermissionMode::DontAsk, true, [Deny, Allow, Deny, Deny]),
    ] {
        let rules = [&[][..], &[allow], &[ask, allow], &[allow, ask, deny]];
        assert_eq!(rules.map(|rules| verdict(rules, mode, read_only)), expected, "{mode}");
    }
}

#[test]
fn decision_names_its_reason() {
    // P4
    let (server, tool) = (ServerName::new("git"), ToolName::new("push"));
    let subject =
        PermissionSubject { server: &server, tool: &tool, public: None, arguments: None, read_only: false };
    let ask = |scope| PermissionRule::parse(RuleKind::Ask, "mcp__git", origin(), scope).unwrap();
    let rules = RuleSet::new([ask(RuleScope::Local), ask(RuleScope::Managed)]);
    let decision = decide_call(&subject, &rules, PermissionMode::Default, &known(&["git"]));
    assert_eq!(decision.why.to_string(), "ask rule `mcp__git` (managed, settings)");
    assert_eq!(
        serde_json::to_value(&decision).unwrap(),
        json!({"verdict": "ask", "why": {"by": "rule", "rule": {
            "kind": "ask", "text": "mcp__git", "scope": "managed", "origin": {"source": "settings"}}}})
    );
    let denied = decide_call(&subject, &rules, PermissionMode::DontAsk, &known(&["git"]));
    assert_eq!(denied.why.to_string(), "mode `dontAsk`, and ask rule `mcp__git` (managed, settings)");
    let unclear = decide_call(&subject, &RuleSet::default(), PermissionMode::Auto, &known(&["git"]));
    assert_eq!(
        unclear,
        Decision {
            verdict: PermissionVerdict::Ask,
            why: DecisionReason::Mode { mode: PermissionMode::Auto }
        }
    );
    let bypassed =
        decide_call(&subject, &RuleSet::default(), PermissionMode::BypassPermissions, &known(&["git"]));
    assert_eq!(
        serde_json::to_value(&bypassed).unwrap(),
        json!({"verdict": "allow", "why": {"by": "mode", "mode": "bypassPermissions"}})
    );
}

#[test]
fn built_in_tool_is_matched_by_its_name_only() {
    // P3
    let verdict = |kind, text| {
        decide_built_in("ToolSearch", true, &RuleSet::new([rule(kind, text)]), PermissionMode::Default)
            .verdict
    };
    assert_eq!(verdict(RuleKind::Deny, "ToolSearch"), PermissionVerdict::Deny);
    assert_eq!(verdict(RuleKind::Deny, "ToolSearch(x:*)"), PermissionVerdict::Deny);
    assert_eq!(verdict(RuleKind::Deny, "*"), PermissionVerdict::Deny);
    assert_eq!(verdict(RuleKind::Allow, "ToolSearch"), PermissionVerdict::Allow);
    assert_eq!(verdict(RuleKind::Allow, "ToolSearch(x:*)"), PermissionVerdict::Ask);
    // The names that Claude Code has for the same tools.
    let named = |tool: &str, text: &str| {
        decide_built_in(tool, true, &RuleSet::new([rule(RuleKind::Deny, text)]), PermissionMode::Default)
            .verdict
    };
    assert_eq!(named("ListMcpResources", "ListMcpResourcesTool"), PermissionVerdict::Deny);
    assert_eq!(named("ReadMcpResource", "ReadMcpResourceTool"), PermissionVerdict::Deny);
    assert_ne!(named("ReadMcpResource", "ListMcpResourcesTool"), PermissionVerdict::Deny);
    assert_eq!(verdict(RuleKind::Allow, "Tool"), PermissionVerdict::Ask);
    assert_eq!(verdict(RuleKind::Allow, "mcp__*"), PermissionVerdict::Ask);
}

#[test]
fn modes_are_parsed_from_their_words() {
    // P2
    for mode in PermissionMode::ALL {
        assert_eq!(PermissionMode::parse(mode.as_str()), Ok(mode));
    }
    let error = PermissionMode::parse("yolo").unwrap_err();
    assert_eq!(error.to_string(), "`yolo` is not a permission mode");
    assert!(error.hint().unwrap().contains("`bypassPermissions`"));
}

#[test]
fn numbers_in_arguments_compare_by_value() {
    // P3 B124
    let (server, tool) = (ServerName::new("e"), ToolName::new("size"));
    let denied = |condition: &str, arguments: &str| {
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        let text = format!("mcp__e__size({condition})");
        let subject = PermissionSubject {
            server: &server,
            tool: &tool,
            public: None,
            arguments: Some(&arguments),
            read_only: false,
        };
        let rules = RuleSet::new([rule(RuleKind::Deny, &text)]);
        let by_set = decide_call(&subject, &rules, PermissionMode::BypassPermissions, &known(&["e"])).verdict
            == PermissionVerdict::Deny;
        assert_eq!(
            rule(RuleKind::Deny, &text).matches_call(&subject, &known(&["e"])),
            by_set,
            "{text} {arguments}"
        );
        by_set
    };
    for written in ["5", "5.0", "5e0", "0.5e1", "50e-1", "5.000"] {
        for sent in ["5", "5.0", "5e0", "0.5e1", "50E-1"] {
            assert!(denied(&format!("n:{written}"), &format!(r#"{{"n": {sent}}}"#)), "{written} {sent}");
        }
    }
    for (condition, arguments) in [
        ("n:5", r#"{"n": 50}"#),
        ("n:5", r#"{"n": -5}"#),
        ("n:5", r#"{"n": "five"}"#),
        ("n:5", r#"{"n": [5]}"#),
        ("n:9007199254740993", r#"{"n": 9007199254740992}"#),
        ("n:18446744073709551615", r#"{"n": 18446744073709551614}"#),
        ("n:1e999999999999999999999", r#"{"n": 5}"#),
    ] {
        assert!(!denied(condition, arguments), "{condition} {arguments}");
    }
    for (condition, arguments) in [
        ("n:0", r#"{"n": -0.0}"#),
        ("n:1e3", r#"{"n": 1000}"#),
        ("n:9007199254740993", r#"{"n": 9007199254740993}"#),
        ("n:9007199254740993.0", r#"{"n": 9007199254740993}"#),
        ("n:123456789012345678901234567890", r#"{"n": 123456789012345678901234567890}"#),
        ("n:0.1", r#"{"n": 1e-1}"#),
        ("n:5*", r#"{"n": 0.5e1}"#),
        ("n:5", r#"{"n": "5"}"#),
    ] {
        assert!(denied(condition, arguments), "{condition} {arguments}");
    }
}

#[test]
fn rule_covered_by_a_stronger_rule_is_dead() {
    // P3
    let dead = |rules: &[(RuleKind, &str)]| -> Vec<String> {
        let set = RuleSet::new(rules.iter().map(|(kind, text)| rule(*kind, text)));
        set.find_dead_rules(&known(&["a", "b"])).iter().map(ToString::to_string).collect()
    };
    use RuleKind::{Allow, Ask, Deny};
    assert_eq!(
        dead(&[(Allow, "mcp__a__read"), (Deny, "mcp__a")]),
        [
            "allow rule `mcp__a__read` (user, settings) never decides: deny rule `mcp__a` (user, settings) is stronger"
        ]
    );
    for covered in [
        [(Allow, "mcp__a__re*"), (Deny, "mcp__a__r*")],
        [(Allow, "mcp__a__*"), (Ask, "mcp__*")],
        [(Ask, "mcp__a__x(k:v)"), (Deny, "mcp__a__x")],
        [(Allow, "*"), (Deny, "*")],
    ] {
        assert_eq!(dead(&covered).len(), 1, "{covered:?}");
    }
    for alive in [
        [(Allow, "mcp__a__r*"), (Deny, "mcp__a__re*")],
        [(Allow, "mcp__a__x"), (Deny, "mcp__b")],
        [(Allow, "mcp__a__x"), (Deny, "mcp__a__x(k:v)")],
        [(Deny, "mcp__a__x"), (Deny, "mcp__a")],
        [(Deny, "mcp__a__x"), (Allow, "mcp__a")],
        [(Allow, "*"), (Deny, "mcp__a")],
    ] {
        assert_eq!(dead(&alive), [""; 0], "{alive:?}");
    }
}

#[test]
fn deny_rule_matches_a_connector_by_its_normalized_name() {
    // P3 N2
    let server = "claude.ai Google Drive (beta)";
    for text in ["mcp__claude_ai_Google_Drive_beta", "mcp__claude_ai_Google_Drive_beta__*"] {
        assert!(matched(text, &[server], server, "search").1, "{text}");
    }
    assert!(!matched("mcp__claude_ai_Google", &[server], server, "search").1);
    assert!(!matched("mcp__claude_ai_Google_Drive", &[server], server, "beta").1);
}
