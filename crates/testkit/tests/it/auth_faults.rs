//! Tests that each lie of the fake authorization server takes effect; without them, tests that use it would
//! prove nothing.

use crate::auth_flow::{Client, greet, parameter};
use crate::http_client::{post, request};
use crate::stdio_client::initialize;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use mcparley_testkit::{AuthServer, Browser, STATIC_CLIENT, STATIC_SECRET};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

fn metadata(server: &AuthServer) -> Value {
    Browser::new().open(&format!("{}/.well-known/oauth-authorization-server", server.issuer())).json()
}

// B72 B75
#[test]
fn metadata_lies_change_issuer_and_pkce() {
    let server = AuthServer::start(&[]);
    let issuer = server.issuer();
    for (lie, expected) in [
        ("issuer:slash", json!(format!("{issuer}/"))),
        ("issuer:case", json!(issuer.replacen("http", "HTTP", 1))),
        ("issuer:host", json!(issuer.replacen("127.0.0.1", "127.0.0.2", 1))),
        ("issuer:absent", Value::Null),
    ] {
        server.apply_lies(&[lie]);
        assert_eq!(metadata(&server)["issuer"], expected, "{lie}");
    }
    server.apply_lies(&["pkce:plain"]);
    assert_eq!(metadata(&server)["code_challenge_methods_supported"], json!(["plain"]));
    server.apply_lies(&["pkce:absent", "register:absent", "token-url:http://169.254.169.254/"]);
    let page = metadata(&server);
    assert_eq!(page.get("code_challenge_methods_supported"), None);
    assert_eq!(page.get("registration_endpoint"), None);
    assert_eq!(page["token_endpoint"], "http://169.254.169.254/");
}

// B70
#[test]
fn documents_arrive_damaged_or_not_at_all() {
    let server = AuthServer::start(&[]);
    let url = format!("{}/.well-known/oauth-authorization-server", server.issuer());
    let get = |lie: &str| {
        server.apply_lies(&[lie]);
        Browser::new().send("GET", &url, &[], "")
    };
    assert_eq!(get("metadata-body:500").status, 500);
    assert!(get("metadata-body:garbage").json().is_null());
    assert!(get("metadata-body:huge").body.len() > 2 * 1024 * 1024);
    assert_eq!(get("metadata-body:html").header("content-type"), Some("text/html"));
    assert!(get("metadata-body:redirect").header("location").unwrap().ends_with("/elsewhere"));
    assert!(get("metadata-body:inside").header("location").unwrap().starts_with("http://169.254.169.254"));
    assert_eq!(get("metadata-body:none").status, 404);
    server.apply_lies(&["metadata-body:hops"]);
    let mut browser = Browser::new();
    assert_eq!(browser.open(&url).status, 404);
    assert_eq!(browser.visited_urls().len(), 8);
    assert!(is_silent(&server, "metadata-body:hang", false));
    assert!(is_silent(&server, "metadata-body:endless", true));
}

