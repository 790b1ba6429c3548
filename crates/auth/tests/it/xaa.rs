//! One sign-in to an identity provider for many servers.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use mcparley_auth::vault::{KeyStorage, Vault, VaultSettings};
use mcparley_auth::{Account, Accounts, IdentitySettings, SignInMethod, UserIdentity};
use mcparley_model::config::OauthConfig;
use mcparley_model::name::ServerName;
use mcparley_model::secret::Secret;
use mcparley_testkit::{AuthServer, OpenIdProvider, STATIC_CLIENT, STATIC_SECRET};
use mcparley_wire::Failure;
use mcparley_wire::transport::http::Network;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::signing::{accounts_with, browse, connect_to, remote};

const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

fn settings(issuer: &str) -> IdentitySettings {
    IdentitySettings {
        issuer: issuer.to_owned(),
        client_id: STATIC_CLIENT.to_owned(),
        client_secret: Some(Secret::new(STATIC_SECRET.to_owned())),
        callback_port: None,
        id_token: None,
    }
}

/// The accounts of a simulated process.
fn process(folder: &Path, settings: IdentitySettings) -> Accounts {
    let vault = Vault::new(VaultSettings { storage: KeyStorage::File, ..VaultSettings::new(folder) });
    let identity = UserIdentity::new(settings, &Network::default(), Some(vault.clone()));
    accounts_with(Some(vault), Some(identity.unwrap()))
}

fn oauth(client: &str, secret: &str) -> OauthConfig {
    OauthConfig {
        xaa: true,
        client_id: Some(client.to_owned()),
        client_secret: Some(Secret::new(secret.to_owned())),
        ..OauthConfig::default()
    }
}

fn account(accounts: &Accounts, url: &str) -> Account {
    accounts.account_for(&ServerName::new(url), &remote(url, oauth(STATIC_CLIENT, STATIC_SECRET)))
}

/// An identity provider, servers that trust it, and a folder.
fn world(servers: usize) -> (AuthServer, Vec<AuthServer>, TempDir) {
    let servers = (0..servers).map(|_| AuthServer::start(&[])).collect();
    (AuthServer::start(&[]), servers, tempfile::tempdir().unwrap())
}

fn count(server: &AuthServer, kind: &str, name: &str) -> u64 {
    server.stats()[kind][name].as_u64().unwrap_or_default()
}

// A6 H34 B84
#[tokio::test]
async fn three_servers_share_one_sign_in_and_a_later_process_needs_none() {
    let (provider, servers, folder) = world(4);
    let accounts = process(folder.path(), settings(provider.issuer()));
    let mut flows = Vec::new();
    for server in &servers[..3] {
        let account = account(&accounts, server.url());
        let refused = connect_to(server.url(), &account).await;
        assert!(matches!(refused, Err(Failure::Unauthorized { .. })), "{:?}", refused.err());
        assert_eq!(server.stats()["requests"], json!({}), "nobody is asked before the person is known");
        flows.push(account.begin_sign_in(SignInMethod::Browser).await.unwrap());
    }
    assert!(flows.iter().all(|flow| flow.page() == flows[0].page()));
    assert_eq!(flows.iter().filter(|flow| flow.take_unseen_page().is_some()).count(), 1);
    browse(&flows[1]).await;
    for (flow, server) in flows.iter().zip(&servers) {
        flow.wait_until_done().await.unwrap();
        connect_to(server.url(), &account(&accounts, server.url())).await.unwrap();
    }
    assert_eq!(count(&provider, "requests", "authorize"), 1);
    assert_eq!(count(&provider, "grants", EXCHANGE), 3);

    let later = process(folder.path(), settings(provider.issuer()));
    connect_to(servers[3].url(), &account(&later, servers[3].url())).await.unwrap();
    assert_eq!(count(&provider, "requests", "authorize"), 1, "no window");
    assert_eq!(count(&provider, "grants", EXCHANGE), 4);
    for server in &servers {
        let stats = server.stats();
        assert_eq!(stats["grants"], json!({ BEARER: 1 }), "the identity itself is shown to nobody else");
        assert!(stats["last"]["token"]["subject_token"].is_null());
    }
}

// A6 A3
#[tokio::test]
async fn expired_token_is_obtained_again_through_the_provider_without_a_page() {
    let (provider, servers, folder) = world(1);
    let accounts = process(folder.path(), settings(provider.issuer()));
    let account = account(&accounts, servers[0].url());
    let flow = account.begin_sign_in(SignInMethod::Browser).await.unwrap();
    browse(&flow).await;
    flow.wait_until_done().await.unwrap();
    for round in 1..=2 {
        servers[0].expire_access_tokens();
        connect_to(servers[0].url(), &account).await.unwrap();
        assert_eq!(count(&provider, "grants", EXCHANGE), round + 1);
    }
    assert_eq!(count(&provider, "requests", "authorize"), 1);
}

