//! Tokens that are signed rightly and wrongly, by every algorithm.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcparley_identity::{AccessPolicy, AccessRefusal, IssuerSettings, SignatureAlgorithm};
use mcparley_testkit::{TokenIssuer, TokenKey};
use mcparley_wire::transport::http::Network;
use serde_json::{Value, json};

pub(crate) const RESOURCE: &str = "https://gateway.example/mcp";

/// Accepts the tokens of an issuer that have the scope `use`.
pub(crate) fn policy(issuer: &TokenIssuer) -> AccessPolicy {
    let settings = IssuerSettings {
        issuer: issuer.url(),
        resource: RESOURCE.to_owned(),
        scopes: vec!["use".to_owned()],
    };
    AccessPolicy::new(&settings, &Network::default()).unwrap()
}

/// A good token of the issuer, signed with this key.
pub(crate) fn good_token(issuer: &TokenIssuer, key: &TokenKey, algorithm: &str) -> String {
    key.sign(&json!({ "alg": algorithm, "kid": key.id(), "typ": "at+jwt" }), &issuer.claims(RESOURCE))
}

// G4
#[tokio::test]
async fn token_of_each_algorithm_is_accepted() {
    let rsa = TokenKey::generate("rsa", "RS256");
    let keys = ["ES256", "ES384", "ES512", "EdDSA"].map(|name| TokenKey::generate(name, name));
    let issuer = TokenIssuer::start(&[&rsa, &keys[0], &keys[1], &keys[2], &keys[3]]);
    let policy = policy(&issuer);
    for algorithm in SignatureAlgorithm::ALL.map(SignatureAlgorithm::as_str) {
        let key = keys.iter().find(|key| key.id() == algorithm).unwrap_or(&rsa);
        let token = good_token(&issuer, key, algorithm);
        let identity =
            policy.verify_token(&token, None).await.unwrap_or_else(|error| panic!("{algorithm}: {error}"));
        assert!(identity.account.starts_with("jwt:") && identity.has_scope("use"), "{algorithm}");
        assert!(identity.display_name.starts_with("ada (jwt:"), "{algorithm}: {}", identity.display_name);
        let subject = identity.subject_token.as_ref().unwrap();
        assert_eq!((subject.token.expose(), &*subject.issuer), (&token, issuer.url().as_str()));
        // A changed signature, and one of other claims.
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let mut bytes = URL_SAFE_NO_PAD.decode(signature).unwrap();
        bytes[7] ^= 1;
        let changed = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(&bytes));
        assert_eq!(
            policy.verify_token(&changed, None).await.unwrap_err(),
            AccessRefusal::Signature,
            "{algorithm}"
        );
        let (header, _) = signed.split_once('.').unwrap();
        let mut claims = issuer.claims(RESOURCE);
        claims["sub"] = json!("eve");
        let other = format!("{header}.{}.{signature}", URL_SAFE_NO_PAD.encode(claims.to_string()));
        assert_eq!(
            policy.verify_token(&other, None).await.unwrap_err(),
            AccessRefusal::Signature,
            "{algorithm}"
        );
    }
    assert_eq!(issuer.fetch_count(), 1);
}

// G4 B88
#[tokio::test]
async fn header_that_asks_for_another_check_is_refused() {
    let (rsa, ec) = (TokenKey::generate("rsa", "RS256"), TokenKey::generate("ec", "ES256"));
    let issuer = TokenIssuer::start(&[&rsa, &ec]);
    let policy = policy(&issuer);
    let sign = |key: &TokenKey, header: Value| key.sign(&header, &issuer.claims(RESOURCE));
    let cases = [
        ("none", sign(&rsa, json!({ "alg": "none", "kid": "rsa" })), AccessRefusal::Algorithm),
        (
            "none in capitals",
            sign(&rsa, json!({ "alg": "none", "kid": "rsa" })).replacen("none", "NONE", 1),
            AccessRefusal::Algorithm,
        ),
        (
            "public key as a secret",
            sign(&rsa, json!({ "alg": "HS256", "kid": "rsa" })),
            AccessRefusal::Algorithm,
        ),
        ("key of another type", sign(&rsa, json!({ "alg": "RS256", "kid": "ec" })), AccessRefusal::KeyType),
        (
            "another key",
            sign(&TokenKey::generate("x", "RS256"), json!({ "alg": "RS256", "kid": "rsa" })),
            AccessRefusal::Signature,
        ),
        ("unknown key", sign(&rsa, json!({ "alg": "RS256", "kid": "x" })), AccessRefusal::KeyPending),
        (
            "another type",
            sign(&rsa, json!({ "alg": "RS256", "kid": "rsa", "typ": "dpop+jwt" })),
            AccessRefusal::Type,
        ),
        (
            "critical header",
            sign(&rsa, json!({ "alg": "RS256", "kid": "rsa", "crit": ["b64"], "b64": false })),
            AccessRefusal::Type,
        ),
        (
            "an ID token's type is no matter",
            sign(&rsa, json!({ "alg": "RS256", "kid": "rsa", "jku": "http://127.0.0.1:1/keys" })),
            AccessRefusal::IssuerAway,
        ),
    ];
    for (name, token, expected) in cases {
        let outcome = policy.verify_token(&token, None).await;
        match expected {
            // `jku` names another place for keys, and is not looked at.
            AccessRefusal::IssuerAway => assert!(outcome.is_ok(), "{name}"),
            expected => assert_eq!(outcome.unwrap_err(), expected, "{name}"),
        }
    }
    // Without a key id, the only key for the algorithm is the one.
    assert!(policy.verify_token(&sign(&ec, json!({ "alg": "ES256" })), None).await.is_ok());
}

