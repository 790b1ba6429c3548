//! Commands that fail: requests continue without their headers, and the error is kept.

use std::time::Instant;

use mcparley_model::explain::Explain as _;

use super::*;

async fn told(command: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let error = trouble(settings(folder.path(), command)).await.to_string();
    error.strip_prefix("the `headersHelper` command ").unwrap_or(&error).to_owned()
}

// A7
#[tokio::test]
async fn invalid_output_is_reported_by_its_kind() {
    let table = [
        ("", "did not print a JSON object"),
        ("echo nonsense", "did not print a JSON object"),
        ("echo '[]'", "did not print a JSON object"),
        ("echo '{\"A\": \"b\"} and more'", "did not print a JSON object"),
        ("printf '\\377\\376'", "did not print a JSON object"),
        ("echo '{\"A\": 1}'", "printed a value for `A` that is not a string"),
        ("echo '{\"A\": null}'", "printed a value for `A` that is not a string"),
        ("echo '{\"A\": [\"b\"]}'", "printed a value for `A` that is not a string"),
        ("echo '{\"A: b\": \"c\"}'", "printed a header `A: b` that cannot be sent"),
        ("echo '{\"\": \"c\"}'", "printed a header `` that cannot be sent"),
        ("echo '{\"A\": \"b\", \"a\": \"c\"}'", "printed the header `a` twice"),
        ("exit 3", "exited with code 3"),
        ("echo '{\"A\": \"b\"}'; exit 1", "exited with code 1"),
        ("kill -9 $$", "was killed by signal 9"),
        ("no-such-command-here", "exited with code 127: "),
    ];
    for (command, expected) in table {
        let told = told(command).await;
        assert!(
            told == expected || expected.ends_with(": ") && told.starts_with(expected),
            "{command}: {told}"
        );
    }
}

// A7
#[tokio::test]
async fn a_value_that_would_become_two_headers_is_refused() {
    for value in ["a\\r\\nEvil: b", "a\\nb", "a\\u0000b", "a\\u001bb", "\u{e4}"] {
        let told = told(&format!("printf '%s' '{{\"A\": \"{value}\"}}'")).await;
        assert_eq!(told, "printed a header `A` that cannot be sent", "{value}");
    }
}

// A7
#[tokio::test]
async fn slow_command_is_killed_with_its_children() {
    let folder = tempfile::tempdir().unwrap();
    // A name for its child that no other process has.
    let tag = format!("helper-{}", std::process::id());
    let command = format!("echo waiting >&2; TAG={tag} sleep 1000 & TAG={tag} sleep 1000");
    let limit = Duration::from_millis(500);
    let start = Instant::now();
    let error = trouble(HelperSettings { limit, ..settings(folder.path(), &command) }).await;
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_eq!(error.to_string(), "the `headersHelper` command did not finish within 500ms: waiting");
    assert!(error.hint().is_some());
    let deadline = Instant::now() + LONG;
    while !mcparley_testkit::processes_with_variable("TAG", &tag).is_empty() {
        assert!(Instant::now() < deadline, "it is still there");
        tokio::task::yield_now().await;
    }
}

// A7
#[tokio::test]
async fn background_child_of_a_command_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let command = r#"sleep 1000 & echo '{"K": "v"}'"#;
    let helper = HeadersHelper::new(settings(folder.path(), command));
    assert_eq!(opened(&credentials(&helper).await), [("K", "v")]);
}

// A7
#[tokio::test]
async fn too_much_stdout_ends_the_command_and_much_stderr_does_not() {
    assert_eq!(told("yes").await, "printed more than 65536 bytes");
    let told = told("yes x | head -c 1000000 >&2; echo why >&2; exit 1").await;
    assert!(told.len() < 5000 && told.ends_with("why"), "{} bytes", told.len());
}

// A7
#[tokio::test]
async fn command_that_cannot_start_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let lost = folder.path().join("lost");
    let error = trouble(settings(&lost, "true")).await;
    assert_eq!(error.to_string(), "cannot start the `headersHelper` command");
    assert!(error.hint().unwrap().contains("lost"));
}

// B62
#[tokio::test]
async fn output_and_keys_of_the_command_are_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    let commands = [
        r#"echo '{"Authorization": "Bearer output-canary"}'; exit 1"#,
        r#"echo '{"Authorization": "Bearer output-canary"}' | tee /dev/stderr; exit 1"#,
        r#"echo 'token=output-canary'; echo 'got output-canary' >&2; exit 1"#,
        r#"echo 'output-canary'"#,
        r#"echo '{"Authorization": "Bearer output-canary\n1"}'"#,
        r#"echo '{"Authorization": {"a": "output-canary"}}'"#,
        r#"echo 'output-canary-0123456789'; yes 'output-canary-0123456789' | tr -d '\n' | head -c 5000 >&2; exit 1"#,
        r#"echo 'output-canary-0123456789'; yes 'output-canary-0123456789' | head -c 5000 >&2; exit 1"#,
        r#"set -x; : --key=canary0123456789abc; exit 1"#,
    ];
    for command in commands {
        let settings = settings(folder.path(), command);
        let helper = HeadersHelper::new(settings.clone());
        credentials(&helper).await;
        let error = helper.last_error().unwrap();
        let printed = format!("{settings:?} {helper:?} {error:?} {error} {:?}", error.hint());
        assert!(!printed.contains("canary"), "{command}: {printed}");
    }
    let good = HeadersHelper::new(settings(folder.path(), r#"echo '{"A": "output-canary"}'"#));
    let sent = credentials(&good).await;
    assert_eq!(opened(&sent), [("A", "output-canary")]);
    assert!(!format!("{good:?} {sent:?}").contains("canary"));
}