/// Whether a response does not end for a while, with or without received bytes.
fn is_silent(server: &AuthServer, lie: &str, has_head: bool) -> bool {
    server.apply_lies(&[lie]);
    let mut stream = TcpStream::connect(server.issuer().strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let get = "GET /.well-known/openid-configuration HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    stream.write_all(get.as_bytes()).unwrap();
    let mut bytes = [0; 4096];
    let first = stream.read(&mut bytes);
    if has_head {
        matches!(first, Ok(read) if read > 0) && stream.read(&mut bytes).is_ok()
    } else {
        first.is_err()
    }
}

// B74
#[test]
fn authorization_redirect_lies_change_iss_state_and_error() {
    let server = AuthServer::start(&[]);
    let client = Client::register(&server);
    for (lie, expected) in [("iss:wrong", Some("https%3A%2F%2Fevil.example")), ("iss:absent", None)] {
        server.apply_lies(&[lie]);
        assert_eq!(parameter(&client.authorize("").url, "iss").as_deref(), expected, "{lie}");
    }
    server.apply_lies(&["iss:slash"]);
    assert!(parameter(&client.authorize("").url, "iss").unwrap().ends_with("%2F"));
    server.apply_lies(&["iss-advertised:no", "authorize:access_denied", "authorize-state:wrong"]);
    let page = client.authorize("");
    assert_eq!(parameter(&page.url, "error").as_deref(), Some("access_denied"));
    assert!(parameter(&page.url, "error_description").unwrap().starts_with("%3Cscript"));
    assert_eq!(parameter(&page.url, "state").as_deref(), Some("canary-another-state"));
    assert_eq!(metadata(&server).get("authorization_response_iss_parameter_supported"), None);
}

// B77
#[test]
fn token_response_lies_change_expiry_type_and_scope() {
    let server = AuthServer::start(&[]);
    let client = Client::register(&server);
    let told = |lie: &str| {
        server.apply_lies(&[lie]);
        client.sign_in("a b")
    };
    assert_eq!(told("expires-in:absent").get("expires_in"), None);
    assert_eq!(told("expires-in:negative")["expires_in"], -1);
    assert_eq!(told("expires-in:string")["expires_in"], "3600");
    assert_eq!(told("expires-in:zero")["expires_in"], 0);
    assert_eq!(told("token-type:mac")["token_type"], "mac");
    assert_eq!(told("granted-scope:less")["scope"], "a");
    assert_eq!(told("granted-scope:absent").get("scope"), None);
    assert_eq!(told("refresh:never").get("refresh_token"), None);
    let first = told("refresh:omit");
    let second = client.refresh(&first["refresh_token"]).json();
    assert_eq!(second.get("refresh_token"), None);
    assert_eq!(client.refresh(&first["refresh_token"]).status, 200);
    server.apply_lies(&["refresh:keep"]);
    assert_eq!(client.refresh(&first["refresh_token"]).json()["refresh_token"], first["refresh_token"]);
}

// F45 F81
#[test]
fn token_endpoint_fails_given_times_and_loses_responses() {
    let server = AuthServer::start(&[]);
    let client = Client::register(&server);
    let tokens = client.sign_in("");
    server.apply_lies(&["token:500", "token-on:refresh_token", "token-times:2"]);
    let status = || client.refresh(&tokens["refresh_token"]).status;
    assert_eq!([status(), status()], [500; 2]);
    assert_eq!(client.sign_in("").get("error"), None);
    server.apply_lies(&["token:good", "token-error:temporarily_unavailable", "token-times:1"]);
    assert_eq!(client.refresh(&tokens["refresh_token"]).json()["error"], "temporarily_unavailable");
    server.apply_lies(&["token:lost", "token-error:", "token-times:1"]);
    assert!(std::panic::catch_unwind(|| client.refresh(&tokens["refresh_token"])).is_err());
    // The refresh token was spent by the lost response.
    assert_eq!(client.refresh(&tokens["refresh_token"]).json()["error"], "invalid_grant");
}

// F44
#[test]
fn call_requires_step_up_scope() {
    let server = AuthServer::start(&["scope:use", "step-up:admin"]);
    let client = Client::register(&server);
    let call = |token: &Value| {
        let bearer = format!("Bearer {}", token.as_str().unwrap());
        post(server.server(), &[("Authorization", &bearer)], &request(2, "tools/call", &json!({})))
    };
    let low = client.sign_in("use")["access_token"].clone();
    assert_eq!(client.greeted(&low), 200);
    let refused = call(&low);
    assert_eq!(refused.status, 403);
    let challenge = refused.header("www-authenticate").unwrap();
    assert!(challenge.contains("error=\"insufficient_scope\"") && challenge.ends_with("scope=\"admin\""));
    let high = client.sign_in("use admin")["access_token"].clone();
    // Without a session it gets no further than this.
    assert_eq!(call(&high).status, 400);
    server.apply_lies(&["step-up-ends:no"]);
    assert_eq!(call(&high).status, 403);
    assert_eq!(client.greeted(&client.sign_in("admin")["access_token"]), 403);
}

// B68
#[test]
fn resource_metadata_lies_change_resource_and_server() {
    let server = AuthServer::start(&["prm-resource:https://evil.example/mcp", "prm-server:http://10.0.0.1/"]);
    let url = format!("http://{}/.well-known/oauth-protected-resource", server.server().address());
    let page = Browser::new().open(&url).json();
    assert_eq!(page["resource"], "https://evil.example/mcp");
    assert_eq!(page["authorization_servers"], json!(["http://10.0.0.1/"]));
    server.apply_lies(&["prm:custom"]);
    assert_eq!(Browser::new().open(&url).status, 404);
    server.apply_lies(&["challenge-url:http://[::ffff:10.0.0.1]/"]);
    let challenge = greet(&server, "").header("www-authenticate").unwrap().to_owned();
    assert_eq!(challenge, "Bearer resource_metadata=\"http://[::ffff:10.0.0.1]/\"");
    server.apply_lies(&["challenge:none"]);
    assert_eq!(greet(&server, "").header("www-authenticate"), None);
}

/// An unsigned proof for a POST to that URL.
fn proof(url: &str, more: &Value) -> String {
    let encode = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let mut claims = json!({ "htm": "POST", "htu": url, "iat": 1 });
    claims.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let header = json!({ "typ": "dpop+jwt", "alg": "ES256", "jwk": { "kty": "EC" } });
    format!("{}.{}.signature", encode(&header), encode(&claims))
}

#[test]
fn bound_token_requires_fresh_proof_with_nonce() {
    let server = AuthServer::start(&["dpop:nonce"]);
    assert!(greet(&server, "").header("www-authenticate").unwrap().starts_with("DPoP "));
    let url = format!("{}/token", server.issuer());
    let form =
        format!("grant_type=client_credentials&client_id={STATIC_CLIENT}&client_secret={STATIC_SECRET}");
    let ask = |more: &Value| {
        let headers = [("DPoP", proof(&url, more))];
        Browser::new().send(
            "POST",
            &url,
            &headers.each_ref().map(|(name, value)| (*name, value.as_str())),
            &form,
        )
    };
    assert_eq!(Browser::new().send("POST", &url, &[], &form).json()["error"], "invalid_dpop_proof");
    let told = ask(&json!({ "jti": "1" }));
    assert_eq!(told.json()["error"], "use_dpop_nonce");
    let nonce = told.header("dpop-nonce").unwrap();
    assert_eq!(ask(&json!({ "jti": "1", "nonce": nonce })).json()["error"], "invalid_dpop_proof");
    let tokens = ask(&json!({ "jti": "2", "nonce": nonce })).json();
    assert_eq!(tokens["token_type"], "DPoP");

    let token = tokens["access_token"].as_str().unwrap();
    let greeted = |more: &Value| {
        let proof = proof(server.url(), more);
        let headers = [("Authorization", format!("DPoP {token}")), ("DPoP", proof)];
        let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
        post(server.server(), &headers, &request(1, "initialize", &initialize("2025-11-25")))
    };
    let hash = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(token));
    let told = greeted(&json!({ "jti": "3", "ath": hash }));
    assert_eq!(told.status, 401);
    assert!(told.header("www-authenticate").unwrap().contains("use_dpop_nonce"));
    let nonce = told.header("dpop-nonce").unwrap();
    assert_eq!(greeted(&json!({ "jti": "4", "ath": hash, "nonce": nonce })).status, 200);
    assert_eq!(greeted(&json!({ "jti": "4", "ath": hash, "nonce": nonce })).status, 401);
    assert_eq!(greeted(&json!({ "jti": "5", "nonce": nonce })).status, 401);
    assert_eq!(greet(&server, token).status, 401);
}

