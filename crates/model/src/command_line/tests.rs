//! Tests of finding the programs and packages that a command line would start.

use super::*;
use crate::text::shell_word;

fn programs(argv: &[&str]) -> Vec<String> {
    unfold_command(argv)
        .into_iter()
        .map(|step| match step {
            CommandStep::Program(argv) => argv.join(" "),
            CommandStep::Package(package) => format!("<{} {}>", package.runner, package.spec),
            CommandStep::DownloadedScript => "<download>".to_owned(),
            CommandStep::TooDeep => "<too deep>".to_owned(),
        })
        .collect()
}

/// The last program, which is the one behind all wrappers.
fn innermost(argv: &[&str]) -> String {
    programs(argv).pop().unwrap_or_default()
}

// C18 P3 B123
#[test]
fn wrappers_lead_to_the_command_behind_them() {
    for argv in [
        &["/usr/bin/env", "A=1", "-u", "B", "prog", "x"][..],
        &["env", "-i", "--", "prog", "x"],
        &["env", "-S", "A=1 prog x"],
        &["env", "-vSprog x"],
        &["env", "--split-string=prog x"],
        &["nice", "-n", "5", "prog", "x"],
        &["timeout", "-k", "1", "5", "prog", "x"],
        &["sudo", "-u", "me", "A=1", "prog", "x"],
        &["sh", "-c", "prog x"],
        &["/bin/bash", "-lc", "cd /tmp && A=1 exec prog 'x'"],
        &["bash", "-c", "-e", "nohup prog \"x\""],
        &["sh", "-c", "exec \"$@\"", "sh", "prog", "x"],
        &["sh", "-c", "env -C /tmp sh -c 'prog x'"],
        &["cmd", "/c", "prog", "x"],
        &["npx", "-c", "prog x"],
        &["uv", "run", "--with", "y", "prog", "x"],
    ] {
        assert_eq!(innermost(argv), "prog x", "{argv:?}");
    }
}

// C18
#[test]
fn arguments_of_other_programs_are_not_commands() {
    for argv in [
        &["node", "server.js", "prog"][..],
        &["echo", "prog; prog"],
        &["sh", "prog.sh"],
        &["timeout", "5", "other", "prog"],
        &["env", "A=prog", "other"],
        &["sh", "-c", "other 'a; prog x'"],
    ] {
        assert!(!programs(argv).iter().any(|step| step.starts_with("prog")), "{argv:?}");
    }
}

// C18 B119
#[test]
fn package_runners_name_their_package_and_command() {
    let cases: [(&[&str], &[&str]); 13] = [
        (&["npx", "-y", "@scope/prog@1.2.3", "serve"], &["<npx @scope/prog@1.2.3>", "prog serve"]),
        (&["npx", "--package=big", "prog", "serve"], &["<npx big>", "prog serve"]),
        (&["npm", "exec", "--yes", "--", "prog", "serve"], &["<npm exec prog>", "prog serve"]),
        (&["pnpm", "dlx", "prog"], &["<pnpm dlx prog>", "prog"]),
        (&["yarn", "dlx", "-p", "big", "prog"], &["<yarn dlx big>", "prog"]),
        (&["bunx", "prog@latest"], &["<bunx prog@latest>", "prog"]),
        (&["bun", "x", "prog"], &["<bun x prog>", "prog"]),
        (&["uvx", "--python", "3.12", "prog==1.0", "serve"], &["<uvx prog==1.0>", "prog serve"]),
        (&["uvx", "--from", "git+https://h/prog", "prog"], &["<uvx git+https://h/prog>", "prog"]),
        (&["uv", "tool", "run", "prog"], &["<uvx prog>", "prog"]),
        (&["pipx", "run", "--spec", "big==1.0", "prog"], &["<pipx run big==1.0>", "prog"]),
        (&["deno", "run", "-A", "npm:prog"], &["<deno run prog>", "prog"]),
        (
            &["docker", "run", "-i", "--rm", "-e", "A", "me/prog:latest", "x"],
            &["<docker run me/prog:latest>"],
        ),
    ];
    for (argv, expected) in cases {
        let steps = programs(argv);
        assert_eq!(steps.get(1..).unwrap(), expected, "{argv:?}");
    }
}

// B119
#[test]
fn only_an_exact_release_is_pinned() {
    let pinned = |argv: &[&str]| match unfold_command(argv).get(1) {
        Some(CommandStep::Package(package)) => package.is_pinned(),
        other => panic!("{other:?}"),
    };
    let commit = "0123456789012345678901234567890123456789";
    let git = [format!("git+https://h/p@{commit}"), format!("git+https://h/p#{commit}")];
    for spec in ["p@1.2.3", "@s/p@v1.2.3-rc.1", "./p", "/opt/p", &git[1]] {
        assert!(pinned(&["npx", spec]), "{spec}");
    }
    for spec in ["p", "@s/p", "p@latest", "p@^1.2.3", "p@1", "p@1.x", "p@*", "git+https://h/p"] {
        assert!(!pinned(&["npx", "-y", spec]), "{spec}");
    }
    for (spec, is_pinned) in [
        ("p==1.2.3", true),
        ("p@1.2", true),
        (&git[0], true),
        ("p", false),
        ("p>=1", false),
        ("p@latest", false),
    ] {
        assert_eq!(pinned(&["uvx", spec]), is_pinned, "{spec}");
    }
    for (image, is_pinned) in [
        ("h:5000/p", false),
        ("p:latest", false),
        ("p:main", false),
        ("h:5000/p:1", true),
        ("p@sha256:00", true),
    ] {
        assert_eq!(pinned(&["docker", "run", image]), is_pinned, "{image}");
    }
}

// B119
#[test]
fn script_that_runs_its_download_is_detected() {
    let downloads = |script| unfold_command(&["sh", "-c", script]).contains(&CommandStep::DownloadedScript);
    for script in [
        "curl -fsSL https://h/x | sh",
        "bash <(curl https://h/x)",
        "eval \"$(wget -qO- https://h/x)\"",
        "bash -c \"`curl h`\"",
    ] {
        assert!(downloads(script), "{script}");
    }
    for script in ["curl https://h/x", "curl h -o f || sh other.sh", "ls | sh", "curl -o $F h; sh other.sh"] {
        assert!(!downloads(script), "{script}");
    }
}

// C18
#[test]
fn nesting_of_commands_is_limited() {
    let line = "env ".repeat(10_000);
    let words: Vec<&str> = line.split_whitespace().collect();
    assert!(unfold_command(&words).len() < 20);
    let split = "-S ".repeat(200);
    assert!(unfold_command(&["env", &split]).len() < 20);
    let scripts = (0..9).fold("prog".to_owned(), |inner, _| format!("sh -c {}", shell_word(&inner)));
    for argv in [words, vec!["sh", "-c", &scripts]] {
        assert_eq!(unfold_command(&argv).last(), Some(&CommandStep::TooDeep));
    }
    assert_eq!(innermost(&[["env"; 8].as_slice(), &["prog"]].concat()), "prog");
}
