//! Cross-app access over real connections, and which party receives which token.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcparley_auth::client::{ClientAuthMethod, OAuthClient};
use mcparley_auth::exchange::{
    ExchangeError, ExchangeParty, ExpectedIdToken, IdJag, IdJagRequest, IdToken, TokenFlaw, redeem_id_jag,
    request_id_jag,
};
use mcparley_auth::grant::TokenRequestKeys;
use mcparley_auth::metadata::AuthServerMetadata;
use mcparley_model::explain::Explain as _;
use mcparley_model::secret::Secret;
use serde_json::{Value, json};

use crate::counter::{Answer, Counter, client, secret};

const RESOURCE: &str = "https://mcp.example/mcp";
const AUDIENCE: &str = "https://as.example";

fn token(kind: &str, claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}.c2lnbmVk", part(&json!({"alg": "ES256", "typ": kind})), part(claims))
}

fn soon() -> u64 {
    (SystemTime::now() + Duration::from_secs(300)).duration_since(UNIX_EPOCH).unwrap().as_secs()
}

fn us() -> OAuthClient {
    OAuthClient { id: "us".to_owned(), ..client(ClientAuthMethod::Nothing) }
}

fn who(issuer: &str) -> IdToken {
    let claims = json!({"iss": issuer, "sub": "U1", "aud": "us", "exp": soon()});
    let expected = ExpectedIdToken { issuer, client: "us", nonce: None };
    IdToken::verify_claims(Secret::new(token("JWT", &claims)), &expected, SystemTime::now()).unwrap()
}

/// The response of an identity provider with an ID-JAG for `audience`.
fn vouching(issuer: &str, audience: &str) -> Value {
    let claims = json!({
        "iss": issuer, "sub": "U1", "aud": audience, "client_id": "client", "resource": RESOURCE, "exp": soon(),
    });
    json!({
        "access_token": token("oauth-id-jag+jwt", &claims), "token_type": "N_A",
        "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag",
    })
}

async fn exchanged(
    provider: &Counter,
    server: &AuthServerMetadata,
    who: &IdToken,
    audience: &str,
) -> Result<IdJag, ExchangeError> {
    let (client, keys, scopes) = (us(), TokenRequestKeys::default(), ["read".to_owned(), "write".to_owned()]);
    let party = ExchangeParty { server, client: &client, keys: &keys };
    let wanted = IdJagRequest { audience, client: "client", resource: RESOURCE, scopes: &scopes };
    request_id_jag(&provider.web(), &party, who, &wanted, SystemTime::now()).await
}

/// A provider whose answer needs its own address.
fn provider(answer: impl FnOnce(&str) -> Answer) -> Counter {
    Counter::open_with(|issuer| vec![answer(issuer)])
}

// A6 H34
#[tokio::test]
async fn id_token_is_exchanged_for_a_token_of_the_server() {
    let given = Answer::json(200, &json!({"access_token": "canary-access", "token_type": "Bearer"}));
    let counter = Counter::open(vec![given]);
    let audience = counter.issuer();
    let idp = provider(|issuer| Answer::json(200, &vouching(issuer, &audience)));
    let who = who(&idp.issuer());
    let jag = exchanged(&idp, &idp.server(), &who, &audience).await.unwrap();

    let request = idp.request();
    assert_eq!((request.line.as_str(), request.header("authorization")), ("POST /token HTTP/1.1", None));
    request.assert_form(&[
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("requested_token_type", "urn:ietf:params:oauth:token-type:id-jag"),
        ("audience", &audience),
        ("resource", RESOURCE),
        ("scope", "read write"),
        ("subject_token", who.token().expose()),
        ("subject_token_type", "urn:ietf:params:oauth:token-type:id_token"),
        ("client_id", "us"),
    ]);

    let (server, client, keys) =
        (counter.server(), client(ClientAuthMethod::Basic), TokenRequestKeys::default());
    let party = ExchangeParty { server: &server, client: &client, keys: &keys };
    let granted = redeem_id_jag(&counter.web(), &party, &jag, SystemTime::now()).await.unwrap();
    assert_eq!((granted.tokens.access, granted.tokens.scopes.len()), (secret("canary-access"), 2));
    let request = counter.request();
    assert_eq!(request.header("authorization"), Some("Basic Y2xpZW50OmNhbmFyeS1zZWNyZXQ="));
    let names: Vec<_> = request.form().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["grant_type", "assertion", "scope", "resource", "client_id"]);
    assert_eq!(request.parameter("grant_type"), "urn:ietf:params:oauth:grant-type:jwt-bearer");
    assert!(!request.body.contains(who.token().expose().as_str()));
    assert!(!format!("{who:?} {jag:?}").contains("c2lnbmVk"));
}

// A6 B83 H34
#[tokio::test]
async fn an_id_token_is_not_sent_to_the_authorization_server() {
    let counter = Counter::open(vec![]);
    let error =
        exchanged(&counter, &counter.server(), &who("https://idp.example"), AUDIENCE).await.unwrap_err();
    assert!(matches!(error, ExchangeError::IdToken(TokenFlaw::Issuer)));
    assert!(counter.requests().is_empty());
}

// A6 B83 H34
#[tokio::test]
async fn an_id_jag_is_not_sent_to_another_authorization_server() {
    let idp = provider(|issuer| Answer::json(200, &vouching(issuer, AUDIENCE)));
    let jag = exchanged(&idp, &idp.server(), &who(&idp.issuer()), AUDIENCE).await.unwrap();
    idp.request();
    let counter = Counter::open(vec![]);
    let (server, client, keys) =
        (counter.server(), client(ClientAuthMethod::Nothing), TokenRequestKeys::default());
    let party = ExchangeParty { server: &server, client: &client, keys: &keys };
    let error = redeem_id_jag(&counter.web(), &party, &jag, SystemTime::now()).await.unwrap_err();
    assert!(matches!(error, ExchangeError::IdJag(TokenFlaw::Audience)));
    assert!(counter.requests().is_empty());
}

// A6 B83
#[tokio::test]
async fn invalid_id_jag_of_a_provider_is_refused() {
    let idp = provider(|issuer| Answer::json(200, &vouching(issuer, "https://other.example")));
    let error = exchanged(&idp, &idp.server(), &who(&idp.issuer()), AUDIENCE).await.unwrap_err();
    assert!(matches!(error, ExchangeError::IdJag(TokenFlaw::Audience)));
    idp.request();

    let other = json!({
        "access_token": "canary", "token_type": "Bearer",
        "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
    });
    let idp = provider(|_| Answer::json(200, &other));
    let error = exchanged(&idp, &idp.server(), &who(&idp.issuer()), AUDIENCE).await.unwrap_err();
    assert!(matches!(error, ExchangeError::NoIdJag { .. }));
    assert!(!format!("{error:?} {error}").contains("canary"));
    idp.request();
}

// A6
#[tokio::test]
async fn provider_that_needs_a_new_sign_in_is_distinguished_from_a_refusal() {
    let table = [
        ("invalid_grant", true),
        ("interaction_required", true),
        ("access_denied", false),
        ("invalid_target", false),
    ];
    for (code, needs_sign_in) in table {
        let idp = provider(|_| Answer::json(400, &json!({"error": code})));
        let error = exchanged(&idp, &idp.server(), &who(&idp.issuer()), AUDIENCE).await.unwrap_err();
        assert_eq!(error.needs_sign_in(), needs_sign_in, "{code}");
        assert_eq!(error.hint().is_some(), needs_sign_in, "{code}");
        idp.request();
    }
}
