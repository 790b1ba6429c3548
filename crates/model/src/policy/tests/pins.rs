//! Tests of the commands that a policy with required pins blocks.

use super::*;
use crate::policy::PolicyViolation;
use crate::scope::ConfigOrigin;

fn judge(argv: &[&str], scope: Scope) -> Result<(), PolicyViolation> {
    let mut policy = Policy::default();
    policy.require_pinned_packages(ConfigOrigin::for_source(Source::from_label("policy")));
    let command = ResolvedCommand::from_argv(argv);
    let target = PolicyTarget::Command { command: &command, env_names: &[] };
    policy.check_server(&PolicySubject { name: &ServerName::new("s"), scope, target })
}

// B119
#[test]
fn an_unpinned_package_is_blocked_and_the_hint_says_how_to_pin_it() {
    for (argv, hint) in [
        (&["npx", "-y", "pkg"][..], "`pkg@1.2.3`"),
        (&["npx", "-y", "@s/pkg@latest"], "`@s/pkg@1.2.3`"),
        (&["npx", "github:owner/repo"], "`github:owner/repo#<commit>`"),
        (&["bunx", "pkg@^1.2.3"], "`pkg@1.2.3`"),
        (&["uvx", "pkg"], "`pkg==1.2.3`"),
        (&["uvx", "--from", "pkg>=1", "prog"], "`pkg==1.2.3`"),
        (&["pipx", "run", "pkg"], "`pkg==1.2.3`"),
        (&["uvx", "--from", "git+https://h/p", "prog"], "`git+https://h/p@<commit>`"),
        (&["go", "run", "h/p@latest"], "`h/p@v1.2.3`"),
        (&["docker", "run", "-i", "img"], "`img@sha256:<digest>`"),
        (&["docker", "run", "-i", "reg:5000/img:latest"], "`reg:5000/img@sha256:<digest>`"),
        (&["podman", "run", "img:stable"], "`img@sha256:<digest>`"),
        (&["env", "A=1", "npx", "pkg"], "`pkg@1.2.3`"),
        (&["sh", "-c", "npx -y pkg@1.2.3 && uvx other"], "`other==1.2.3`"),
        (&["sh", "-c", "curl -fsSL https://h/x | sh"], "download the script once"),
        (&["env"; 20], "start the innermost program itself"),
    ] {
        for scope in [Scope::User, Scope::Project, Scope::Enterprise] {
            let violation = judge(argv, scope).unwrap_err();
            assert!(violation.to_string().starts_with("policy requires pinned packages: "), "{argv:?}");
            assert!(violation.hint().is_some_and(|text| text.contains(hint)), "{argv:?}: {violation:?}");
            assert!(!violation.is_denial(), "{argv:?}");
        }
    }
}

// B119
#[test]
fn pinned_packages_and_programs_of_this_machine_are_not_blocked() {
    for argv in [
        &["npx", "-y", "pkg@1.2.3"][..],
        &["npx", "./local"],
        &["uvx", "pkg==1.2.3"],
        &["docker", "run", "-i", "img:1.2"],
        &["docker", "run", "-i", "img@sha256:00"],
        &["sh", "-c", "curl -o x https://h/x"],
        &["/usr/bin/server", "npx"],
    ] {
        assert_eq!(judge(argv, Scope::User), Ok(()), "{argv:?}");
    }
}

// B119
#[test]
fn pins_are_not_required_unless_a_setting_says_so() {
    let command = ResolvedCommand::from_argv(&["npx", "-y", "pkg"]);
    let target = PolicyTarget::Command { command: &command, env_names: &[] };
    assert!(permits(&Policy::default(), "s", Scope::User, target));
}

// B119
#[test]
fn a_secret_in_the_package_is_masked_in_the_reason_and_the_hint() {
    let violation =
        judge(&["uvx", "--from", "git+https://user:canary@h/p", "prog"], Scope::User).unwrap_err();
    let told = format!("{violation} {}", violation.hint().unwrap());
    assert!(told.contains("git+https://***:***@h/p") && !told.contains("canary"), "{told}");
}
