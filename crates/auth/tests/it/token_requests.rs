//! Token requests, byte for byte, and the handling of their responses.

use std::time::SystemTime;

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, UnparsedPublicKey,
};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use mcparley_auth::client::{ClientAuthMethod, OAuthClient};
use mcparley_auth::dpop::{Possession, Prover, TokenBinding};
use mcparley_auth::grant::{
    ClientAuthError, OAuthErrorCode, TokenError, TokenGrant, TokenRequest, TokenRequestKeys, TokenResponse,
    request_tokens,
};
use mcparley_auth::jwt::SigningKey;
use mcparley_auth::tokens::Kind;
use mcparley_auth::web::WebError;
use mcparley_model::limits::RENEWAL_TIME;
use mcparley_model::secret::Secret;
use serde_json::json;
use tokio::time::Instant;
use url::Url;

use crate::counter::{Answer, Counter, Request, client, opened, secret};

const RESOURCE: &str = "https://mcp.example/mcp";

fn bearer() -> Answer {
    Answer::json(200, &json!({"access_token": "canary-access", "token_type": "Bearer", "expires_in": 3600}))
}

async fn sent(client: &OAuthClient, grant: TokenGrant<'_>, scopes: &[&str]) -> Request {
    let counter = Counter::open(vec![bearer()]);
    let granted = asked(&counter, client, grant, scopes, &TokenRequestKeys::default()).await;
    assert_eq!(granted.unwrap().tokens.access, secret("canary-access"));
    counter.request()
}

async fn asked(
    counter: &Counter,
    client: &OAuthClient,
    grant: TokenGrant<'_>,
    scopes: &[&str],
    keys: &TokenRequestKeys<'_>,
) -> Result<TokenResponse, TokenError> {
    let (server, scopes) =
        (counter.server(), scopes.iter().map(|&scope| scope.to_owned()).collect::<Vec<_>>());
    let request = TokenRequest { server: &server, client, grant, resource: Some(RESOURCE), scopes: &scopes };
    request_tokens(&counter.web(), &request, keys, SystemTime::now()).await
}

// A1
#[tokio::test]
async fn code_is_sent_with_its_verifier_and_redirect() {
    let redirect = Url::parse("http://127.0.0.1:7777/callback").unwrap();
    let (code, verifier) = (secret("canary code+/"), secret("canary-verifier"));
    let grant = TokenGrant::Code { code: &code, verifier: &verifier, redirect: &redirect };
    let request = sent(&client(ClientAuthMethod::Nothing), grant, &["not", "sent"]).await;
    assert_eq!(request.line, "POST /token HTTP/1.1");
    assert_eq!(request.header("content-type"), Some("application/x-www-form-urlencoded"));
    assert_eq!(request.header("accept"), Some("application/json"));
    assert_eq!((request.header("authorization"), request.header("dpop")), (None, None));
    request.assert_form(&[
        ("grant_type", "authorization_code"),
        ("code", "canary code+/"),
        ("code_verifier", "canary-verifier"),
        ("redirect_uri", "http://127.0.0.1:7777/callback"),
        ("resource", RESOURCE),
        ("client_id", "client"),
    ]);
}

// A3
#[tokio::test]
async fn refresh_sends_no_scopes_and_keeps_the_old_refresh_token() {
    let counter = Counter::open(vec![bearer()]);
    let token = secret("canary-refresh");
    let client = client(ClientAuthMethod::Nothing);
    let grant = TokenGrant::Refresh { token: &token };
    let granted = asked(&counter, &client, grant, &["had"], &TokenRequestKeys::default()).await.unwrap();
    assert_eq!(granted.tokens.refresh, Some(token));
    assert_eq!(granted.tokens.scopes, ["had"]);
    counter.request().assert_form(&[
        ("grant_type", "refresh_token"),
        ("refresh_token", "canary-refresh"),
        ("resource", RESOURCE),
        ("client_id", "client"),
    ]);
}

