//! The runs of the command, and its environment.
#![expect(clippy::disallowed_methods, reason = "tests read what the command wrote")]

use std::fs;

use super::*;

/// Counts its runs in a file, and prints the number as a token.
const COUNTING: &str = r#"echo run >> runs; printf '{"Authorization": "Bearer %d"}' "$(wc -l < runs)""#;

fn runs(folder: &Path) -> usize {
    fs::read_to_string(folder.join("runs")).unwrap_or_default().lines().count()
}

// A7
#[tokio::test]
async fn command_gets_server_name_url_and_folder_and_no_other_variables() {
    let folder = tempfile::tempdir().unwrap();
    let command = r#"printf '{"X-Name": "%s", "X-Url": "%s", "X-Own": "%s %s", "X-Env": "%s"}' \
        "$CLAUDE_CODE_MCP_SERVER_NAME" "$CLAUDE_CODE_MCP_SERVER_URL" "$MCPARLEY_SERVER_NAME" "$MCPARLEY_SERVER_URL" \
        "$(env | grep -v '^_=' | cut -d= -f1 | sort | tr '\n' ' ')"; pwd -P > here; cat"#;
    let helper = HeadersHelper::new(settings(folder.path(), command));
    let sent = credentials(&helper).await;
    let expected = [
        ("X-Name", "my server"),
        ("X-Url", "https://mcp.example/mcp?key=value"),
        ("X-Own", "my server https://mcp.example/mcp?key=value"),
        (
            "X-Env",
            "CLAUDE_CODE_MCP_SERVER_NAME CLAUDE_CODE_MCP_SERVER_URL MCPARLEY_SERVER_NAME MCPARLEY_SERVER_URL PATH PWD",
        ),
    ];
    assert_eq!(opened(&sent), expected);
    let here = fs::read_to_string(folder.path().join("here")).unwrap();
    assert_eq!(Path::new(here.trim()), folder.path().canonicalize().unwrap());
    assert!(helper.last_error().is_none());
}

// A7
#[tokio::test]
async fn command_runs_once_before_the_first_request() {
    let folder = tempfile::tempdir().unwrap();
    let helper = HeadersHelper::new(settings(folder.path(), COUNTING));
    assert_eq!(runs(folder.path()), 0);
    let (one, two, three) = tokio::join!(credentials(&helper), credentials(&helper), credentials(&helper));
    assert_eq!(opened(&one), [("Authorization", "Bearer 1")]);
    assert_eq!((&one, &one), (&two, &three));
    assert_eq!(credentials(&helper).await, one);
    assert_eq!(runs(folder.path()), 1);
}

// A7 K4
#[tokio::test]
async fn ten_refused_requests_cause_one_more_run() {
    let folder = tempfile::tempdir().unwrap();
    let helper = HeadersHelper::new(settings(folder.path(), COUNTING));
    let sent = credentials(&helper).await;
    let helper = std::sync::Arc::new(helper);
    let mut callers = tokio::task::JoinSet::new();
    for _ in 0..10 {
        let (helper, sent) = (std::sync::Arc::clone(&helper), sent.clone());
        callers.spawn(async move { refused(&helper, &sent, ChallengeKind::SignIn).await });
    }
    assert_eq!(callers.join_all().await, [true; 10]);
    assert_eq!(opened(&credentials(&helper).await), [("Authorization", "Bearer 2")]);
    // A late request was refused with headers that are no longer sent.
    assert!(refused(&helper, &sent, ChallengeKind::SignIn).await);
    assert_eq!(runs(folder.path()), 2);
}

// A7
#[tokio::test]
async fn same_headers_are_not_retried_and_missing_scopes_do_not_run_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let command = r#"echo run >> runs; echo '{"Authorization": "Bearer same"}'"#;
    let helper = HeadersHelper::new(settings(folder.path(), command));
    let sent = credentials(&helper).await;
    assert!(!refused(&helper, &sent, ChallengeKind::MoreRights).await);
    assert_eq!(runs(folder.path()), 1);
    assert!(!refused(&helper, &sent, ChallengeKind::SignIn).await);
    // Another request that was refused with the same headers does not cause a third run.
    assert!(!refused(&helper, &sent, ChallengeKind::SignIn).await);
    assert_eq!(runs(folder.path()), 2);
}

// A7
#[tokio::test]
async fn a_command_that_failed_is_tried_again_when_the_server_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let command = r#"[ -e ready ] || { echo 'not ready' >&2; exit 1; }; echo '{"K": "v"}'"#;
    let helper = HeadersHelper::new(settings(folder.path(), command));
    let sent = credentials(&helper).await;
    assert_eq!(opened(&sent), []);
    assert!(!refused(&helper, &sent, ChallengeKind::SignIn).await);
    assert!(helper.last_error().unwrap().to_string().ends_with("exited with code 1: not ready"));
    fs::write(folder.path().join("ready"), "").unwrap();
    let sent = credentials(&helper).await;
    assert!(refused(&helper, &sent, ChallengeKind::SignIn).await);
    assert_eq!(opened(&credentials(&helper).await), [("K", "v")]);
    assert!(helper.last_error().is_none());
}

// A7
#[tokio::test]
async fn canceled_request_does_not_end_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let command = r#"echo run >> runs; while [ ! -e go ]; do sleep 0.01; done; echo '{"K": "v"}'"#;
    let helper = HeadersHelper::new(settings(folder.path(), command));
    for _ in 0..3 {
        let given_up = tokio::time::timeout(Duration::from_millis(5), credentials(&helper)).await;
        assert!(given_up.is_err());
    }
    fs::write(folder.path().join("go"), "").unwrap();
    assert_eq!(opened(&credentials(&helper).await), [("K", "v")]);
    assert_eq!(runs(folder.path()), 1);
}

// A7
#[tokio::test]
async fn transport_headers_are_ignored_and_listed() {
    let folder = tempfile::tempdir().unwrap();
    let command = r#"printf '%s' '{"Host": "evil", "Mcp-Session-Id": "1", "accept-encoding": "gzip", "Mcp-Param-X": "1",
        "Sec-WebSocket-Key": "k", "X-Own": " v\n", "Authorization": "Bearer t"}'"#;
    let helper = HeadersHelper::new(settings(folder.path(), command));
    let sent = credentials(&helper).await;
    assert_eq!(opened(&sent), [("X-Own", "v"), ("Authorization", "Bearer t")]);
    assert_eq!(
        helper.ignored_headers(),
        ["Host", "Mcp-Session-Id", "accept-encoding", "Mcp-Param-X", "Sec-WebSocket-Key"]
    );
}
