//! Signing in: in a browser, by a pasted address, on another device; and the state after a failed sign-in.

use std::sync::Arc;

use mcparley_auth::{Account, SignInError, SignInMethod, SignInStatus};
use mcparley_model::config::{ConfiguredGrant, ConfiguredSecret, OauthConfig};
use mcparley_model::explain::Explain as _;
use mcparley_model::name::ServerName;
use mcparley_model::secret::Secret;
use mcparley_testkit::{AuthServer, STATIC_CLIENT, STATIC_SECRET};
use mcparley_wire::Failure;
use serde_json::{Value, json};

use crate::renewals::carried;
use crate::signing::{Signing, accounts, browse, last_address, open, remote, sign_in};
use crate::token_requests::pem;

fn configured() -> OauthConfig {
    OauthConfig {
        client_id: Some(STATIC_CLIENT.to_owned()),
        client_secret: Some(Secret::new(STATIC_SECRET.to_owned())),
        ..OauthConfig::default()
    }
}

fn token(account: &mcparley_wire::authorizer::Credentials) -> String {
    account.token.as_ref().unwrap().expose().clone()
}

// A1 F44
#[tokio::test]
async fn user_signs_in_in_a_browser_by_the_protocol() {
    let signing = Signing::start(&["scope:read write"]);
    let account = signing.account();
    let refused = signing.request(&account).await;
    assert!(matches!(refused, Err(Failure::Unauthorized { .. })), "{refused:?}");
    assert!(matches!(account.sign_in_status().await.unwrap(), SignInStatus::SignedOut));
    let flow = account.begin_sign_in(SignInMethod::Browser).await.unwrap();
    let second = account.begin_sign_in(SignInMethod::Browser).await.unwrap();
    assert_eq!(flow.page().map(|page| page.as_str()), second.page().map(|page| page.as_str()), "it joins");
    let page = browse(&flow).await;
    assert_eq!(page.status, 200);
    assert!(!page.text().contains("canary"), "{}", page.text());
    flow.wait_until_done().await.unwrap();
    second.wait_until_done().await.unwrap();
    assert_eq!(signing.request(&account).await.unwrap(), "hi");
    let stats = signing.server.stats();
    let asked = &stats["last"]["authorize"];
    assert_eq!(asked["code_challenge_method"], "S256");
    assert_eq!(asked["resource"], signing.server.url());
    assert_eq!(asked["scope"], "read write");
    assert!(asked["state"].as_str().unwrap().len() >= 22, "{asked}");
    assert_eq!(stats["last"]["token"]["resource"], signing.server.url());
    assert_eq!((stats["grants"]["authorization_code"].as_u64(), &stats["errors"]), (Some(1), &json!({})));
    let standing = account.sign_in_status().await.unwrap();
    let SignInStatus::SignedIn { issuer, renews: true, scopes, .. } = standing else { unreachable!() };
    assert_eq!((issuer.raw(), scopes.len()), (signing.server.issuer(), 2));
}

// A8
#[tokio::test]
async fn wrong_pasted_address_is_refused_and_the_right_one_signs_in() {
    let signing = Signing::start(&[]);
    let account = signing.account();
    let flow = account.begin_sign_in(SignInMethod::Browser).await.unwrap();
    let address = last_address(&flow).await;
    let other = address.replacen("state=", "state=x", 1);
    for wrong in ["", "nonsense", "https://evil.example/cb?code=canary-1&state=x", other.as_str()] {
        let error = flow.paste_address(wrong).await.unwrap_err();
        assert!(!format!("{error:?} {error} {:?}", error.hint()).contains("canary"), "{error:?}");
    }
    flow.paste_address(&format!("  {address}\n")).await.unwrap();
    flow.wait_until_done().await.unwrap();
    assert_eq!(signing.request(&account).await.unwrap(), "hi");
    assert!(flow.paste_address(&address).await.is_err(), "it is over");
    assert!(account.running_flow().await.is_none());
}

// A3 B74 H33
#[tokio::test]
async fn failed_sign_in_keeps_the_working_tokens() {
    for lie in
        ["authorize:access_denied", "iss:wrong", "token:500", "token-error:invalid_grant", "token-type:mac"]
    {
        let signing = Signing::start(&["iss-advertised:yes"]);
        let account = signing.signed_in().await;
        let before = token(&carried(&account).await);
        signing.server.apply_lies(&[lie]);
        let error = sign_in(&account).await.unwrap_err();
        assert!(!format!("{error:?} {}", error.to_single_line()).contains("canary-code"), "{lie}: {error:?}");
        if lie == "iss:wrong" {
            assert!(!error.to_single_line().contains("evil"), "{}", error.to_single_line());
        }
        for account in [&account, &signing.account()] {
            assert_eq!(token(&carried(account).await), before, "{lie}");
        }
        assert_eq!(signing.request(&account).await.unwrap(), "hi", "{lie}");
        signing.server.apply_lies(&["token:good", "token-error:", "token-type:Bearer"]);
        signing.server.expire_access_tokens();
        assert_eq!(signing.request(&account).await.unwrap(), "hi", "{lie}: it is still renewed");
    }
}

