//! A registration over a real connection.

use mcparley_auth::client::Proof;
use mcparley_auth::grant::ErrorCode;
use mcparley_auth::register::{RegisterError, Registration, register};
use mcparley_model::explain::Explain as _;
use serde_json::{Value, json};
use url::Url;

use crate::counter::{Answer, Counter};

const REGISTRATION: Registration<'static> =
    Registration { name: "files", redirect: None, scopes: &[], device: false };

// A1 B62
#[tokio::test]
async fn a_program_registers_itself_and_uses_what_it_was_given() {
    let answer = json!({
        "client_id": "given", "client_secret": "canary-secret", "token_endpoint_auth_method": "client_secret_post",
    });
    let counter = Counter::open(vec![Answer::json(201, &answer)]);
    let redirect = Url::parse("http://127.0.0.1:7777/callback").unwrap();
    let registration = Registration { redirect: Some(&redirect), ..REGISTRATION };
    let registered = register(&counter.web(), &counter.server(), &registration).await.unwrap();
    assert_eq!((registered.client.id.as_str(), registered.client.proof), ("given", Proof::Post));
    assert_eq!(registered.client.redirect, Some(redirect));
    assert!(!format!("{registered:?}").contains("canary"));
    let request = counter.request();
    assert_eq!(request.line, "POST /register HTTP/1.1");
    assert_eq!(request.header("content-type"), Some("application/json"));
    let body: Value = serde_json::from_str(&request.body).unwrap();
    assert_eq!(body["application_type"], "native");
    assert_eq!(body["redirect_uris"], json!(["http://127.0.0.1:7777/callback"]));
}

// A1
#[tokio::test]
async fn a_registration_that_is_refused_says_why_and_what_to_do() {
    let refused = json!({"error": "invalid_redirect_uri", "error_description": "no loopback here"});
    let counter = Counter::open(vec![
        Answer::json(400, &refused),
        Answer::new(403, "<html>"),
        Answer::new(200, "{}"),
        Answer::new(503, ""),
    ]);
    let mut hints = Vec::new();
    for wanted in [Some(ErrorCode::InvalidRedirect), Some(ErrorCode::Unsaid), None, None] {
        let error = register(&counter.web(), &counter.server(), &REGISTRATION).await.unwrap_err();
        hints.push(error.hint().unwrap());
        let RegisterError::Asked(error) = error else { panic!("{error:?}") };
        assert_eq!(error.code(), wanted.as_ref());
    }
    assert!(hints[..3].iter().all(|hint| hint.contains("`oauth.clientId`")), "{hints:?}");
    assert_eq!(hints[3], "try again later");
    counter.requests();
}
