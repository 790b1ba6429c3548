//! A person who signs in at a real provider, to a real server behind it.

use std::time::Instant;

use mcparley_auth::{Account, SignInStanding, Way};
use mcparley_model::config::{Grant, Oauth};
use mcparley_model::name::ServerName;
use mcparley_model::secret::Secret;
use mcparley_testkit::{OpenIdProvider, ProtectedFastMcp};
use mcparley_wire::Failure;
use mcparley_wire::Params;
use mcparley_wire::peer::CallOptions;
use serde_json::{Value, json};

use crate::signing::{LONG, Vaults, accounts, connect_to, open, remote, sign_in};

fn process(vaults: &Vaults, provider: &OpenIdProvider, oauth: Oauth) -> Account {
    accounts(Some(vaults.open())).of(&ServerName::new("real"), &remote(provider.url(), oauth))
}

fn client(provider: &OpenIdProvider, name: &str) -> Oauth {
    let told = &provider.clients()[name];
    let text = |field: &str| told[field].as_str().map(str::to_owned);
    Oauth {
        client_id: text("client_id"),
        client_secret: text("client_secret").map(Secret::new),
        ..Oauth::default()
    }
}

fn count(stats: &Value, grant: &str) -> u64 {
    stats["grants"][grant].as_u64().unwrap_or_default()
}

// A1 A3 F79
#[tokio::test]
async fn fleet_a_sign_in_is_renewed_by_rotation_in_two_processes_and_given_back() {
    let provider = OpenIdProvider::start(&["--access-ttl", "2"]);
    let vaults = Vaults::new();
    let first = process(&vaults, &provider, Oauth::default());
    let second = process(&vaults, &provider, Oauth::default());
    sign_in(&first).await.unwrap();
    let begun = Instant::now();
    while count(&provider.stats(), "refresh_token") < 3 {
        assert!(begun.elapsed() < LONG, "{}", provider.stats());
        for account in [&first, &second] {
            connect_to(provider.url(), account).await.unwrap();
        }
    }
    assert_eq!(provider.stats()["errors"], serde_json::json!({}), "a token was shown twice");
    first.sign_out().await.unwrap();
    assert!(provider.stats()["revocations"].as_u64() >= Some(1));
    for account in [&first, &second] {
        assert!(matches!(account.standing().await.unwrap(), SignInStanding::SignedOut));
        let refused = connect_to(provider.url(), account).await;
        assert!(matches!(refused, Err(Failure::Unauthorized { .. })), "{:?}", refused.err());
    }
}

// A8
#[tokio::test]
async fn fleet_a_person_signs_in_on_another_device_and_a_program_by_its_secret() {
    let provider = OpenIdProvider::start(&[]);
    let vaults = Vaults::new();
    let person = process(&vaults, &provider, client(&provider, "device"));
    let flow = person.begin(Way::Device).await.unwrap();
    open(flow.page().unwrap().as_str()).await;
    flow.wait().await.unwrap();
    connect_to(provider.url(), &person).await.unwrap();
    let machine = Oauth { grant: Grant::ClientCredentials, ..client(&provider, "secret") };
    connect_to(provider.url(), &process(&vaults, &provider, machine)).await.unwrap();
}

// A1
#[tokio::test]
async fn fleet_tokens_that_are_bound_to_a_key_are_used_and_renewed_by_another_process() {
    for bound in ["yes", "nonce"] {
        let provider = OpenIdProvider::start(&["--access-ttl", "2", "--dpop", bound]);
        let vaults = Vaults::new();
        sign_in(&process(&vaults, &provider, Oauth::default())).await.unwrap();
        let other = process(&vaults, &provider, Oauth::default());
        let begun = Instant::now();
        while count(&provider.stats(), "refresh_token") < 2 {
            assert!(begun.elapsed() < LONG, "{}", provider.stats());
            connect_to(provider.url(), &other).await.unwrap();
        }
    }
}

/// The text of a tool's answer, or why there is none.
async fn call(url: &str, account: &Account, tool: &str) -> Result<String, Failure> {
    let connected = connect_to(url, account).await?;
    let params = Params::new().with("name", &tool).with("arguments", &json!({}));
    let options = CallOptions { limit: Some(LONG), ..CallOptions::default() };
    let answer: Value = connected.session.call("tools/call", params, options).await?.decode().unwrap();
    Ok(answer["content"][0]["text"].as_str().unwrap_or_default().to_owned())
}

// A1 K4
#[tokio::test]
async fn fleet_step_up_to_scopes_that_were_not_registered_registers_anew_once() {
    let provider = OpenIdProvider::start(&[]);
    let vaults = Vaults::new();
    let account = process(&vaults, &provider, Oauth::default());
    sign_in(&account).await.unwrap();
    assert_eq!(provider.stats()["registrations"], 1);
    let refused = call(provider.url(), &account, "admin").await;
    assert!(matches!(refused, Err(Failure::Forbidden { .. })), "{refused:?}");
    // As `login` does it: another process, which knows what was wanted from the vault alone.
    let later = process(&vaults, &provider, Oauth::default());
    sign_in(&later).await.unwrap();
    assert_eq!(provider.stats()["registrations"], 2, "{}", provider.stats());
    assert_eq!(call(provider.url(), &later, "admin").await.unwrap(), r#"{"admin":true}"#);
    assert_eq!(call(provider.url(), &account, "admin").await.unwrap(), r#"{"admin":true}"#);
    sign_in(&later).await.unwrap();
    assert_eq!(provider.stats()["registrations"], 2, "what is registered is enough");
}

// A1 A3
#[tokio::test]
async fn fleet_fastmcp_server_registers_renews_and_takes_back() {
    let server = ProtectedFastMcp::start();
    let vaults = Vaults::new();
    let open =
        || accounts(Some(vaults.open())).of(&ServerName::new("fm"), &remote(server.url(), Oauth::default()));
    let account = open();
    sign_in(&account).await.unwrap();
    let clients = call(server.url(), &account, "clients").await.unwrap();
    let clients: Value = serde_json::from_str(&clients).unwrap();
    assert_eq!(clients, json!([{"method": "client_secret_post", "scope": "use"}]));
    // Another process finds the sign-in in the vault, and renews it when the server takes its token no longer.
    let other = open();
    call(server.url(), &other, "clients").await.unwrap();
    assert_eq!(server.renewals(), 0);
    for times in 1..=2 {
        server.expire_access_tokens();
        call(server.url(), &other, "clients").await.unwrap();
        assert_eq!(server.renewals(), times, "one renewal for each token that ended, by rotation");
    }
    call(server.url(), &account, "clients").await.unwrap();
    assert_eq!(server.renewals(), 2, "the first process has the new token from the vault");
    other.sign_out().await.unwrap();
    let refused = connect_to(server.url(), &account).await;
    assert!(matches!(refused, Err(Failure::Unauthorized { .. })), "{:?}", refused.err());
}
