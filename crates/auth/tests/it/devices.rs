//! Sign-in on another device over a real connection.

use std::time::SystemTime;

use mcparley_auth::client::ClientAuthMethod;
use mcparley_auth::device::{DeviceError, DeviceRequest, start_device_sign_in, wait_for_device};
use mcparley_auth::dpop::{Possession, Prover};
use mcparley_auth::grant::TokenRequestKeys;
use mcparley_auth::metadata::AuthServerMetadata;
use serde_json::json;

use crate::counter::{Answer, Counter, client, secret};

fn begun() -> Answer {
    Answer::json(
        200,
        &json!({
            "device_code": "canary-device", "user_code": "WDJB-MJHT", "expires_in": 60, "interval": 1,
            "verification_uri": "https://as.example/device",
            "verification_uri_complete": "https://as.example/device?user_code=WDJB-MJHT",
        }),
    )
}

// A8
#[tokio::test]
async fn a_person_signs_in_on_another_device() {
    let pending = Answer::json(400, &json!({"error": "authorization_pending"}));
    let given = Answer::json(200, &json!({"access_token": "at", "token_type": "Bearer"}));
    let counter = Counter::open(vec![begun(), pending, given]);
    let (server, client, web, scopes) =
        (counter.server(), client(ClientAuthMethod::Nothing), counter.web(), ["read".to_owned()]);
    let prover = Prover::generate().unwrap();
    let keys = TokenRequestKeys { possession: Possession::Offered(&prover), ..TokenRequestKeys::default() };
    let resource = Some("https://mcp.example/mcp");
    let request = DeviceRequest { server: &server, client: &client, resource, scopes: &scopes, keys: &keys };
    let started = start_device_sign_in(&web, &request, SystemTime::now()).await.unwrap();
    assert_eq!(started.user_code.raw(), "WDJB-MJHT");
    assert_eq!(started.page.as_str(), "https://as.example/device");
    let granted = wait_for_device(&web, &request, &started, SystemTime::now).await.unwrap();
    assert_eq!(granted.tokens.access, secret("at"));
    let requests = counter.requests();
    assert_eq!(requests[0].line, "POST /device HTTP/1.1");
    assert_eq!(requests[0].header("dpop"), None);
    requests[0].assert_form(&[
        ("scope", "read"),
        ("resource", "https://mcp.example/mcp"),
        ("client_id", "client"),
    ]);
    assert_eq!(requests.len(), 3, "begun, asked too early, given");
    for polled in &requests[1..] {
        assert_eq!(polled.line, "POST /token HTTP/1.1");
        assert!(polled.header("dpop").is_some());
        polled.assert_form(&[
            ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
            ("device_code", "canary-device"),
            ("resource", "https://mcp.example/mcp"),
            ("client_id", "client"),
        ]);
    }
}

// A8
#[tokio::test]
async fn server_without_device_sign_in_is_not_asked() {
    let counter = Counter::open(vec![]);
    let server = AuthServerMetadata { device_endpoint: None, ..counter.server() };
    let (client, keys) = (client(ClientAuthMethod::Nothing), TokenRequestKeys::default());
    let request =
        DeviceRequest { server: &server, client: &client, resource: None, scopes: &[], keys: &keys };
    let error = start_device_sign_in(&counter.web(), &request, SystemTime::now()).await.unwrap_err();
    assert!(matches!(error, DeviceError::Unsupported));
    counter.requests();
}