// G4 B88
#[tokio::test]
async fn text_that_is_no_token_is_refused_without_a_request() {
    let key = TokenKey::generate("k", "ES256");
    let issuer = TokenIssuer::start(&[&key]);
    let policy = policy(&issuer);
    let good = good_token(&issuer, &key, "ES256");
    let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let (header, claims) = (part(r#"{"alg":"ES256","kid":"k"}"#), part("{}"));
    let large = format!("{}.{}.x", "a".repeat(9000), "b".repeat(9000));
    let deep = format!("{header}.{}.{claims}", part(&"[".repeat(9000)));
    let cases = [
        (String::new(), AccessRefusal::Form),
        ("opaque".to_owned(), AccessRefusal::Form),
        ("..".to_owned(), AccessRefusal::Form),
        (format!("{good}.{claims}"), AccessRefusal::Form),
        (format!("{good}="), AccessRefusal::Form),
        (format!(" {good}"), AccessRefusal::Form),
        (format!("{}.{claims}.{claims}", part("[]")), AccessRefusal::Form),
        (format!("{}.{claims}.{claims}", part(r#"{"alg":"ES256","alg":"none"}"#)), AccessRefusal::Form),
        (format!("{}.{claims}.{claims}", part(r#"{"kid":"k"}"#)), AccessRefusal::Form),
        (large, AccessRefusal::TooLarge),
        (deep, AccessRefusal::Form),
    ];
    for (text, expected) in cases {
        let short: String = text.chars().take(60).collect();
        assert_eq!(policy.verify_token(&text, None).await.unwrap_err(), expected, "{short}");
    }
    assert_eq!(issuer.fetch_count(), 0);
}

// G4 B88 B91
#[tokio::test]
async fn claims_scope_and_audience_are_checked_for_the_endpoint() {
    let key = TokenKey::generate("k", "ES256");
    let issuer = TokenIssuer::start(&[&key]);
    let policy = policy(&issuer);
    let sign = |change: &dyn Fn(&mut Value)| {
        let mut claims = issuer.claims(RESOURCE);
        change(&mut claims);
        key.sign(&json!({ "alg": "ES256", "kid": "k" }), &claims)
    };
    let now = issuer.claims("")["iat"].as_u64().unwrap();
    let refusal = async |token: String, view: Option<&str>| {
        policy.verify_token(&token, view).await.map(drop).unwrap_err()
    };
    let ops = || sign(&|claims| claims["aud"] = json!([format!("{RESOURCE}/ops")]));
    assert_eq!(
        refusal(sign(&|claims| claims["aud"] = json!("https://other.example/mcp")), None).await,
        AccessRefusal::Audience
    );
    assert_eq!(refusal(sign(&|claims| claims["aud"] = json!(null)), None).await, AccessRefusal::Audience);
    assert_eq!(refusal(ops(), None).await, AccessRefusal::Audience);
    assert_eq!(refusal(ops(), Some("dev")).await, AccessRefusal::Audience);
    assert!(policy.verify_token(&ops(), Some("ops")).await.is_ok());
    assert_eq!(
        refusal(sign(&|claims| claims["iss"] = json!("https://other.example")), None).await,
        AccessRefusal::Issuer
    );
    assert_eq!(refusal(sign(&|claims| claims["exp"] = json!(now - 31)), None).await, AccessRefusal::Expired);
    assert!(policy.verify_token(&sign(&|claims| claims["exp"] = json!(now - 5)), None).await.is_ok());
    assert_eq!(
        refusal(sign(&|claims| claims["nbf"] = json!(now + 90)), None).await,
        AccessRefusal::NotYetValid
    );
    assert!(policy.verify_token(&sign(&|claims| claims["nbf"] = json!(now + 25)), None).await.is_ok());
    assert_eq!(
        refusal(sign(&|claims| claims["scope"] = json!("used user")), None).await,
        AccessRefusal::Scope
    );
    assert_eq!(
        refusal(sign(&|claims| claims["cnf"] = json!({ "jkt": "x" })), None).await,
        AccessRefusal::Bound
    );
}
