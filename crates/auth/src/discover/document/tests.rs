//! Metadata documents, and their parsed form.

use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn body(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

fn whole() -> Value {
    json!({
        "issuer": "https://a.example",
        "authorization_endpoint": "https://a.example/authorize",
        "token_endpoint": "https://a.example/token",
        "registration_endpoint": "https://a.example/register",
        "device_authorization_endpoint": "https://a.example/device",
        "revocation_endpoint": "https://a.example/revoke",
        "scopes_supported": ["a", "b c", "", 5, "offline_access"],
        "grant_types_supported": ["authorization_code"],
        "token_endpoint_auth_methods_supported": ["none", "tls_client_auth", "private_key_jwt"],
        "token_endpoint_auth_signing_alg_values_supported": ["ES256"],
        "code_challenge_methods_supported": ["plain", "S256"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": true,
        "dpop_signing_alg_values_supported": ["ES256"],
        "jwks_uri": {"nobody": "reads it"},
    })
}

fn url(text: &str) -> Option<Url> {
    Some(Url::parse(text).unwrap())
}

// A1
#[test]
fn authorization_server_metadata_is_parsed() {
    let wanted = AuthServerMetadata {
        issuer: "https://a.example".to_owned(),
        authorization_endpoint: url("https://a.example/authorize"),
        token_endpoint: Url::parse("https://a.example/token").unwrap(),
        registration_endpoint: url("https://a.example/register"),
        device_endpoint: url("https://a.example/device"),
        revocation_endpoint: url("https://a.example/revoke"),
        key_set: None,
        scopes: vec!["a".to_owned(), "offline_access".to_owned()],
        grants: Some(vec!["authorization_code".to_owned()]),
        proofs: Some(vec![ClientAuthMethod::Nothing, ClientAuthMethod::Signature]),
        signing: Some(vec!["ES256".to_owned()]),
        has_s256: true,
        names_issuer: true,
        takes_documents: true,
        dpop: vec!["ES256".to_owned()],
        source: MetadataSource::Published,
    };
    assert_eq!(parse_server_metadata(&body(&whole())), Ok(wanted));
}

// A1
#[test]
fn malformed_field_counts_as_absent_unless_it_is_required() {
    let needed = json!({"issuer": "https://a.example", "token_endpoint": "https://a.example/token"});
    let least = parse_server_metadata(&body(&needed)).unwrap();
    let mut wrong = whole();
    for (field, value) in wrong.as_object_mut().unwrap() {
        if !["issuer", "token_endpoint"].contains(&field.as_str()) {
            *value = json!({"of": ["another", "kind"]});
        }
    }
    assert_eq!(parse_server_metadata(&body(&wrong)), Ok(least));
    for (field, value, error) in [
        ("issuer", json!(null), "it has no `issuer`"),
        ("issuer", json!(["https://a.example"]), "its `issuer` is not text"),
        ("token_endpoint", json!(null), "it has no `token_endpoint`"),
        ("token_endpoint", json!(5), "its `token_endpoint` is not text"),
        ("token_endpoint", json!("/token"), "its `token_endpoint` is not a URL"),
    ] {
        let mut document = whole();
        document[field] = value;
        assert_eq!(parse_server_metadata(&body(&document)).unwrap_err().to_string(), error);
    }
    for text in ["", "[]", "5", "{", "\u{feff}", "{\"a\":1} x"] {
        assert_eq!(parse_server_metadata(text.as_bytes()), Err(DocumentError::NotJson), "{text}");
    }
    let deep = "[".repeat(100_000);
    assert_eq!(parse_resource_metadata(deep.as_bytes()), Err(DocumentError::NotJson));
}

// A1
#[test]
fn protected_resource_metadata_is_parsed() {
    let document = json!({
        "resource": "https://r.example/mcp",
        "authorization_servers": ["https://a.example", 5, "https://b.example"],
        "scopes_supported": "a b",
        "dpop_bound_access_tokens_required": true,
    });
    let wanted = ResourceMetadata {
        resource: "https://r.example/mcp".to_owned(),
        authorization_servers: vec!["https://a.example".to_owned(), "https://b.example".to_owned()],
        scopes: Vec::new(),
        dpop_required: true,
    };
    assert_eq!(parse_resource_metadata(&body(&document)), Ok(wanted));
    assert_eq!(parse_resource_metadata(b"{}"), Err(DocumentError::Missing { field: "resource" }));
    let many: Vec<String> = (0..=OAUTH_NAMES).map(|index| format!("s{index}")).collect();
    let read = parse_resource_metadata(&body(&json!({"resource": "r", "scopes_supported": many}))).unwrap();
    assert_eq!(read.scopes.len(), OAUTH_NAMES);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    fn check_mutated_metadata(
        at in any::<prop::sample::Index>(), length in 0_usize..40, other in any::<Vec<u8>>(),
    ) {
        let mut bytes = body(&whole());
        let from = at.index(bytes.len());
        let to = (from + length).min(bytes.len());
        bytes.splice(from..to, other);
        let (read, also) = (parse_server_metadata(&bytes), parse_resource_metadata(&bytes));
        if let Ok(read) = read {
            READ_SERVERS.fetch_add(1, Ordering::Relaxed);
            prop_assert!(read.scopes.iter().all(|scope| is_scope(scope)));
        }
        if let Ok(also) = also {
            prop_assert!(also.scopes.len() <= OAUTH_NAMES);
        }
    }
}

/// Cases in which the metadata was parsed.
static READ_SERVERS: AtomicU32 = AtomicU32::new(0);

// B68-B75 mutated: any document is parsed or refused.
#[test]
fn mutated_metadata_is_parsed_or_refused() {
    check_mutated_metadata();
    assert!(READ_SERVERS.load(Ordering::Relaxed) > 0, "no description was read");
}