// A8
#[tokio::test]
async fn a_secret_goes_into_the_header_or_into_the_form_and_never_into_both() {
    let mut basic = client(ClientAuthMethod::Basic);
    basic.id = "a:b c".to_owned();
    basic.secret = Some(secret("s/ä+%"));
    let request = sent(&basic, TokenGrant::ClientCredentials, &["read", "write"]).await;
    let shown = format!("Basic {}", STANDARD.encode("a%3Ab+c:s%2F%C3%A4%2B%25"));
    assert_eq!(request.header("authorization"), Some(shown.as_str()));
    let common = [("grant_type", "client_credentials"), ("scope", "read write"), ("resource", RESOURCE)];
    // The Python SDK expects the id in the form, even with a header.
    request.assert_form(&[&common[..], &[("client_id", "a:b c")]].concat());
    let request =
        sent(&client(ClientAuthMethod::Post), TokenGrant::ClientCredentials, &["read", "write"]).await;
    assert_eq!(request.header("authorization"), None);
    request
        .assert_form(&[&common[..], &[("client_id", "client"), ("client_secret", "canary-secret")]].concat());
}

// A1
#[tokio::test]
async fn refused_client_retries_once_with_the_other_auth_method() {
    let refused = || Answer::json(401, &json!({"error": "invalid_client"}));
    for (proof, other) in
        [(ClientAuthMethod::Basic, ClientAuthMethod::Post), (ClientAuthMethod::Post, ClientAuthMethod::Basic)]
    {
        let counter = Counter::open(vec![refused(), bearer()]);
        let granted =
            asked(&counter, &client(proof), TokenGrant::ClientCredentials, &[], &TokenRequestKeys::default())
                .await
                .unwrap();
        assert_eq!(granted.proof, other);
        let shown = |request: &crate::counter::Request| match request.header("authorization") {
            Some(_) => ClientAuthMethod::Basic,
            None => ClientAuthMethod::Post,
        };
        let requests = counter.requests();
        assert_eq!(requests.iter().map(shown).collect::<Vec<_>>(), [proof, other]);
        assert!(requests.iter().all(|request| request.parameter("client_id") == "client"));

        let counter = Counter::open(vec![refused(), refused()]);
        let error =
            asked(&counter, &client(proof), TokenGrant::ClientCredentials, &[], &TokenRequestKeys::default())
                .await
                .unwrap_err();
        assert_eq!(error.code(), Some(&OAuthErrorCode::InvalidClient));
        assert_eq!(counter.requests().len(), 2);
    }
    // Other errors are not about authentication, and a client without a secret has no other method.
    let denied = Answer::json(400, &json!({"error": "invalid_grant"}));
    for (answer, proof) in [(denied, ClientAuthMethod::Basic), (refused(), ClientAuthMethod::Nothing)] {
        let counter = Counter::open(vec![answer]);
        asked(&counter, &client(proof), TokenGrant::ClientCredentials, &[], &TokenRequestKeys::default())
            .await
            .unwrap_err();
        counter.request();
    }
}

// A8
#[tokio::test]
async fn assertion_is_sent_once_and_not_repeated_after_a_refusal() {
    let refused = json!({"error": "invalid_grant", "error_description": "canary-assertion has ended"});
    let counter = Counter::open(vec![Answer::json(400, &refused)]);
    let assertion = secret("canary-assertion");
    let grant = TokenGrant::JwtBearer { assertion: &assertion };
    let error = asked(&counter, &client(ClientAuthMethod::Nothing), grant, &[], &TokenRequestKeys::default())
        .await
        .unwrap_err();
    assert_eq!(error.code(), Some(&OAuthErrorCode::InvalidGrant));
    assert_eq!(error.to_string(), "the authorization server refused: `invalid_grant`: *** has ended");
    counter.request().assert_form(&[
        ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
        ("assertion", "canary-assertion"),
        ("resource", RESOURCE),
        ("client_id", "client"),
    ]);
}

/// A key in PEM.
pub(crate) fn pem() -> (Secret<String>, EcdsaKeyPair) {
    let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
    let pem = STANDARD.encode(pair.to_pkcs8v1().unwrap());
    (secret(&format!("-----BEGIN PRIVATE KEY-----\n{pem}\n-----END PRIVATE KEY-----\n")), pair)
}

