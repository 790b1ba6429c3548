//! Tests that the fake authorization server is correct without lies.

use crate::auth_flow::{Client, greet, parameter};
use mcparley_testkit::{AuthServer, Browser, STATIC_CLIENT, STATIC_SECRET};
use serde_json::json;

#[test]
fn client_signs_in_starting_from_the_challenge() {
    let server = AuthServer::start(&["scope:mcp:use"]);
    let challenge = greet(&server, "nothing");
    assert_eq!(challenge.status, 401);
    let metadata = format!("http://{}/.well-known/oauth-protected-resource/mcp", server.server().address());
    let expected =
        format!("Bearer error=\"invalid_token\", resource_metadata=\"{metadata}\", scope=\"mcp:use\"");
    assert_eq!(challenge.header("www-authenticate"), Some(expected.as_str()));

    let mut browser = Browser::new();
    let resource = browser.open(&metadata).json();
    assert_eq!(resource, json!({ "resource": server.url(), "authorization_servers": [server.issuer()] }));
    let url = format!("{}/.well-known/oauth-authorization-server", server.issuer());
    let found = browser.open(&url).json();
    assert_eq!(found["issuer"], server.issuer());
    assert_eq!(found["code_challenge_methods_supported"], json!(["S256"]));

    let client = Client::register(&server);
    let tokens = client.sign_in("mcp:use");
    assert_eq!([&tokens["token_type"], &tokens["scope"]], ["Bearer", "mcp:use"]);
    assert_eq!(tokens["expires_in"], 3600);
    assert_eq!(client.greeted(&tokens["access_token"]), 200);
    let stats = server.stats();
    assert_eq!(stats["last"]["authorize"]["resource"], server.url());
    assert_eq!(stats["last"]["token"]["(method)"], "none");
    assert_eq!(
        stats["requests"],
        json!({ "authorize": 1, "metadata": 1, "prm": 1, "register": 1, "token": 1 })
    );
    assert_eq!(stats["refused"], json!({ "unauthorized": 1 }));
}

#[test]
fn redirect_carries_code_state_and_issuer_and_code_is_valid_once() {
    let server = AuthServer::start(&[]);
    let client = Client::register(&server);
    let page = client.authorize("");
    assert_eq!(parameter(&page.url, "state").as_deref(), Some("the%20state"));
    assert!(parameter(&page.url, "iss").unwrap().starts_with("http%3A%2F%2F127.0.0.1"));
    let code = parameter(&page.url, "code").unwrap();
    assert_eq!(client.redeem(&code).status, 200);
    let again = client.redeem(&code);
    assert_eq!((again.status, &again.json()["error"]), (400, &json!("invalid_grant")));
}

// F79
#[test]
fn replayed_refresh_token_revokes_its_family() {
    let server = AuthServer::start(&[]);
    let client = Client::register(&server);
    let first = client.sign_in("");
    let second = client.refresh(&first["refresh_token"]).json();
    assert_ne!(first["refresh_token"], second["refresh_token"]);
    assert_eq!(client.greeted(&second["access_token"]), 200);

    let stranger = client.sign_in("");
    assert_eq!(client.refresh(&first["refresh_token"]).json()["error"], "invalid_grant");
    assert_eq!(client.refresh(&second["refresh_token"]).json()["error"], "invalid_grant");
    assert_eq!(client.greeted(&second["access_token"]), 401);
    assert_eq!(client.greeted(&stranger["access_token"]), 200);
    let stats = server.stats();
    assert_eq!(stats["replays"], 1);
    assert_eq!(stats["errors"], json!({ "invalid_grant": 2 }));
    assert_eq!(stats["grants"], json!({ "authorization_code": 2, "refresh_token": 3 }));
}

