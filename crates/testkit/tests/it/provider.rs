//! Tests that the real OpenID provider of the fleet supports all that the sign-in tests need.

use crate::provider_flow::{Person, call};
use mcparley_testkit::{Browser, OpenIdProvider};
use serde_json::{Value, json};

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

// A1 A3
#[test]
fn fleet_provider_signs_in_from_challenge_and_rotates_refresh_tokens() {
    let provider = OpenIdProvider::start(&[]);
    let challenge = call(provider.url(), &json!(""), "whoami");
    assert_eq!(challenge.status, 401);
    let header = challenge.header("www-authenticate").unwrap().to_owned();
    let metadata = header.split("resource_metadata=\"").nth(1).unwrap().split('"').next().unwrap();
    let resource = Browser::new().open(metadata).json();
    assert_eq!(resource["resource"], provider.url());
    assert_eq!(resource["authorization_servers"], json!([provider.issuer()]));

    let mut person = Person::registered(&provider);
    let first = person.sign_in("mcp:use", Some(provider.url()));
    let said = call(provider.url(), &first["access_token"], "whoami").text();
    assert!(said.contains("canary-person") && said.contains(&person.client), "{said}");
    let refresh = |person: &mut Person<'_>, token: &Value| {
        person.token(&[("grant_type", "refresh_token"), ("refresh_token", text(token))])
    };
    let second = refresh(&mut person, &first["refresh_token"]).json();
    assert_ne!(first["refresh_token"], second["refresh_token"]);
    assert_eq!(call(provider.url(), &second["access_token"], "whoami").status, 200);
    // A replay revokes the family.
    assert_eq!(refresh(&mut person, &first["refresh_token"]).json()["error"], "invalid_grant");
    assert_eq!(refresh(&mut person, &second["refresh_token"]).json()["error"], "invalid_grant");
    let stats = provider.stats();
    assert_eq!(stats["grants"], json!({ "authorization_code": 1, "refresh_token": 3 }));
    assert_eq!(stats["errors"], json!({ "invalid_grant": 2 }));
    assert_eq!(stats["registrations"], 1);
}

// K4
#[test]
fn fleet_provider_requires_step_up_scope_and_rejects_revoked_tokens() {
    let provider = OpenIdProvider::start(&["--tokens", "opaque"]);
    let mut person = Person::registered(&provider);
    let low = person.sign_in("mcp:use", Some(provider.url()));
    let refused = call(provider.url(), &low["access_token"], "admin");
    assert_eq!(refused.status, 403);
    assert!(refused.header("www-authenticate").unwrap().contains("scope=\"mcp:admin\""));
    let high = person.sign_in("mcp:use mcp:admin", Some(provider.url()));
    assert_eq!(call(provider.url(), &high["access_token"], "admin").status, 200);
    let revoke = person.endpoint("revocation_endpoint");
    let client = person.client.clone();
    let form = [("token", text(&high["refresh_token"])), ("client_id", client.as_str())];
    assert_eq!(person.browser.post_form(&revoke, &form).status, 200);
    assert_eq!(call(provider.url(), &high["access_token"], "whoami").status, 401);
    assert_eq!(provider.stats()["revocations"], 1);
}

#[test]
fn fleet_provider_issues_tokens_with_configured_lifetime() {
    let provider = OpenIdProvider::start(&["--access-ttl", "1"]);
    let mut person = Person::registered(&provider);
    let tokens = person.sign_in("mcp:use", Some(provider.url()));
    assert_eq!(tokens["expires_in"], 1);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while call(provider.url(), &tokens["access_token"], "whoami").status != 401 {
        assert!(std::time::Instant::now() < deadline, "a token of one second still works");
    }
}