// A1 A3
#[tokio::test]
async fn registration_is_reused_for_its_issuer_only() {
    let signing = Signing::start(&["register-method:client_secret_post"]);
    let account = signing.signed_in().await;
    signing.server.expire_access_tokens();
    assert_eq!(signing.request(&account).await.unwrap(), "hi");
    let refreshed = signing.server.stats()["last"]["token"].clone();
    assert_eq!(refreshed["grant_type"], "refresh_token");
    assert!(refreshed["client_secret"].as_str().unwrap().starts_with("canary-secret"), "{refreshed}");
    sign_in(&signing.account()).await.unwrap();
    assert_eq!(signing.requests("register"), 1, "the same");
    signing.server.apply_lies(&["issuer-path:/tenant2"]);
    sign_in(&account).await.unwrap();
    assert_eq!(signing.requests("register"), 2, "another issuer");
    assert_eq!(signing.request(&account).await.unwrap(), "hi");
}

// A3
#[tokio::test]
async fn unknown_registration_is_replaced_without_losing_working_tokens() {
    let signing = Signing::start(&[]);
    let account = signing.signed_in().await;
    signing.server.apply_lies(&["token-error:invalid_client"]);
    sign_in(&account).await.unwrap_err();
    assert_eq!(signing.request(&account).await.unwrap(), "hi");
    signing.server.apply_lies(&["token-error:"]);
    sign_in(&account).await.unwrap();
    assert_eq!(signing.requests("register"), 2);
}

// H33 B78
#[tokio::test]
async fn configured_client_is_not_sent_to_another_issuer() {
    let signed = OauthConfig { grant: ConfiguredGrant::ClientCredentials, ..configured() };
    for oauth in [configured(), signed] {
        let is_person = oauth.grant == ConfiguredGrant::Person;
        let signing = Signing::start(&[]);
        let account = signing.account_as(oauth);
        match is_person {
            true => sign_in(&account).await.unwrap(),
            false => {
                account.begin_sign_in(SignInMethod::Browser).await.unwrap().wait_until_done().await.unwrap()
            }
        }
        signing.server.apply_lies(&["issuer-path:/evil"]);
        let (asked, grants) = (signing.requests("authorize"), signing.requests("token"));
        let error = match account.begin_sign_in(SignInMethod::Browser).await {
            Ok(flow) => Arc::unwrap_or_clone(flow.wait_until_done().await.unwrap_err()),
            Err(error) => error,
        };
        let text = error.to_single_line();
        assert!(text.contains("/evil") && text.contains("the configured client belongs to"), "{text}");
        assert_eq!((signing.requests("authorize"), signing.requests("token")), (asked, grants));
        assert_eq!(signing.request(&account).await.unwrap(), "hi");
    }
}

// B78
#[tokio::test]
async fn sign_in_is_not_shared_with_another_url_name_or_client() {
    let signing = Signing::start(&[]);
    signing.signed_in().await;
    let other = AuthServer::start(&[]);
    let named = |name: &str, url: &str, oauth: OauthConfig| {
        signing.accounts().account_for(&ServerName::new(name), &remote(url, oauth))
    };
    let accounts: [Account; 3] = [
        named("shared", other.url(), OauthConfig::default()),
        named("another", signing.server.url(), OauthConfig::default()),
        named("shared", signing.server.url(), configured()),
    ];
    for account in accounts {
        assert_eq!(carried(&account).await.token, None);
        assert!(!account.has_tokens().await);
    }
}

// A8
#[tokio::test]
async fn a_person_signs_in_on_another_device() {
    let signing = Signing::start(&["device-interval:1", "device-pending:1"]);
    let account = signing.account();
    let flow = account.begin_sign_in(SignInMethod::Device).await.unwrap();
    assert!(flow.user_code().is_some());
    open(flow.page().unwrap().as_str()).await;
    flow.wait_until_done().await.unwrap();
    assert_eq!(signing.request(&account).await.unwrap(), "hi");
    signing.server.apply_lies(&["device-end:access_denied"]);
    let again = account.begin_sign_in(SignInMethod::Device).await.unwrap();
    assert!(matches!(again.wait_until_done().await.unwrap_err().as_ref(), SignInError::Device(_)));
    assert_eq!(signing.request(&account).await.unwrap(), "hi", "what worked still works");
}