#[test]
fn old_authorization_server_has_endpoints_at_root_without_metadata() {
    let server = AuthServer::start(&["place:same", "challenge:bare", "prm-body:none", "metadata-body:none"]);
    assert_eq!(greet(&server, "").header("www-authenticate"), Some("Bearer"));
    let at = |path: &str| format!("http://{}{path}", server.server().address());
    let mut browser = Browser::new();
    assert_eq!(browser.open(&at("/.well-known/oauth-authorization-server")).status, 404);
    assert_eq!(browser.send("POST", &at("/register"), &[], "{}").status, 201);
    server.apply_lies(&["metadata-body:good", "metadata:appended", "issuer-path:/tenant1"]);
    let page = browser.open(&at("/tenant1/.well-known/openid-configuration")).json();
    assert_eq!(page["token_endpoint"], at("/tenant1/token"));
    assert_eq!(browser.post_form(&at("/tenant1/token"), &[]).status, 401);
}

// B83
#[test]
fn identity_provider_lies_change_issued_tokens() {
    let server = AuthServer::start(&["id-token:absent"]);
    let client = Client::register(&server);
    assert_eq!(client.sign_in("openid").get("id_token"), None);
    let claims = |token: &Value| -> Value {
        let part = token.as_str().unwrap().split('.').nth(1).unwrap().to_owned();
        serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
    };
    server.apply_lies(&["id-token:other-audience"]);
    let id_token = client.sign_in("openid")["id_token"].clone();
    assert_eq!(claims(&id_token)["aud"], "canary-other-client");
    let exchange = |lie: &str| {
        server.apply_lies(&[lie]);
        let page = client.token(&[
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            ("subject_token", id_token.as_str().unwrap()),
            ("subject_token_type", "urn:ietf:params:oauth:token-type:id_token"),
            ("requested_token_type", "urn:ietf:params:oauth:token-type:id-jag"),
            ("audience", "https://as.example"),
            ("resource", "https://mcp.example"),
        ]);
        claims(&page.json()["access_token"])
    };
    assert_eq!(exchange("id-jag:other-audience")["aud"], "https://as.example-other");
    assert_eq!(exchange("id-jag:other-resource")["resource"], "https://mcp.example-other");
    let late = exchange("id-jag:expired");
    assert!(late["exp"].as_i64().unwrap() < claims(&id_token)["iat"].as_i64().unwrap());
}