// A8
#[test]
fn fleet_provider_supports_client_credentials_and_device_grant() {
    let provider = OpenIdProvider::start(&[]);
    let machine = &provider.clients()["secret"];
    let mut browser = Browser::new();
    let url = format!("{}/token", provider.issuer());
    let form = [("grant_type", "client_credentials"), ("scope", "mcp:use"), ("resource", provider.url())];
    let basic = ("Authorization", "Basic bWFjaGluZS1ieS1zZWNyZXQ6Y2FuYXJ5LXNlY3JldC1vZi10aGUtbWFjaGluZQ==");
    assert_eq!(machine["client_secret"], "canary-secret-of-the-machine");
    let body: Vec<String> = form
        .iter()
        .map(|(name, value)| format!("{name}={}", mcparley_testkit::percent_encode(value)))
        .collect();
    let kind = ("Content-Type", "application/x-www-form-urlencoded");
    let tokens = browser.send("POST", &url, &[basic, kind], &body.join("&")).json();
    assert_eq!(call(provider.url(), &tokens["access_token"], "whoami").status, 200, "{tokens}");

    let mut device = Person::with_client(&provider, text(&provider.clients()["device"]["client_id"]));
    let begin = device.endpoint("device_authorization_endpoint");
    let form = [("client_id", "device"), ("scope", "mcp:use"), ("resource", provider.url())];
    let begun = device.browser.post_form(&begin, &form).json();
    let grant = ("grant_type", "urn:ietf:params:oauth:grant-type:device_code");
    let poll = [grant, ("device_code", text(&begun["device_code"]))];
    assert_eq!(device.token(&poll).json()["error"], "authorization_pending", "{begun}");
    let page = Browser::new().open(text(&begun["verification_uri_complete"]));
    assert_eq!(page.json(), json!({ "approved": true }));
    let tokens = device.token(&poll).json();
    assert_eq!(call(provider.url(), &tokens["access_token"], "whoami").status, 200, "{tokens}");
    assert!(tokens["refresh_token"].is_string());
}

// A6
#[test]
fn fleet_provider_signs_in_once_for_three_servers() {
    let provider = OpenIdProvider::start(&["--xaa", "3"]);
    let mut person = Person::with_client(&provider, text(&provider.clients()["idp"]["client_id"]));
    let id_token = person.sign_in("openid", None)["id_token"].clone();
    for other in provider.other_servers() {
        let exchanged = exchange(&mut person, &id_token, other);
        let tokens = redeem(other, &exchanged["access_token"]);
        assert_eq!(tokens["token_type"], "Bearer", "{exchanged} {tokens}");
        let said = call(text(&other["mcp"]), &tokens["access_token"], "whoami");
        assert_eq!(said.status, 200);
        assert!(said.text().contains("canary-person"));
        // Each ID-JAG is good once, and only where it is for.
        assert_eq!(redeem(other, &exchanged["access_token"])["error"], "invalid_grant");
        let elsewhere = provider.other_servers().iter().find(|elsewhere| *elsewhere != other).unwrap();
        let fresh = exchange(&mut person, &id_token, other);
        assert_eq!(redeem(elsewhere, &fresh["access_token"])["error"], "invalid_grant");
        assert_eq!(call(text(&elsewhere["mcp"]), &tokens["access_token"], "whoami").status, 401);
    }
    let stats = provider.stats();
    assert_eq!(stats["grants"]["authorization_code"], 1);
    assert_eq!(stats["grants"]["urn:ietf:params:oauth:grant-type:token-exchange"], 6);
    assert_eq!(
        provider.other_server_stats(0)["grants"],
        json!({ "urn:ietf:params:oauth:grant-type:jwt-bearer": 4 })
    );
}

fn exchange(person: &mut Person<'_>, id_token: &Value, other: &Value) -> Value {
    let form = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("subject_token", text(id_token)),
        ("subject_token_type", "urn:ietf:params:oauth:token-type:id_token"),
        ("requested_token_type", "urn:ietf:params:oauth:token-type:id-jag"),
        ("audience", text(&other["issuer"])),
        ("resource", text(&other["mcp"])),
    ];
    person.token(&form).json()
}

fn redeem(other: &Value, grant: &Value) -> Value {
    let basic = ("Authorization", "Basic eGFhLWF0LXNlcnZlcjpjYW5hcnktc2VjcmV0LWZvci14YWE=");
    let kind = ("Content-Type", "application/x-www-form-urlencoded");
    let form =
        format!("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion={}", text(grant));
    Browser::new().send("POST", &format!("{}/token", text(&other["issuer"])), &[basic, kind], &form).json()
}