// A8 A3
#[tokio::test]
async fn program_signs_in_at_the_first_refusal_and_after_expiry() {
    let secret = |methods: &'static str| {
        (methods, OauthConfig { grant: ConfiguredGrant::ClientCredentials, ..configured() })
    };
    let by_key = OauthConfig {
        client_secret: None,
        private_key: Some(ConfiguredSecret::Inline(pem().0)),
        ..secret("").1
    };
    for (methods, oauth) in
        [secret("client_secret_basic"), secret("client_secret_post"), ("private_key_jwt", by_key)]
    {
        let signing = Signing::start(&[&format!("auth-methods:{methods}")]);
        let account = signing.account_as(oauth);
        assert_eq!(signing.request(&account).await.unwrap(), "hi", "{methods}");
        let asked = signing.server.stats()["last"]["token"].clone();
        assert_eq!(asked["(method)"], methods, "{asked}");
        assert_eq!(asked["resource"], signing.server.url());
        signing.server.expire_access_tokens();
        let connected = signing.connect(&account).await.unwrap();
        assert_eq!(signing.grants("client_credentials"), 2, "{methods}");
        drop(connected);
        assert_eq!(
            signing
                .request(
                    &signing.account_as(OauthConfig {
                        grant: ConfiguredGrant::ClientCredentials,
                        ..configured()
                    })
                )
                .await
                .unwrap(),
            "hi",
            "another process has the same token"
        );
        assert_eq!(signing.grants("client_credentials"), 2, "{methods}");
        assert_eq!(signing.requests("authorize"), 0);
    }
}

// F45 A8
#[tokio::test(flavor = "multi_thread")]
async fn hundred_requests_of_a_program_share_one_token_request() {
    let signing = Arc::new(Signing::start(&["token-after:50"]));
    let account =
        signing.account_as(OauthConfig { grant: ConfiguredGrant::ClientCredentials, ..configured() });
    let requests: Vec<_> = (0..100)
        .map(|_| {
            let (signing, account) = (Arc::clone(&signing), account.clone());
            tokio::spawn(async move { signing.request(&account).await })
        })
        .collect();
    for request in requests {
        assert_eq!(request.await.unwrap().unwrap(), "hi");
    }
    assert_eq!(signing.grants("client_credentials"), 1);
}

/// An unsigned assertion, which the fake server accepts.
fn assertion(claims: &Value) -> ConfiguredSecret {
    use base64::Engine as _;
    let part = |value: &Value| base64::prelude::BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    ConfiguredSecret::Inline(Secret::new(format!(
        "{}.{}.canary",
        part(&json!({ "alg": "ES256" })),
        part(claims)
    )))
}

// A8
#[tokio::test]
async fn workload_signs_in_with_its_assertion() {
    let signing = Signing::start(&[]);
    let later = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() + 600;
    let claims = json!({ "aud": signing.server.issuer(), "exp": later, "sub": "workload" });
    let oauth = OauthConfig {
        grant: ConfiguredGrant::JwtBearer,
        assertion: Some(assertion(&claims)),
        ..configured()
    };
    let account = signing.account_as(oauth);
    assert_eq!(signing.request(&account).await.unwrap(), "hi");
    let nothing = signing.account_as(OauthConfig {
        grant: ConfiguredGrant::JwtBearer,
        client_id: Some("x".into()),
        ..OauthConfig::default()
    });
    let Err(Failure::Refused { reason, hint, .. }) = signing.request(&nothing).await else { unreachable!() };
    assert!(reason.contains("no assertion is configured"), "{reason}");
    assert!(hint.unwrap().contains("oauth.assertion"));
}

// F84 A2
#[tokio::test]
async fn without_a_secret_store_the_user_is_not_asked_and_requests_have_no_token() {
    use mcparley_auth::vault::{KeyStorage, Vault, VaultSettings};
    let signing = Signing::start(&[]);
    std::fs::create_dir_all(signing.folder()).unwrap();
    // An invalid key.
    let storage = KeyStorage::Environment(Secret::new("canary-short".to_owned()));
    let vault = Vault::new(VaultSettings { storage, ..VaultSettings::new(signing.folder()) });
    let accounts = accounts(Some(vault));
    let account = accounts
        .account_for(&ServerName::new("shared"), &remote(signing.server.url(), OauthConfig::default()));
    assert_eq!(carried(&account).await.token, None);
    let error = account.begin_sign_in(SignInMethod::Browser).await.unwrap_err();
    assert!(matches!(error, SignInError::Vault(_)), "{error:?}");
    assert!(!format!("{error:?} {}", error.to_single_line()).contains("canary"), "{error:?}");
    assert_eq!(signing.requests("register"), 0);
    assert!(matches!(signing.request(&account).await, Err(Failure::Unauthorized { .. })));
}