/// An ID token that expired this long ago.
fn said_until(issuer: &str, ago: Duration) -> Secret<String> {
    let until = (SystemTime::now() - ago).duration_since(UNIX_EPOCH).unwrap().as_secs();
    let claims =
        json!({ "iss": issuer, "aud": STATIC_CLIENT, "sub": "U1", "exp": until, "iat": until - 600 });
    let part = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    Secret::new(format!("{}.{}.canary", part(&json!({ "alg": "ES256" })), part(&claims)))
}

// A6
#[tokio::test]
async fn expired_id_token_is_not_sent_and_needs_a_new_sign_in() {
    let (provider, servers, folder) = world(1);
    let ended = Some(said_until(provider.issuer(), Duration::from_secs(60)));
    let accounts =
        process(folder.path(), IdentitySettings { id_token: ended, ..settings(provider.issuer()) });
    assert!(!accounts.identity().unwrap().knows_user().await);
    let account = account(&accounts, servers[0].url());
    let refused = connect_to(servers[0].url(), &account).await;
    assert!(matches!(refused, Err(Failure::Unauthorized { .. })), "{:?}", refused.err());
    assert_eq!(
        (provider.stats()["requests"].clone(), servers[0].stats()["requests"].clone()),
        (json!({}), json!({}))
    );
    assert!(account.begin_sign_in(SignInMethod::Browser).await.unwrap().page().is_some());
}

/// A sign-in at a provider that misbehaves: it fails, and its errors contain no secret.
async fn deceived(provider: &AuthServer, lie: &str, account: &Account) {
    provider.apply_lies(&[lie]);
    let flow = account.begin_sign_in(SignInMethod::Browser).await.unwrap();
    browse(&flow).await;
    let error = flow.wait_until_done().await.unwrap_err();
    assert!(!format!("{error:?} {}", error.to_single_line()).contains("canary"), "{lie}: {error:?}");
}

// A6 B83
#[tokio::test]
async fn invalid_id_token_is_not_stored() {
    for lie in ["id-token:absent", "id-token:other-audience", "id-token:other-issuer", "id-token:expired"] {
        let (provider, servers, folder) = world(1);
        let accounts = process(folder.path(), settings(provider.issuer()));
        deceived(&provider, lie, &account(&accounts, servers[0].url())).await;
        assert_eq!(count(&provider, "grants", EXCHANGE), 0, "{lie}");
        for accounts in [accounts, process(folder.path(), settings(provider.issuer()))] {
            assert!(!accounts.identity().unwrap().knows_user().await, "{lie}");
        }
    }
}

// B83 H34
#[tokio::test]
async fn invalid_id_jag_is_not_sent() {
    for lie in [
        "id-jag:other-audience",
        "id-jag:other-resource",
        "id-jag:other-client",
        "id-jag:expired",
        "id-jag:other-type",
    ] {
        let (provider, servers, folder) = world(1);
        let accounts = process(folder.path(), settings(provider.issuer()));
        let account = account(&accounts, servers[0].url());
        deceived(&provider, lie, &account).await;
        assert_eq!(count(&provider, "grants", EXCHANGE), 1, "{lie}");
        assert_eq!(count(&servers[0], "requests", "token"), 0, "{lie}");
        assert!(!account.has_tokens().await);
    }
}

// A6
#[tokio::test]
async fn fleet_three_servers_share_one_sign_in_at_a_real_provider_and_a_fourth_needs_none() {
    let provider = OpenIdProvider::start(&["--xaa", "4"]);
    let folder = tempfile::tempdir().unwrap();
    let text = |of: &Value, name: &str| of[name].as_str().unwrap().to_owned();
    let idp = IdentitySettings {
        issuer: provider.issuer().to_owned(),
        client_id: text(&provider.clients()["idp"], "client_id"),
        client_secret: None,
        callback_port: None,
        id_token: None,
    };
    let us = &provider.clients()["xaa"];
    let oauth = oauth(&text(us, "client_id"), &text(us, "client_secret"));
    let account = |accounts: &Accounts, index: usize| {
        let url = text(&provider.other_servers()[index], "mcp");
        (accounts.account_for(&ServerName::new(&url), &remote(&url, oauth.clone())), url)
    };
    let accounts = process(folder.path(), idp.clone());
    let mut flows = Vec::new();
    for index in 0..3 {
        flows.push(account(&accounts, index).0.begin_sign_in(SignInMethod::Browser).await.unwrap());
    }
    browse(&flows[0]).await;
    for (index, flow) in flows.iter().enumerate() {
        flow.wait_until_done().await.unwrap();
        let (account, url) = account(&accounts, index);
        connect_to(&url, &account).await.unwrap();
    }
    let windows = provider.stats()["interactions"].clone();
    let (fourth, url) = account(&process(folder.path(), idp), 3);
    connect_to(&url, &fourth).await.unwrap();
    println!("interactions: {windows}, then {}", provider.stats()["interactions"]);
    assert_eq!(provider.stats()["interactions"], windows);
    assert_eq!(provider.stats()["grants"]["authorization_code"], 1);
}