#[test]
fn access_tokens_expire_by_time_command_and_revocation() {
    let server = AuthServer::start(&["access-ms:0"]);
    let client = Client::register(&server);
    let tokens = client.sign_in("");
    assert_eq!(client.greeted(&tokens["access_token"]), 401);
    server.apply_lies(&["access-ms:60000"]);
    let tokens = client.refresh(&tokens["refresh_token"]).json();
    assert_eq!((client.greeted(&tokens["access_token"]), &tokens["expires_in"]), (200, &json!(60)));
    server.expire_access_tokens();
    assert_eq!(client.greeted(&tokens["access_token"]), 401);
    let url = format!("{}/revoke", server.issuer());
    let token = tokens["refresh_token"].as_str().unwrap();
    assert_eq!(Browser::new().post_form(&url, &[("token", token), ("client_id", &client.id)]).status, 200);
    assert_eq!(client.refresh(&tokens["refresh_token"]).json()["error"], "invalid_grant");
}

#[test]
fn client_credentials_require_client_authentication() {
    let server = AuthServer::start(&[]);
    let url = format!("{}/token", server.issuer());
    let mut browser = Browser::new();
    let grant = ("grant_type", "client_credentials");
    let mut ask = |more: &[(&str, &str)]| {
        browser.post_form(&url, &[&[grant, ("client_id", STATIC_CLIENT)], more].concat())
    };
    assert_eq!(ask(&[("client_secret", STATIC_SECRET)]).status, 200);
    assert_eq!(ask(&[("client_secret", "another")]).json()["error"], "invalid_client");
    assert_eq!(ask(&[]).json()["error"], "unauthorized_client");
    let header = ("Authorization", "Basic c3RhdGljLWNsaWVudDpjYW5hcnktc2VjcmV0LXN0YXRpYw==");
    let form = ("Content-Type", "application/x-www-form-urlencoded");
    let page = browser.send("POST", &url, &[header, form], "grant_type=client_credentials&scope=a");
    assert_eq!((page.status, page.json().get("refresh_token")), (200, None));
    assert_eq!(server.stats()["last"]["token"]["(method)"], "client_secret_basic");
    // {"alg":"none"}.{"iss":"static-client","sub":"static-client"}.x
    let assertion = "eyJhbGciOiJub25lIn0.eyJpc3MiOiJzdGF0aWMtY2xpZW50Iiwic3ViIjoic3RhdGljLWNsaWVudCJ9.x";
    let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
    let form = [grant, ("client_assertion_type", kind), ("client_assertion", assertion)];
    assert_eq!(browser.post_form(&url, &form).status, 200);
    assert_eq!(server.stats()["last"]["token"]["(method)"], "private_key_jwt");
}

#[test]
fn device_grant_waits_until_its_page_is_fetched() {
    let server = AuthServer::start(&["device-slow:1", "device-pending:100"]);
    let client = Client::register(&server);
    let url = format!("{}/device_authorization", server.issuer());
    let begun = Browser::new().post_form(&url, &[("client_id", &client.id), ("scope", "a")]).json();
    let poll = || {
        let grant = ("grant_type", "urn:ietf:params:oauth:grant-type:device_code");
        client.token(&[grant, ("device_code", begun["device_code"].as_str().unwrap())]).json()
    };
    assert_eq!(poll()["error"], "slow_down");
    assert_eq!(poll()["error"], "authorization_pending");
    Browser::new().open(begun["verification_uri_complete"].as_str().unwrap());
    assert_eq!(client.greeted(&poll()["access_token"]), 200);
    assert_eq!(poll()["error"], "invalid_grant");
}

#[test]
fn id_token_is_exchanged_for_id_jag_and_access_token() {
    let server = AuthServer::start(&[]);
    let client = Client::register(&server);
    let id_token = client.sign_in("openid")["id_token"].as_str().unwrap().to_owned();
    let exchanged = client.token(&[
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("subject_token", &id_token),
        ("subject_token_type", "urn:ietf:params:oauth:token-type:id_token"),
        ("requested_token_type", "urn:ietf:params:oauth:token-type:id-jag"),
        ("audience", server.issuer()),
        ("resource", server.url()),
    ]);
    let page = exchanged.json();
    assert_eq!(page["issued_token_type"], "urn:ietf:params:oauth:token-type:id-jag");
    let form = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
        ("assertion", page["access_token"].as_str().unwrap()),
        ("client_id", STATIC_CLIENT),
        ("client_secret", STATIC_SECRET),
    ];
    let tokens = Browser::new().post_form(&format!("{}/token", server.issuer()), &form).json();
    assert_eq!(client.greeted(&tokens["access_token"]), 200);
}
