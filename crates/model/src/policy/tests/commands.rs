//! Tests that a command is judged by the program it runs, in every notation.

use super::*;
use crate::config::StdioConfig;
use crate::program::{FoundProgram, ProgramFinder};
use crate::secret::Secret;

/// A file system with `/a/b`, a link to it, a denied link, and the project's own `npx`.
#[derive(Debug)]
struct Files;

impl ProgramFinder for Files {
    fn find_program(&self, name: &str, _stdio: &StdioConfig) -> Option<FoundProgram> {
        let found = |located: &str, canonical: &str, is_of_project| FoundProgram {
            located: located.to_owned(),
            canonical: canonical.to_owned(),
            is_in_project: is_of_project,
            is_self: false,
        };
        match name {
            "/a/b" | "/a//b" | "/a/c/../b" | "b" => Some(found("/a/b", "/a/b", false)),
            "/tmp/link" => Some(found("/tmp/link", "/a/b", false)),
            "./b" => Some(found("/project/b", "/a/b", true)),
            "./npx" => Some(found("/project/npx", "/project/npx", true)),
            "npx" => Some(found("/project/node_modules/.bin/npx", "/project/node_modules/npx/cli.js", true)),
            "/usr/bin/python3" | "/usr/bin/python" => Some(found(name, "/usr/bin/python3.12", false)),
            "/opt/tools/../../tmp/evil" => Some(found("/tmp/evil", "/tmp/evil", false)),
            _ => None,
        }
    }

    fn canonical_path(&self, path: &str) -> Option<String> {
        let stdio =
            StdioConfig { command: String::new(), args: vec![], env: vec![], cwd: None, inherit_env: false };
        self.find_program(path, &stdio).map(|found| found.canonical)
    }
}

fn is_permitted(policy: &Policy, argv: &[&str]) -> bool {
    let (command, args) = argv.split_first().unwrap();
    let stdio = StdioConfig {
        command: (*command).to_owned(),
        args: args.iter().map(|argument| Secret::new((*argument).to_owned())).collect(),
        env: vec![],
        cwd: None,
        inherit_env: false,
    };
    let command = ResolvedCommand::resolve(&stdio, &Files, &policy.denied_paths());
    permits(policy, "s", Scope::User, PolicyTarget::Command { command: &command, env_names: &[] })
}

fn denying(json: &str) -> Policy {
    let mut policy = Policy::default();
    policy.add_deny_list(rules(json));
    policy
}

// P3 B123
#[test]
fn a_denied_program_stays_denied_however_it_is_written() {
    let policy = denying(r#"[{"serverCommand": ["/a/b", "x*"]}]"#);
    for argv in [
        &["/a/b", "x"][..],
        &["/a//b", "x"],
        &["/a/./b", "x"],
        &["/a/c/../b", "x"],
        &["/tmp/link", "x"],
        &["./b", "x"],
        &["b", "xy"],
        &["env", "/a/b", "x"],
        &["/usr/bin/env", "A=1", "/tmp/link", "x"],
        &["sh", "-c", "exec /a/b x"],
    ] {
        assert!(!is_permitted(&policy, argv), "{argv:?}");
    }
    for argv in
        [&["/a/b", "y"][..], &["/a/b"], &["/a/b", "x", "y"], &["/a/other", "x"], &["echo", "/a/b", "x"]]
    {
        assert!(is_permitted(&policy, argv), "{argv:?}");
    }
}

// P3 B123
#[test]
fn a_denied_link_also_denies_the_program_behind_it() {
    let policy = denying(r#"[{"serverCommand": ["/usr/bin/python"]}]"#);
    assert!(!is_permitted(&policy, &["/usr/bin/python3"]));
    let by_name = denying(r#"[{"serverCommand": ["b"]}]"#);
    assert!(!is_permitted(&by_name, &["/tmp/link"]));
    assert!(!is_permitted(&by_name, &["/somewhere/b"]));
}

// P3
#[test]
fn star_allows_no_parent_step_no_white_space_and_no_option() {
    let policy = allowing(
        PolicyOwner::Managed,
        r#"[{"serverCommand": ["/opt/tools/*"]}, {"serverCommand": ["/opt/run", "*"]}, {"serverCommand": ["/opt/run", "--dir=*"]}, {"serverCommand": ["/opt/run", "a b*"]}]"#,
    );
    for argv in [&["/opt/tools/x"][..], &["/opt/run", "x"], &["/opt/run", "--dir=/x"], &["/opt/run", "a bc"]]
    {
        assert!(is_permitted(&policy, argv), "{argv:?}");
    }
    for argv in [
        &["/opt/tools/../../tmp/evil"][..],
        &["/opt/tools/x y"],
        &["/opt/run", "--eval=x"],
        &["/opt/run", "x y"],
        &["/opt/run", "a/../../b"],
        &["/opt/run", "../b"],
        &["/opt/run", "--dir=/x/../y"],
        &["/opt/run", "a b c"],
        &["env", "/opt/tools/x"],
    ] {
        assert!(!is_permitted(&policy, argv), "{argv:?}");
    }
}

// P3
#[test]
fn the_projects_own_program_is_not_permitted_by_a_name() {
    let policy = allowing(
        PolicyOwner::Managed,
        r#"[{"serverCommand": ["npx", "-y", "x"]}, {"serverCommand": ["*"]}]"#,
    );
    assert!(!is_permitted(&policy, &["npx", "-y", "x"]));
    assert!(!is_permitted(&policy, &["./npx"]));
    assert!(is_permitted(&policy, &["b"]));
    let by_path = allowing(
        PolicyOwner::Managed,
        r#"[{"serverCommand": ["/project/node_modules/.bin/npx", "-y", "x"]}]"#,
    );
    assert!(is_permitted(&by_path, &["npx", "-y", "x"]));
}

// B31
#[test]
fn command_that_is_nested_too_deeply_to_be_analyzed_is_denied() {
    let policy = denying(r#"[{"serverCommand": ["evil"]}]"#);
    for depth in [1, 8, 9, 200] {
        let argv = [vec!["env"; depth], vec!["evil"]].concat();
        assert!(!is_permitted(&policy, &argv), "{depth}");
        let argv = [vec!["env"; depth], vec!["good"]].concat();
        assert_eq!(is_permitted(&policy, &argv), depth <= 8, "{depth}");
    }
}