/// A signing key, and its public half.
fn key() -> (SigningKey, Vec<u8>) {
    let (pem, pair) = pem();
    (SigningKey::from_pem(&pem).unwrap(), pair.public_key().as_ref().to_vec())
}

// A8
#[tokio::test]
async fn client_with_a_key_signs_an_assertion_for_the_issuer() {
    let counter = Counter::open(vec![bearer()]);
    let issuer = counter.issuer();
    let (key, public) = key();
    let keys = TokenRequestKeys { signing: Some(&key), ..TokenRequestKeys::default() };
    asked(&counter, &client(ClientAuthMethod::Signature), TokenGrant::ClientCredentials, &[], &keys)
        .await
        .unwrap();
    let request = counter.request();
    let names: Vec<_> = request.form().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["grant_type", "resource", "client_id", "client_assertion_type", "client_assertion"]);
    let kind = request.parameter("client_assertion_type");
    assert_eq!(kind, "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    let assertion = request.parameter("client_assertion");
    let (message, signature) = assertion.rsplit_once('.').unwrap();
    let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
    UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, public).verify(message.as_bytes(), &signature).unwrap();
    let (header, claims) = opened(&assertion);
    assert_eq!(header, json!({"alg": "ES256", "typ": "JWT"}));
    assert_eq!([&claims["iss"], &claims["sub"], &claims["aud"]], ["client", "client", &issuer]);
    assert_eq!(claims["jti"].as_str().unwrap().len(), 22);
    let life = claims["exp"].as_u64().unwrap() - claims["iat"].as_u64().unwrap();
    assert!(life <= 300, "{life}");
}

// A8
#[tokio::test]
async fn client_that_cannot_authenticate_sends_no_request() {
    let (key, _) = key();
    let secretless = OAuthClient { secret: None, ..client(ClientAuthMethod::Basic) };
    let counter = Counter::open(vec![]);
    let mut server = counter.server();
    server.signing = Some(vec!["RS256".to_owned()]);
    let keys = TokenRequestKeys { signing: Some(&key), ..TokenRequestKeys::default() };
    let table = [
        (secretless, keys, ClientAuthError::NoSecret),
        (client(ClientAuthMethod::Signature), TokenRequestKeys::default(), ClientAuthError::NoKey),
        (client(ClientAuthMethod::Signature), keys, ClientAuthError::Algorithm { ours: "ES256" }),
    ];
    for (client, keys, wanted) in table {
        let grant = TokenGrant::ClientCredentials;
        let request = TokenRequest { server: &server, client: &client, grant, resource: None, scopes: &[] };
        let error = request_tokens(&counter.web(), &request, &keys, SystemTime::now()).await.unwrap_err();
        assert!(matches!(error, TokenError::Proof(error) if error == wanted));
    }
    assert!(counter.requests().is_empty());
}

// A1
#[tokio::test]
async fn request_is_repeated_once_with_the_demanded_nonce() {
    let wants = |nonce| Answer::json(400, &json!({"error": "use_dpop_nonce"})).with("DPoP-Nonce", nonce);
    let bound = json!({"access_token": "at", "token_type": "DPoP"});
    let counter = Counter::open(vec![wants("first"), Answer::json(200, &bound).with("DPoP-Nonce", "second")]);
    let prover = Prover::generate().unwrap();
    let keys = TokenRequestKeys {
        possession: Possession::new(TokenBinding::Required, &prover),
        ..TokenRequestKeys::default()
    };
    let code = secret("code");
    let grant = TokenGrant::Device { code: &code };
    let granted = asked(&counter, &client(ClientAuthMethod::Nothing), grant, &[], &keys).await.unwrap();
    assert_eq!(granted.tokens.kind, Kind::Dpop);
    let token_endpoint = counter.server().token_endpoint;
    let requests = counter.requests();
    let proofs: Vec<_> = requests.iter().map(|request| opened(request.header("dpop").unwrap()).1).collect();
    assert_eq!((&proofs[0]["nonce"], &proofs[1]["nonce"]), (&json!(null), &json!("first")));
    assert_ne!(proofs[0]["jti"], proofs[1]["jti"]);
    assert_eq!([&proofs[1]["htm"], &proofs[1]["htu"]], ["POST", token_endpoint.as_str()]);
    assert_eq!(requests[0].form(), requests[1].form());

    let counter = Counter::open(vec![wants("third"), wants("fourth")]);
    let error = asked(&counter, &client(ClientAuthMethod::Nothing), grant, &[], &keys).await.unwrap_err();
    assert_eq!(error.code(), Some(&OAuthErrorCode::UseDpopNonce));
    counter.requests();
}

