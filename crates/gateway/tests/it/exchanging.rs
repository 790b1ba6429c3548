//! Clients with tokens of an issuer at a server behind it: the gateway exchanges each token, and passes none on.

use mcparley::auth::vault::{KeyStorage, Vault, VaultSettings};
use mcparley::auth::{Accounts, AccountsSettings, SignInMethod};
use mcparley::model::config::RemoteConfig;
use mcparley::model::name::ServerName;
use mcparley::model::secret::Secret;
use mcparley_door::{AccessPolicy, DoorOptions, IssuerSettings, TokenPolicy};
use mcparley_testkit::{Browser, OpenIdProvider};
use mcparley_wire::authorizer::{Authorizer as _, RequestTarget};
use mcparley_wire::transport::http::Network;
use serde_json::{Value, json};

use crate::door::{HttpReply, OpenDoors, options};
use crate::world::World;

/// A token of the provider for a person, as a client of the gateway has one.
async fn token_of(provider: &OpenIdProvider, person: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let vault = VaultSettings { storage: KeyStorage::File, ..VaultSettings::new(folder.path().join("v")) };
    let settings = AccountsSettings {
        network: Network::default(),
        vault: Some(Vault::new(vault)),
        identity: None,
        folder: folder.path().to_owned(),
    };
    let url = Secret::new(provider.url().parse().unwrap());
    let remote = RemoteConfig { url, headers: Vec::new(), headers_helper: None, oauth: None };
    let account = Accounts::new(settings).account_for(&ServerName::new("own"), &remote);
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
    let target = RequestTarget { method: "POST", url: remote.url.expose() };
    let sent = account.authorize_request(target).await.unwrap();
    sent.token.unwrap().expose().clone()
}

async fn read_answer(mut reply: HttpReply) -> Value {
    if reply.header("content-type") != Some("text/event-stream") {
        return reply.json().await;
    }
    loop {
        let message = reply.event().await.expect("an answer");
        if message["method"].is_null() {
            return message;
        }
    }
}

// G4 H19 A3
#[tokio::test]
async fn fleet_tokens_of_two_clients_reach_their_server_as_two_identities_and_never_themselves() {
    let provider = OpenIdProvider::start(&[]);
    let registered = &provider.clients()["gateway"];
    let oauth = json!({
        "grant": "token-exchange",
        "clientId": registered["client_id"],
        "clientSecret": registered["client_secret"],
    });
    let world = World::with_url("guarded", provider.url()).with_vault();
    let world = world.set_member("guarded", "oauth", oauth).allow("mcp__guarded").audited();
    let served = world.gateway();
    let settings = IssuerSettings {
        issuer: provider.issuer().to_owned(),
        resource: provider.url().to_owned(),
        scopes: Vec::new(),
    };
    let issuer = Some(AccessPolicy::new(&settings, &Network::default()).unwrap());
    let opened = DoorOptions { tokens: TokenPolicy::Issuer, issuer, ..options() };
    let doors = OpenDoors::open(&served, opened).await;
    let people = ["alice", "bob"];
    let mut clients = Vec::new();
    for person in people {
        clients.push((person, token_of(&provider, person).await));
    }
    for (person, token) in clients.iter().chain(clients.iter().rev()) {
        let bearer = format!("Bearer {token}");
        let params = json!({ "name": "guarded__whoami", "arguments": {} });
        let reply = doors.post_new(&[("Authorization", &bearer)], "tools/call", params).await;
        let answer = read_answer(reply).await;
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        let known: Value = serde_json::from_str(text).unwrap_or_else(|_| panic!("{answer}"));
        // The token of the client itself names another OAuth client.
        assert_eq!((&known["subject"], &known["client"]), (&json!(person), &json!("gateway")), "{answer}");
    }
    let exchanged = &provider.stats()["grants"]["urn:ietf:params:oauth:grant-type:token-exchange"];
    assert_eq!(exchanged.as_u64(), Some(2), "one exchange for each client");
    let secrets = served.world.paths().secrets.unwrap();
    let log = std::fs::read_to_string(served.world.audit_path()).unwrap_or_default();
    for (_, token) in &clients {
        assert!(!log.contains(token.as_str()), "a token is in the audit log");
    }
    assert!(!secrets.join("vault").exists(), "a token was stored");
}