// A3
#[tokio::test]
async fn sign_out_revokes_tokens_and_other_processes_notice() {
    let signing = Signing::start(&[]);
    let account = signing.signed_in().await;
    let other = signing.account();
    assert_eq!(signing.request(&other).await.unwrap(), "hi");
    let out = account.sign_out().await.unwrap();
    assert!(out.revoked.is_some());
    assert!(signing.requests("revoke") >= 1);
    for account in [&account, &other] {
        assert!(matches!(signing.request(account).await, Err(Failure::Unauthorized { .. })));
    }
    assert_eq!(signing.grants("refresh_token"), 0);
}

/// A port that is free now.
fn free_port() -> u16 {
    std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

// F100
#[tokio::test]
async fn concurrent_sign_ins_do_not_mix_and_a_used_port_is_reported() {
    let (first, second) = (Signing::start(&[]), Signing::start(&[]));
    let free = [first.account(), second.account()];
    let flows = [
        free[0].begin_sign_in(SignInMethod::Browser).await.unwrap(),
        free[1].begin_sign_in(SignInMethod::Browser).await.unwrap(),
    ];
    let crossed = flows[0].paste_address(&last_address(&flows[1]).await).await.unwrap_err();
    assert!(matches!(crossed, SignInError::OtherAttempt | SignInError::Pasted(_)), "{crossed:?}");
    for (flow, signing) in flows.iter().zip([&first, &second]) {
        browse(flow).await;
        flow.wait_until_done().await.unwrap();
        assert_eq!(signing.grants("authorization_code"), 1);
    }

    let fixed = OauthConfig {
        callback_port: Some(free_port()),
        client_id: Some(STATIC_CLIENT.to_owned()),
        ..configured()
    };
    let accounts = [first.account_as(fixed.clone()), second.account_as(fixed)];
    let flow = accounts[0].begin_sign_in(SignInMethod::Browser).await.unwrap();
    let error = accounts[1].begin_sign_in(SignInMethod::Browser).await.unwrap_err();
    assert!(matches!(error, SignInError::Callback(_)), "{error:?}");
    assert!(error.hint().is_some());
    browse(&flow).await;
    flow.wait_until_done().await.unwrap();
    sign_in(&accounts[1]).await.unwrap();
}

// A1
#[tokio::test]
async fn one_login_registers_once_and_never_in_vain() {
    let signing = Signing::start(&["device-url:absent"]);
    let account = signing.account();
    let error = account.begin_sign_in(SignInMethod::Device).await.unwrap_err();
    assert!(matches!(error, SignInError::Device(_)), "{error:?}");
    assert_eq!(signing.requests("register"), 0);
    sign_in(&account).await.unwrap();
    assert_eq!(signing.requests("register"), 1);
}

// A1 C10
#[tokio::test]
async fn resource_parameter_is_left_out_where_the_entry_says_so() {
    let signing = Signing::start(&[]);
    let account = signing.account_as(OauthConfig { omit_resource: true, ..OauthConfig::default() });
    sign_in(&account).await.unwrap();
    let stats = signing.server.stats();
    assert!(stats["last"]["authorize"]["client_id"].is_string(), "{stats}");
    assert_eq!(stats["last"]["authorize"]["resource"], Value::Null);
    assert_eq!(stats["last"]["token"]["resource"], Value::Null);
    signing.server.expire_access_tokens();
    assert_eq!(signing.request(&account).await.unwrap(), "hi");
    let renewed = signing.server.stats()["last"]["token"].clone();
    assert_eq!((&renewed["grant_type"], &renewed["resource"]), (&json!("refresh_token"), &Value::Null));
}

// A1
#[tokio::test]
async fn server_without_sign_in_gets_a_hint_about_headers() {
    let signing =
        Signing::start(&["challenge:bare", "prm-body:none", "metadata-body:none", "register:absent"]);
    let error = sign_in(&signing.account()).await.unwrap_err();
    assert_eq!(error.to_single_line(), "the server requires a token but offers no sign-in");
    assert!(error.hint().unwrap().contains(r#""headers": {"Authorization": "Bearer ${TOKEN}"}"#));
}

// A8
#[tokio::test]
async fn program_is_recognized_by_the_grants_the_server_supports() {
    let signing = Signing::start(&["grants:client_credentials"]);
    let account = signing.account_as(configured());
    assert_eq!(signing.request(&account).await.unwrap(), "hi");
    assert!(!account.needs_user());
    assert_eq!((signing.grants("client_credentials"), signing.requests("authorize")), (1, 0));
    signing.server.expire_access_tokens();
    assert_eq!(signing.request(&signing.account_as(configured())).await.unwrap(), "hi");
    // A server with a sign-in page wants the user, even if the client has credentials.
    let other = Signing::start(&[]);
    let refused = other.request(&other.account_as(configured())).await;
    assert!(matches!(refused, Err(Failure::Unauthorized { .. })), "{refused:?}");
}