// A1
#[tokio::test]
async fn invalid_nonce_causes_no_retry() {
    let wants = || Answer::json(400, &json!({"error": "use_dpop_nonce"}));
    let prover = Prover::generate().unwrap();
    let bound = TokenRequestKeys { possession: Possession::Offered(&prover), ..TokenRequestKeys::default() };
    for (answer, keys) in [
        (wants(), bound),
        (wants().with("DPoP-Nonce", "a b"), bound),
        (wants().with("DPoP-Nonce", "good"), TokenRequestKeys::default()),
    ] {
        let counter = Counter::open(vec![answer]);
        let error =
            asked(&counter, &client(ClientAuthMethod::Nothing), TokenGrant::ClientCredentials, &[], &keys)
                .await;
        assert_eq!(error.unwrap_err().code(), Some(&OAuthErrorCode::UseDpopNonce));
        counter.request();
    }
}

// B77
#[tokio::test]
async fn redirect_of_a_token_endpoint_is_not_followed() {
    let elsewhere = Counter::open(vec![]);
    let address: &'static str = String::leak(format!("{}/token", elsewhere.issuer()));
    for status in [301, 302, 303, 307, 308] {
        let counter = Counter::open(vec![Answer::new(status, "").with("Location", address)]);
        let error = asked(
            &counter,
            &client(ClientAuthMethod::Post),
            TokenGrant::ClientCredentials,
            &[],
            &TokenRequestKeys::default(),
        )
        .await;
        assert!(!error.unwrap_err().is_grant_dead());
        counter.request();
    }
    assert!(elsewhere.requests().is_empty());
}

// B62
#[tokio::test]
async fn sent_and_received_secrets_are_not_shown() {
    let refused = || {
        Answer::json(
            401,
            &json!({"error": "invalid_client", "error_description": "canary-secret canary-refresh"}),
        )
    };
    let counter = Counter::open(vec![bearer(), refused(), refused()]);
    let (client, token, server) =
        (client(ClientAuthMethod::Post), secret("canary-refresh"), counter.server());
    let grant = TokenGrant::Refresh { token: &token };
    let request = TokenRequest { server: &server, client: &client, grant, resource: None, scopes: &[] };
    let granted = request_tokens(&counter.web(), &request, &TokenRequestKeys::default(), SystemTime::now())
        .await
        .unwrap();
    let error = request_tokens(&counter.web(), &request, &TokenRequestKeys::default(), SystemTime::now())
        .await
        .unwrap_err();
    let seen = format!("{request:?} {granted:?} {error:?} {error}");
    assert!(!seen.contains("canary"), "{seen}");
    counter.requests();
}

// F81 A3
#[tokio::test(start_paused = true)]
async fn silent_server_times_out_without_invalidating_the_grant() {
    let silent = Counter::open(vec![]);
    let token = secret("canary-refresh");
    let (client, begin) = (client(ClientAuthMethod::Nothing), Instant::now());
    let grant = TokenGrant::Refresh { token: &token };
    let error = asked(&silent, &client, grant, &[], &TokenRequestKeys::default()).await.unwrap_err();
    assert!(matches!(error, TokenError::Web(WebError::TimedOut { .. })), "{error:?}");
    assert_eq!((error.is_transient(), error.is_grant_dead()), (true, false));
    assert!(begin.elapsed() < RENEWAL_TIME / 2, "{:?}", begin.elapsed());
}
