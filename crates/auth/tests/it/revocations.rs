//! Tokens are revoked as far as the server supports it.

use std::time::SystemTime;

use mcparley_auth::client::ClientAuthMethod;
use mcparley_auth::metadata::AuthServerMetadata;
use mcparley_auth::revoke::{RevocationOutcome, RevocationReport, RevocationRequest, revoke_tokens};
use mcparley_auth::tokens::{Kind, Tokens};
use serde_json::json;

use crate::counter::{Answer, Counter, client, secret};

fn tokens(refresh: Option<&str>) -> Tokens {
    Tokens {
        access: secret("canary-access"),
        kind: Kind::Bearer,
        refresh: refresh.map(secret),
        given: std::time::SystemTime::UNIX_EPOCH,
        expires: None,
        scopes: Vec::new(),
    }
}

async fn revoked(counter: &Counter, server: &AuthServerMetadata, tokens: &Tokens) -> RevocationReport {
    let client = client(ClientAuthMethod::Post);
    let revoking = RevocationRequest { server, client: &client, signing: None };
    revoke_tokens(&counter.web(), &revoking, tokens, SystemTime::now()).await
}

// A3
#[tokio::test]
async fn refresh_token_is_revoked_before_the_access_token() {
    let counter = Counter::open(vec![Answer::new(200, ""), Answer::new(200, "{}")]);
    let revoked = revoked(&counter, &counter.server(), &tokens(Some("canary-refresh"))).await;
    assert!(matches!(
        revoked,
        RevocationReport { refresh: RevocationOutcome::Done, access: RevocationOutcome::Done }
    ));
    assert!(!revoked.is_incomplete());
    let requests = counter.requests();
    for (request, token, hint) in
        [(&requests[0], "canary-refresh", "refresh_token"), (&requests[1], "canary-access", "access_token")]
    {
        assert_eq!(request.line, "POST /revoke HTTP/1.1");
        request.assert_form(&[
            ("token", token),
            ("token_type_hint", hint),
            ("client_id", "client"),
            ("client_secret", "canary-secret"),
        ]);
    }
}

// A3 B62
#[tokio::test]
async fn failed_revocation_of_one_token_does_not_stop_the_other() {
    let refused = json!({"error": "invalid_request", "error_description": "canary-refresh"});
    let unsupported = json!({"error": "unsupported_token_type"});
    let counter = Counter::open(vec![Answer::json(400, &refused), Answer::json(400, &unsupported)]);
    let revoked = revoked(&counter, &counter.server(), &tokens(Some("canary-refresh"))).await;
    assert!(matches!(
        revoked,
        RevocationReport { refresh: RevocationOutcome::Failed(_), access: RevocationOutcome::Unsupported }
    ));
    assert!(revoked.is_incomplete());
    assert!(!format!("{revoked:?}").contains("canary"));
    counter.requests();
}

// A3
#[tokio::test]
async fn server_without_revocation_endpoint_is_not_asked() {
    let counter = Counter::open(vec![]);
    let server = AuthServerMetadata { revocation_endpoint: None, ..counter.server() };
    let revoked = revoked(&counter, &server, &tokens(None)).await;
    assert!(matches!(
        revoked,
        RevocationReport { refresh: RevocationOutcome::Absent, access: RevocationOutcome::Unsupported }
    ));
    counter.requests();
}

// A3
#[tokio::test]
async fn error_response_is_not_taken_for_a_revocation() {
    for answer in [
        Answer::new(503, ""),
        Answer::new(302, ""),
        Answer::new(200, r#"{"error": "x"}"#),
        Answer::new(404, ""),
    ] {
        let counter = Counter::open(vec![answer]);
        let revoked = revoked(&counter, &counter.server(), &tokens(None)).await;
        assert!(matches!(revoked.access, RevocationOutcome::Failed(_)), "{revoked:?}");
        counter.requests();
    }
}
