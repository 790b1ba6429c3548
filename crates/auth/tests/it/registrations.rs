//! Client registration over a real connection.

use mcparley_auth::client::ClientAuthMethod;
use mcparley_auth::grant::OAuthErrorCode;
use mcparley_auth::register::{RegisterError, RegistrationRequest, register_client};
use mcparley_model::explain::Explain as _;
use serde_json::{Value, json};
use url::Url;

use crate::counter::{Answer, Counter};

const REGISTRATION: RegistrationRequest<'static> =
    RegistrationRequest { name: "files", redirect: None, scopes: &[], device: false };

// A1 B62
#[tokio::test]
async fn client_registers_and_uses_its_registration() {
    let answer = json!({
        "client_id": "given", "client_secret": "canary-secret", "token_endpoint_auth_method": "client_secret_post",
    });
    let counter = Counter::open(vec![Answer::json(201, &answer)]);
    let redirect = Url::parse("http://127.0.0.1:7777/callback").unwrap();
    let registration = RegistrationRequest { redirect: Some(&redirect), ..REGISTRATION };
    let registered = register_client(&counter.web(), &counter.server(), &registration).await.unwrap();
    assert_eq!((registered.client.id.as_str(), registered.client.proof), ("given", ClientAuthMethod::Post));
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
async fn refused_registration_has_a_reason_and_a_hint() {
    let refused = json!({"error": "invalid_redirect_uri", "error_description": "no loopback here"});
    let counter = Counter::open(vec![
        Answer::json(400, &refused),
        Answer::new(403, "<html>"),
        Answer::new(200, "{}"),
        Answer::new(503, ""),
    ]);
    let mut hints = Vec::new();
    for wanted in [Some(OAuthErrorCode::InvalidRedirect), Some(OAuthErrorCode::Missing), None, None] {
        let error = register_client(&counter.web(), &counter.server(), &REGISTRATION).await.unwrap_err();
        hints.push(error.hint().unwrap());
        let RegisterError::Failed(error) = error else { panic!("{error:?}") };
        assert_eq!(error.code(), wanted.as_ref());
    }
    assert!(hints[..3].iter().all(|hint| hint.contains("`oauth.clientId`")), "{hints:?}");
    assert_eq!(hints[3], "try again later");
    counter.requests();
}
