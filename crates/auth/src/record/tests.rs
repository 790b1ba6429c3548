//! What is written down comes back, shows no secret, and belongs to one server.

use std::time::{Duration, SystemTime};

use mcparley_model::config::{Grant, Oauth, Remote};

use super::*;
use crate::client::{Origin, Proof};
use crate::metadata::Found;
use crate::tokens::Kind;

pub(crate) fn record() -> Record {
    let url = |text: &str| Url::parse(text).unwrap();
    Record {
        server: "s".into(),
        resource: "https://mcp.example/mcp".into(),
        issuer: Server {
            revocation_endpoint: Some(url("https://as.example/revoke")),
            grants: Some(vec!["refresh_token".into()]),
            proofs: Some(vec![Proof::Basic, Proof::Nothing]),
            signing: Some(vec!["ES256".into()]),
            dpop: vec!["ES256".into()],
            found: Found::Assumed,
            ..Server::new("https://as.example".into(), url("https://as.example/token"))
        },
        client: Client {
            id: "client".into(),
            secret: Some(Secret::new("secret-canary".into())),
            proof: Proof::Basic,
            redirect: Some(url("http://127.0.0.1:1234/callback")),
            origin: Origin::Registered,
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
    assert_eq!(Record::from_bytes(&record.to_bytes()).unwrap(), record);
}

// B62
#[test]
fn neither_a_record_nor_its_errors_show_a_secret() {
    let mut shown = format!("{:?}", record());
    for broken in [&br#"{"server": "x", "key": "key-canary"#[..], br#"{"access-canary": 1}"#] {
        let error = Record::from_bytes(&Secret::new(broken.to_vec())).unwrap_err();
        shown += &format!("{error} {error:?}");
    }
    assert!(!shown.contains("canary"), "{shown}");
}

fn remote(url: &str, oauth: Option<Oauth>) -> Remote {
    let url = Secret::new(Url::parse(url).unwrap());
    Remote { url, headers: Vec::new(), headers_helper: None, oauth }
}

// A2 B78
#[test]
fn another_server_url_or_client_is_another_slot() {
    let slot =
        |name: &str, url: &str, oauth: Oauth| Slot::of(&ServerName::new(name), &remote(url, Some(oauth)));
    let first = slot("s", "https://h/mcp", Oauth::default());
    let client = Oauth { client_id: Some("c".into()), ..Oauth::default() };
    let grant = Oauth { grant: Grant::ClientCredentials, ..Oauth::default() };
    let metadata = Url::parse("https://as/meta").unwrap();
    let metadata = Oauth { auth_server_metadata_url: Some(metadata), ..Oauth::default() };
    let others = [
        slot("t", "https://h/mcp", Oauth::default()),
        slot("s", "https://h/mcp2", Oauth::default()),
        slot("s", "https://h/mcp", client),
        slot("s", "https://h/mcp", grant),
        slot("s", "https://h/mcp", metadata),
    ];
    for (at, other) in others.iter().enumerate() {
        assert_ne!(*other, first, "{at}");
    }
    assert_eq!(Slot::of(&ServerName::new("s"), &remote("https://h/mcp", None)), first);
    let scopes = Oauth { scopes: vec!["x".into()], callback_port: Some(1), ..Oauth::default() };
    assert_eq!(slot("s", "https://h/mcp", scopes), first);
}
