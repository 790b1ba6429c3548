//! Tests of the servers that a policy allows.

use super::{
    Policy, PolicyList, PolicyOwner, PolicySubject, PolicyTarget, ResolvedCommand, can_change_program,
};
use crate::document::JsonDocument;
use crate::explain::Explain as _;
use crate::name::ServerName;
use crate::scope::{Scope, Source};

mod addresses;
mod commands;
mod pins;

/// Reads a list and the warnings about it.
fn read(json: &str) -> (PolicyList, Vec<String>) {
    let document = JsonDocument::parse(Source::from_label("policy"), json).unwrap();
    let (rules, warnings) = PolicyList::from_node(document.root().unwrap());
    (rules, warnings.iter().map(ToString::to_string).collect())
}

fn rules(json: &str) -> PolicyList {
    let (rules, warnings) = read(json);
    assert_eq!(warnings, Vec::<String>::new());
    rules
}

fn allowing(owner: PolicyOwner, json: &str) -> Policy {
    let mut policy = Policy::default();
    policy.add_allow_list(owner, rules(json));
    policy
}

fn permits(policy: &Policy, name: &str, scope: Scope, target: PolicyTarget<'_>) -> bool {
    policy.check_server(&PolicySubject { name: &ServerName::new(name), scope, target }).is_ok()
}

fn permits_name(policy: &Policy, name: &str) -> bool {
    permits(policy, name, Scope::User, PolicyTarget::Other)
}

#[test]
fn every_server_may_exist_without_policy_lists() {
    // C9
    assert!(permits_name(&Policy::default(), "anything"));
}

#[test]
fn an_allow_list_that_is_present_allows_only_what_it_names() {
    // C9
    let named = allowing(PolicyOwner::Managed, r#"[{"serverName": "my db"}]"#);
    assert_eq!(
        ["my db", "my_db", "my-db", "My db"].map(|name| permits_name(&named, name)),
        [true, true, false, false]
    );
    assert!(!permits_name(&allowing(PolicyOwner::Managed, "[]"), "my db"));
}

#[test]
fn broken_entry_is_skipped_with_a_warning() {
    // C9
    let (rules, warnings) = read(
        r#"[
  "github",
  {},
  {"serverName": "a", "serverUrl": "https://x"},
  {"serverName": "a", "serverName": "b"},
  {"serverName": 3},
  {"serverName": ""},
  {"serverCommand": ["npx", null]},
  {"serverCommand": "npx"},
  {"serverCommand": []},
  {"serverUrl": "company.com/*"},
  {"serverName": "good", "comment": "kept"}
]"#,
    );
    assert_eq!(
        warnings,
        [
            "policy:2:3: policy entry left out: expected an object, found a string",
            "policy:3:3: policy entry left out: it has neither `serverName` nor `serverUrl` nor `serverCommand`",
            "policy:4:3: policy entry left out: it has more than one of `serverName`, `serverUrl` and `serverCommand`",
            "policy:5:3: policy entry left out: it has more than one of `serverName`, `serverUrl` and `serverCommand`",
            "policy:6:3: policy entry left out: `serverName` must be a string, found a number",
            "policy:7:3: policy entry left out: `serverName` is empty",
            "policy:8:3: policy entry left out: `serverCommand` must be an array of strings, found null",
            "policy:9:3: policy entry left out: `serverCommand` must be an array of strings, found a string",
            "policy:10:3: policy entry left out: `serverCommand` is empty",
            "policy:11:3: policy entry left out: `company.com/*` is not a URL pattern: it does not begin with a \
             scheme, or `*`, and `://`",
        ]
    );
    let mut policy = Policy::default();
    policy.add_allow_list(PolicyOwner::Managed, rules);
    assert_eq!(["good", "a", "github"].map(|name| permits_name(&policy, name)), [true, false, false]);
}

#[test]
fn a_list_of_broken_entries_still_allows_nothing() {
    // C9 B33
    for json in [r#"[{"serverUrl": 1}]"#, r#"{"serverName": "a"}"#, "null", r#""a""#] {
        let (rules, warnings) = read(json);
        let mut policy = Policy::default();
        policy.add_allow_list(PolicyOwner::Managed, rules);
        assert_eq!((permits_name(&policy, "a"), warnings.len()), (false, 1), "{json}");
    }
}

