//! Records survive storage, print no secret, and belong to one server.

use std::time::{Duration, SystemTime};

use mcparley_model::config::{ConfiguredGrant, OauthConfig, RemoteConfig};

use super::*;
use crate::client::{ClientAuthMethod, ClientIdOrigin};
use crate::metadata::MetadataSource;
use crate::tokens::Kind;

pub(crate) fn record() -> SignInRecord {
    let url = |text: &str| Url::parse(text).unwrap();
    SignInRecord {
        server: "s".into(),
        resource: "https://mcp.example/mcp".into(),
        issuer: AuthServerMetadata {
            revocation_endpoint: Some(url("https://as.example/revoke")),
            grants: Some(vec!["refresh_token".into()]),
            proofs: Some(vec![ClientAuthMethod::Basic, ClientAuthMethod::Nothing]),
            signing: Some(vec!["ES256".into()]),
            dpop: vec!["ES256".into()],
            source: MetadataSource::Assumed,
            ..AuthServerMetadata::new("https://as.example".into(), url("https://as.example/token"))
        },
        client: OAuthClient {
            id: "client".into(),
            secret: Some(Secret::new("secret-canary".into())),
            proof: ClientAuthMethod::Basic,
            redirect: Some(url("http://127.0.0.1:1234/callback")),
            origin: ClientIdOrigin::Registered,
            scopes: Vec::new(),
        },
        tokens: Some(Tokens {
            access: Secret::new("access-canary".into()),
            kind: Kind::Dpop,
            refresh: Some(Secret::new("refresh-canary".into())),
            given: SystemTime::UNIX_EPOCH + Duration::from_secs(1_999_999_000),
            expires: Some(SystemTime::UNIX_EPOCH + Duration::from_secs(2_000_000_000)),
            scopes: vec!["a".into(), "b".into()],
        }),
        wanted: vec!["c".into()],
        key: Some(Secret::new(b"key-canary".to_vec())),
    }
}

// A2
#[test]
fn a_record_is_read_as_it_was_written() {
    let record = record();
    assert_eq!(SignInRecord::from_bytes(&record.to_bytes()).unwrap(), record);
}

// B62
#[test]
fn record_and_its_errors_print_no_secret() {
    let mut shown = format!("{:?}", record());
    for broken in [&br#"{"server": "x", "key": "key-canary"#[..], br#"{"access-canary": 1}"#] {
        let error = SignInRecord::from_bytes(&Secret::new(broken.to_vec())).unwrap_err();
        shown += &format!("{error} {error:?}");
    }
    assert!(!shown.contains("canary"), "{shown}");
}

fn remote(url: &str, oauth: Option<OauthConfig>) -> RemoteConfig {
    let url = Secret::new(Url::parse(url).unwrap());
    RemoteConfig { url, headers: Vec::new(), headers_helper: None, oauth }
}

// A2 B78
#[test]
fn another_server_url_or_client_is_another_slot() {
    let slot = |name: &str, url: &str, oauth: OauthConfig| {
        SignInSlot::for_server(&ServerName::new(name), &remote(url, Some(oauth)), None)
    };
    let first = slot("s", "https://h/mcp", OauthConfig::default());
    let client = OauthConfig { client_id: Some("c".into()), ..OauthConfig::default() };
    let grant = OauthConfig { grant: ConfiguredGrant::ClientCredentials, ..OauthConfig::default() };
    let metadata = Url::parse("https://as/meta").unwrap();
    let metadata = OauthConfig { auth_server_metadata_url: Some(metadata), ..OauthConfig::default() };
    let others = [
        slot("t", "https://h/mcp", OauthConfig::default()),
        slot("s", "https://h/mcp2", OauthConfig::default()),
        slot("s", "https://h/mcp", client),
        slot("s", "https://h/mcp", grant),
        slot("s", "https://h/mcp", metadata),
    ];
    for (at, other) in others.iter().enumerate() {
        assert_ne!(*other, first, "{at}");
    }
    assert_eq!(SignInSlot::for_server(&ServerName::new("s"), &remote("https://h/mcp", None), None), first);
    let scopes = OauthConfig { scopes: vec!["x".into()], callback_port: Some(1), ..OauthConfig::default() };
    assert_eq!(slot("s", "https://h/mcp", scopes), first);
}

// A2 G4
#[test]
fn each_principal_has_its_own_record_and_all_have_the_clients_secret() {
    let slot =
        |principal| SignInSlot::for_server(&ServerName::new("s"), &remote("https://h/mcp", None), principal);
    let (user, alice, bob) = (slot(None), slot(Some("token:alice")), slot(Some("token:bob")));
    assert_ne!(alice.record_entry(), bob.record_entry());
    assert_ne!(alice.record_entry(), user.record_entry());
    assert_eq!(alice, slot(Some("token:alice")));
    assert_eq!([alice.secret_entry(), bob.secret_entry()], [user.secret_entry(), user.secret_entry()]);
}
