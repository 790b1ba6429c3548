//! A user who signs in at a real provider, to a real server behind it.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use mcparley_auth::{Account, IssuedToken, PrincipalSignIn, SignInMethod, SignInStatus, SubjectTokenSource};
use mcparley_model::config::{ConfiguredGrant, OauthConfig};
use mcparley_model::name::ServerName;
use mcparley_model::secret::Secret;
use mcparley_testkit::{Browser, OpenIdProvider, ProtectedFastMcp};
use mcparley_wire::Failure;
use mcparley_wire::RequestParams;
use mcparley_wire::authorizer::{Authorizer as _, RequestTarget};
use mcparley_wire::peer::PeerCallOptions;
use serde_json::{Value, json};

use crate::signing::{LONG, Vaults, accounts, connect_to, open, remote, sign_in};

fn process(vaults: &Vaults, provider: &OpenIdProvider, oauth: OauthConfig) -> Account {
    accounts(Some(vaults.open())).account_for(&ServerName::new("real"), &remote(provider.url(), oauth))
}

fn client(provider: &OpenIdProvider, name: &str) -> OauthConfig {
    let told = &provider.clients()[name];
    let text = |field: &str| told[field].as_str().map(str::to_owned);
    OauthConfig {
        client_id: text("client_id"),
        client_secret: text("client_secret").map(Secret::new),
        ..OauthConfig::default()
    }
}

/// The grant of a token exchange.
const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";

fn count(stats: &Value, grant: &str) -> u64 {
    stats["grants"][grant].as_u64().unwrap_or_default()
}

// A1 A3 F79
#[tokio::test]
async fn fleet_rotated_sign_in_is_renewed_by_two_processes_and_revoked() {
    let provider = OpenIdProvider::start(&["--access-ttl", "2"]);
    let vaults = Vaults::new();
    let first = process(&vaults, &provider, OauthConfig::default());
    let second = process(&vaults, &provider, OauthConfig::default());
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
        assert!(matches!(account.sign_in_status().await.unwrap(), SignInStatus::SignedOut));
        let refused = connect_to(provider.url(), account).await;
        assert!(matches!(refused, Err(Failure::Unauthorized { .. })), "{:?}", refused.err());
    }
}

// A8
#[tokio::test]
async fn fleet_user_signs_in_on_another_device_and_program_by_its_secret() {
    let provider = OpenIdProvider::start(&[]);
    let vaults = Vaults::new();
    let person = process(&vaults, &provider, client(&provider, "device"));
    let flow = person.begin_sign_in(SignInMethod::Device).await.unwrap();
    open(flow.page().unwrap().as_str()).await;
    flow.wait_until_done().await.unwrap();
    connect_to(provider.url(), &person).await.unwrap();
    let machine = OauthConfig { grant: ConfiguredGrant::ClientCredentials, ..client(&provider, "secret") };
    connect_to(provider.url(), &process(&vaults, &provider, machine)).await.unwrap();
}

// A1
#[tokio::test]
async fn fleet_dpop_tokens_are_used_and_renewed_by_another_process() {
    for bound in ["yes", "nonce"] {
        let provider = OpenIdProvider::start(&["--access-ttl", "2", "--dpop", bound]);
        let vaults = Vaults::new();
        sign_in(&process(&vaults, &provider, OauthConfig::default())).await.unwrap();
        let other = process(&vaults, &provider, OauthConfig::default());
        let begun = Instant::now();
        while count(&provider.stats(), "refresh_token") < 2 {
            assert!(begun.elapsed() < LONG, "{}", provider.stats());
            connect_to(provider.url(), &other).await.unwrap();
        }
    }
}

/// The text of a tool's result, or the error.
async fn call(url: &str, account: &Account, tool: &str) -> Result<String, Failure> {
    let connected = connect_to(url, account).await?;
    let params = RequestParams::new().with_member("name", &tool).with_member("arguments", &json!({}));
    let options = PeerCallOptions { limit: Some(LONG), ..PeerCallOptions::default() };
    let answer: Value = connected.session.call("tools/call", params, options).await?.decode().unwrap();
    Ok(answer["content"][0]["text"].as_str().unwrap_or_default().to_owned())
}