#[test]
fn managed_lists_add_up_and_the_users_list_narrows() {
    // C9
    let mut policy = allowing(PolicyOwner::Managed, r#"[{"serverName": "a"}]"#);
    policy.add_allow_list(PolicyOwner::Managed, rules(r#"[{"serverName": "b"}]"#));
    let names = ["a", "b", "c"];
    assert_eq!(names.map(|name| permits_name(&policy, name)), [true, true, false]);
    policy.add_allow_list(PolicyOwner::User, rules(r#"[{"serverName": "b"}, {"serverName": "c"}]"#));
    assert_eq!(names.map(|name| permits_name(&policy, name)), [false, true, false]);
    policy.allow_managed_only();
    assert_eq!(names.map(|name| permits_name(&policy, name)), [true, true, false]);
}

#[test]
fn deny_wins_in_every_scope() {
    // C9 B32 H38
    let mut policy = allowing(PolicyOwner::Managed, r#"[{"serverName": "bad"}, {"serverUrl": "*://*:*"}]"#);
    policy.add_deny_list(rules(r#"[{"serverName": "bad"}, {"serverUrl": "*://evil.com:*"}]"#));
    let evil = url::Url::parse("https://evil.com:8443/mcp").unwrap();
    for scope in Scope::ALL {
        assert!(!permits(&policy, "bad", scope, PolicyTarget::Other), "{scope}");
        assert!(!permits(&policy, "renamed", scope, PolicyTarget::Url(&evil)), "{scope}");
        // The administrator's own servers need no entry.
        assert_eq!(
            permits(&policy, "other", scope, PolicyTarget::Other),
            scope == Scope::Enterprise,
            "{scope}"
        );
    }
}

#[test]
fn a_command_is_compared_element_by_element() {
    // B31 H07
    let json = r#"[{"serverCommand": ["npx", "-y", "@company/mcp-*"]}]"#;
    let policy = allowing(PolicyOwner::Managed, json);
    let mut denying = Policy::default();
    denying.add_deny_list(rules(json));
    for (argv, expected) in [
        (&["npx", "-y", "@company/mcp-x"][..], true),
        (&["npx", "-y", "@company/mcp-"], true),
        (&["npx", "-y", "@company/mcp-x", "-c", "sh"], false),
        (&["npx", "-c", "@company/mcp-x"], false),
        (&["npx", "-y"], false),
        (&["./npx", "-y", "@company/mcp-x"], false),
        (&["env", "npx", "-y", "@company/mcp-x"], false),
        (&["npx", "-y", "@evil/@company/mcp-x"], false),
        (&["NPX", "-y", "@company/mcp-x"], false),
        (&[], false),
    ] {
        let command = ResolvedCommand::from_argv(argv);
        let target = PolicyTarget::Command { command: &command, env_names: &["API_KEY"] };
        assert_eq!(permits(&policy, "s", Scope::Project, target), expected, "{argv:?}");
        // A deny entry also covers another path to the program, and a program started by `env`.
        let is_denied = expected || argv.iter().any(|word| matches!(*word, "./npx" | "env"));
        assert_eq!(permits(&denying, "s", Scope::Project, target), !is_denied, "{argv:?}");
    }
}

#[test]
fn an_allowed_command_does_not_cover_another_program_by_environment() {
    // B31 B58 H07
    let json = r#"[{"serverCommand": ["npx", "*"]}]"#;
    let policy = allowing(PolicyOwner::Managed, json);
    let mut denying = Policy::default();
    denying.add_deny_list(rules(json));
    let names = [
        "PATH",
        "Path",
        "LD_PRELOAD",
        "DYLD_INSERT_LIBRARIES",
        "NODE_OPTIONS",
        "npm_config_registry",
        "BASH_ENV",
    ];
    for name in names {
        let command = ResolvedCommand::from_argv(&["npx", "x"]);
        let target = PolicyTarget::Command { command: &command, env_names: &["TOKEN", name] };
        assert!(!permits(&policy, "s", Scope::User, target), "{name}");
        assert!(!permits(&denying, "s", Scope::User, target), "{name}");
    }
}

#[test]
fn variables_that_can_change_the_program_are_detected() {
    // B58
    let changing = [
        "PATH",
        "LD_LIBRARY_PATH",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "PERL5OPT",
        "RUBYOPT",
        "ENV",
        "UV_INDEX_URL",
    ];
    assert!(changing.into_iter().all(can_change_program));
    let harmless = ["", "API_KEY", "PATHS", "MY_PATH", "LDAP_URL", "NODE_ENV", "ENVIRONMENT", "é", "UV"];
    assert!(!harmless.into_iter().any(can_change_program));
}

#[test]
fn violation_names_the_owner_and_the_location() {
    // C9
    let mut policy = allowing(PolicyOwner::Managed, "[]");
    policy.add_deny_list(rules(r#"[{"serverCommand": ["sh", "-c", "*"]}]"#));
    let told = |target| {
        let name = ServerName::new("s");
        let violation =
            policy.check_server(&PolicySubject { name: &name, scope: Scope::User, target }).unwrap_err();
        (violation.to_string(), violation.hint().unwrap())
    };
    let command = ResolvedCommand::from_argv(&["sh", "-c", "x"]);
    assert_eq!(
        told(PolicyTarget::Command { command: &command, env_names: &[] }),
        (
            "denied by policy: serverCommand [`sh`, `-c`, `*`] (policy:1:2)".to_owned(),
            "the entry is at policy:1:2; only its owner can remove it".to_owned()
        )
    );
    assert_eq!(
        told(PolicyTarget::Other),
        (
            "not on the managed allow-list (policy:1:1)".to_owned(),
            "ask the machine's administrator to add the server to `allowedMcpServers`".to_owned()
        )
    );
}