// A1 K4
#[tokio::test]
async fn fleet_step_up_to_unregistered_scopes_registers_again_once() {
    let provider = OpenIdProvider::start(&[]);
    let vaults = Vaults::new();
    let account = process(&vaults, &provider, OauthConfig::default());
    sign_in(&account).await.unwrap();
    assert_eq!(provider.stats()["registrations"], 1);
    let refused = call(provider.url(), &account, "admin").await;
    assert!(matches!(refused, Err(Failure::Forbidden { .. })), "{refused:?}");
    // As `login` does it: another process, which knows the wanted scopes only from the vault.
    let later = process(&vaults, &provider, OauthConfig::default());
    sign_in(&later).await.unwrap();
    assert_eq!(provider.stats()["registrations"], 2, "{}", provider.stats());
    assert_eq!(call(provider.url(), &later, "admin").await.unwrap(), r#"{"admin":true}"#);
    assert_eq!(call(provider.url(), &account, "admin").await.unwrap(), r#"{"admin":true}"#);
    sign_in(&later).await.unwrap();
    assert_eq!(provider.stats()["registrations"], 2, "what is registered is enough");
}

// A1 A3
#[tokio::test]
async fn fleet_fastmcp_server_registers_renews_and_revokes() {
    let server = ProtectedFastMcp::start();
    let vaults = Vaults::new();
    let open = || {
        accounts(Some(vaults.open()))
            .account_for(&ServerName::new("fm"), &remote(server.url(), OauthConfig::default()))
    };
    let account = open();
    sign_in(&account).await.unwrap();
    let clients = call(server.url(), &account, "clients").await.unwrap();
    let clients: Value = serde_json::from_str(&clients).unwrap();
    assert_eq!(clients, json!([{"method": "client_secret_post", "scope": "use"}]));
    // Another process finds the sign-in in the vault, and renews it when the server no longer accepts its
    // token.
    let other = open();
    call(server.url(), &other, "clients").await.unwrap();
    assert_eq!(server.refresh_count(), 0);
    for times in 1..=2 {
        server.expire_access_tokens();
        call(server.url(), &other, "clients").await.unwrap();
        assert_eq!(server.refresh_count(), times, "one renewal for each token that ended, by rotation");
    }
    call(server.url(), &account, "clients").await.unwrap();
    assert_eq!(server.refresh_count(), 2, "the first process has the new token from the vault");
    other.sign_out().await.unwrap();
    let refused = connect_to(server.url(), &account).await;
    assert!(matches!(refused, Err(Failure::Unauthorized { .. })), "{:?}", refused.err());
}

/// A token of the provider for a person, as a client of a gateway has one.
async fn token_of(provider: &OpenIdProvider, person: &str) -> Secret<String> {
    let account =
        accounts(None).account_for(&ServerName::new("own"), &remote(provider.url(), OauthConfig::default()));
    let flow = account.begin_sign_in(SignInMethod::Browser).await.unwrap();
    let page = flow.page().unwrap().as_str().to_owned();
    let choice = format!("{}/person/{person}", provider.issuer());
    let visiting = move || {
        let mut browser = Browser::new();
        browser.open(&choice);
        browser.open(&page)
    };
    tokio::task::spawn_blocking(visiting).await.unwrap();
    flow.wait_until_done().await.unwrap();
    let url = provider.url().parse().unwrap();
    let sent = account.authorize_request(RequestTarget { method: "POST", url: &url }).await.unwrap();
    sent.token.unwrap()
}

/// The account of a principal of a gateway that exchanges this token.
fn exchanging(
    provider: &OpenIdProvider,
    vaults: &Vaults,
    name: &str,
    token: Option<Secret<String>>,
) -> Account {
    let subject = SubjectTokenSource::default();
    if let Some(token) = token {
        let expires = SystemTime::now() + Duration::from_secs(3600);
        subject.set_token(IssuedToken { token, issuer: Arc::from(provider.issuer()), expires });
    }
    let sign_in = PrincipalSignIn { callback: None, subject };
    let oauth = OauthConfig { grant: ConfiguredGrant::TokenExchange, ..client(provider, "gateway") };
    let accounts = accounts(Some(vaults.open())).for_principal(name, sign_in);
    accounts.account_for(&ServerName::new("real"), &remote(provider.url(), oauth))
}

// G4 H19 A3
#[tokio::test]
async fn fleet_tokens_of_two_principals_are_exchanged_for_two_identities_and_never_stored() {
    let provider = OpenIdProvider::start(&["--access-ttl", "4"]);
    let vaults = Vaults::new();
    for person in ["alice", "bob"] {
        let token = token_of(&provider, person).await;
        let account = exchanging(&provider, &vaults, person, Some(token.clone()));
        let before = count(&provider.stats(), EXCHANGE);
        let calls = (0..8).map(|_| {
            let (account, url) = (account.clone(), provider.url().to_owned());
            tokio::spawn(async move { call(&url, &account, "whoami").await.unwrap() })
        });
        for done in calls.collect::<Vec<_>>() {
            let answer: Value = serde_json::from_str(&done.await.unwrap()).unwrap();
            assert_eq!((&answer["subject"], &answer["client"]), (&json!(person), &json!("gateway")));
        }
        assert_eq!(count(&provider.stats(), EXCHANGE), before + 1, "one exchange for all calls");
        let url = provider.url().parse().unwrap();
        let sent = account.authorize_request(RequestTarget { method: "POST", url: &url }).await.unwrap();
        assert_ne!(sent.token.unwrap(), token, "the client's own token was sent to the server");
    }
    assert!(!vaults.folder().join("vault").exists(), "an exchanged token was stored");
    let nobody = exchanging(&provider, &vaults, "carol", None);
    let refused = call(provider.url(), &nobody, "whoami").await.unwrap_err();
    assert!(refused.to_string().contains("sent no valid token"), "{refused}");
    let forged = exchanging(&provider, &vaults, "mallory", Some(Secret::new("canary.forged.token".into())));
    let refused = call(provider.url(), &forged, "whoami").await.unwrap_err();
    let text = format!("{refused} {refused:?}");
    assert!(text.contains("cannot sign in") && !text.contains("canary"), "{text}");
}
