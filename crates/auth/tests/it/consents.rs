//! Signing in: in a browser, by a pasted address, on another device; and what a sign-in that fails leaves alone.

use std::sync::Arc;

use mcparley_auth::{Account, SignInError, SignInStanding, Way};
use mcparley_model::config::{Grant, Held, Oauth};
use mcparley_model::explain::Explain as _;
use mcparley_model::name::ServerName;
use mcparley_model::secret::Secret;
use mcparley_testkit::{AuthServer, STATIC_CLIENT, STATIC_SECRET};
use mcparley_wire::Failure;
use serde_json::{Value, json};

use crate::renewals::carried;
use crate::signing::{Signing, accounts, browse, last_address, open, remote, sign_in};
use crate::token_requests::pem;

fn configured() -> Oauth {
    Oauth {
        client_id: Some(STATIC_CLIENT.to_owned()),
        client_secret: Some(Secret::new(STATIC_SECRET.to_owned())),
        ..Oauth::default()
    }
}

fn token(account: &mcparley_wire::authorizer::Credentials) -> String {
    account.token.as_ref().unwrap().expose().clone()
}

// A1 F44
#[tokio::test]
async fn a_person_signs_in_in_a_browser_and_every_part_of_the_protocol_is_kept() {
    let signing = Signing::start(&["scope:read write"]);
    let account = signing.account();
    let refused = signing.request(&account).await;
    assert!(matches!(refused, Err(Failure::Unauthorized { .. })), "{refused:?}");
    assert!(matches!(account.standing().await.unwrap(), SignInStanding::SignedOut));
    let flow = account.begin(Way::Browser).await.unwrap();
    let second = account.begin(Way::Browser).await.unwrap();
    assert_eq!(flow.page().map(|page| page.as_str()), second.page().map(|page| page.as_str()), "it joins");
    let page = browse(&flow).await;
    assert_eq!(page.status, 200);
    assert!(!page.text().contains("canary"), "{}", page.text());
    flow.wait().await.unwrap();
    second.wait().await.unwrap();
    assert_eq!(signing.request(&account).await.unwrap(), "hi");
    let stats = signing.server.stats();
    let asked = &stats["last"]["authorize"];
    assert_eq!(asked["code_challenge_method"], "S256");
    assert_eq!(asked["resource"], signing.server.url());
    assert_eq!(asked["scope"], "read write");
    assert!(asked["state"].as_str().unwrap().len() >= 22, "{asked}");
    assert_eq!(stats["last"]["token"]["resource"], signing.server.url());
    assert_eq!((stats["grants"]["authorization_code"].as_u64(), &stats["errors"]), (Some(1), &json!({})));
    let standing = account.standing().await.unwrap();
    let SignInStanding::SignedIn { issuer, renews: true, scopes, .. } = standing else { unreachable!() };
    assert_eq!((issuer.raw(), scopes.len()), (signing.server.issuer(), 2));
}

// A8
#[tokio::test]
async fn a_wrong_paste_keeps_waiting_and_the_right_one_signs_in() {
    let signing = Signing::start(&[]);
    let account = signing.account();
    let flow = account.begin(Way::Browser).await.unwrap();
    let address = last_address(&flow).await;
    let other = address.replacen("state=", "state=x", 1);
    for wrong in ["", "nonsense", "https://evil.example/cb?code=canary-1&state=x", other.as_str()] {
        let error = flow.paste(wrong).await.unwrap_err();
        assert!(!format!("{error:?} {error} {:?}", error.hint()).contains("canary"), "{error:?}");
    }
    flow.paste(&format!("  {address}\n")).await.unwrap();
    flow.wait().await.unwrap();
    assert_eq!(signing.request(&account).await.unwrap(), "hi");
    assert!(flow.paste(&address).await.is_err(), "it is over");
    assert!(account.running().await.is_none());
}

// A3 B74 H33
#[tokio::test]
async fn a_sign_in_that_fails_leaves_what_worked_alone() {
    for lie in
        ["authorize:access_denied", "iss:wrong", "token:500", "token-error:invalid_grant", "token-type:mac"]
    {
        let signing = Signing::start(&["iss-advertised:yes"]);
        let account = signing.signed_in().await;
        let before = token(&carried(&account).await);
        signing.server.tell(&[lie]);
        let error = sign_in(&account).await.unwrap_err();
        assert!(!format!("{error:?} {}", error.in_one_line()).contains("canary-code"), "{lie}: {error:?}");
        if lie == "iss:wrong" {
            assert!(!error.in_one_line().contains("evil"), "{}", error.in_one_line());
        }
        for account in [&account, &signing.account()] {
            assert_eq!(token(&carried(account).await), before, "{lie}");
        }
        assert_eq!(signing.request(&account).await.unwrap(), "hi", "{lie}");
        signing.server.tell(&["token:good", "token-error:", "token-type:Bearer"]);
        signing.server.expire_access_tokens();
        assert_eq!(signing.request(&account).await.unwrap(), "hi", "{lie}: it is still renewed");
    }
}

// A1 A3
#[tokio::test]
async fn a_registration_is_used_again_with_its_secret_and_made_anew_for_another_issuer() {
    let signing = Signing::start(&["register-method:client_secret_post"]);
    let account = signing.signed_in().await;
    signing.server.expire_access_tokens();
    assert_eq!(signing.request(&account).await.unwrap(), "hi");
    let refreshed = signing.server.stats()["last"]["token"].clone();
    assert_eq!(refreshed["grant_type"], "refresh_token");
    assert!(refreshed["client_secret"].as_str().unwrap().starts_with("canary-secret"), "{refreshed}");
    sign_in(&signing.account()).await.unwrap();
    assert_eq!(signing.requests("register"), 1, "the same");
    signing.server.tell(&["issuer-path:/tenant2"]);
    sign_in(&account).await.unwrap();
    assert_eq!(signing.requests("register"), 2, "another issuer");
    assert_eq!(signing.request(&account).await.unwrap(), "hi");
}

// A3
#[tokio::test]
async fn a_registration_that_is_not_known_any_more_is_made_anew_and_costs_no_token_that_works() {
    let signing = Signing::start(&[]);
    let account = signing.signed_in().await;
    signing.server.tell(&["token-error:invalid_client"]);
    sign_in(&account).await.unwrap_err();
    assert_eq!(signing.request(&account).await.unwrap(), "hi");
    signing.server.tell(&["token-error:"]);
    sign_in(&account).await.unwrap();
    assert_eq!(signing.requests("register"), 2);
}

// H33 B78
#[tokio::test]
async fn a_configured_client_is_shown_to_no_issuer_it_was_not_used_with() {
    let signed = Oauth { grant: Grant::ClientCredentials, ..configured() };
    for oauth in [configured(), signed] {
        let is_person = oauth.grant == Grant::Person;
        let signing = Signing::start(&[]);
        let account = signing.account_as(oauth);
        match is_person {
            true => sign_in(&account).await.unwrap(),
            false => account.begin(Way::Browser).await.unwrap().wait().await.unwrap(),
        }
        signing.server.tell(&["issuer-path:/evil"]);
        let (asked, grants) = (signing.requests("authorize"), signing.requests("token"));
        let error = match account.begin(Way::Browser).await {
            Ok(flow) => Arc::unwrap_or_clone(flow.wait().await.unwrap_err()),
            Err(error) => error,
        };
        let text = error.in_one_line();
        assert!(text.contains("/evil") && text.contains("the configured client belongs to"), "{text}");
        assert_eq!((signing.requests("authorize"), signing.requests("token")), (asked, grants));
        assert_eq!(signing.request(&account).await.unwrap(), "hi");
    }
}

// B78
#[tokio::test]
async fn another_url_another_name_and_another_client_have_no_part_in_a_sign_in() {
    let signing = Signing::start(&[]);
    signing.signed_in().await;
    let other = AuthServer::start(&[]);
    let named = |name: &str, url: &str, oauth: Oauth| {
        signing.accounts().of(&ServerName::new(name), &remote(url, oauth))
    };
    let accounts: [Account; 3] = [
        named("shared", other.url(), Oauth::default()),
        named("another", signing.server.url(), Oauth::default()),
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
    let flow = account.begin(Way::Device).await.unwrap();
    assert!(flow.user_code().is_some());
    open(flow.page().unwrap().as_str()).await;
    flow.wait().await.unwrap();
    assert_eq!(signing.request(&account).await.unwrap(), "hi");
    signing.server.tell(&["device-end:access_denied"]);
    let again = account.begin(Way::Device).await.unwrap();
    assert!(matches!(again.wait().await.unwrap_err().as_ref(), SignInError::Device(_)));
    assert_eq!(signing.request(&account).await.unwrap(), "hi", "what worked still works");
}

// A8 A3
#[tokio::test]
async fn a_program_signs_in_by_itself_at_the_first_refusal_and_again_when_its_token_ends() {
    let secret = |methods: &'static str| (methods, Oauth { grant: Grant::ClientCredentials, ..configured() });
    let by_key = Oauth { client_secret: None, private_key: Some(Held::Here(pem().0)), ..secret("").1 };
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
                .request(&signing.account_as(Oauth { grant: Grant::ClientCredentials, ..configured() }))
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
async fn a_hundred_requests_of_a_program_without_a_token_get_one() {
    let signing = Arc::new(Signing::start(&["token-after:50"]));
    let account = signing.account_as(Oauth { grant: Grant::ClientCredentials, ..configured() });
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

/// A statement nobody has signed, which the fake server takes for good.
fn assertion(claims: &Value) -> Held {
    use base64::Engine as _;
    let part = |value: &Value| base64::prelude::BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    Held::Here(Secret::new(format!("{}.{}.canary", part(&json!({ "alg": "ES256" })), part(claims))))
}

// A8
#[tokio::test]
async fn a_workload_shows_what_was_signed_for_it() {
    let signing = Signing::start(&[]);
    let later = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() + 600;
    let claims = json!({ "aud": signing.server.issuer(), "exp": later, "sub": "workload" });
    let oauth = Oauth { grant: Grant::JwtBearer, assertion: Some(assertion(&claims)), ..configured() };
    let account = signing.account_as(oauth);
    assert_eq!(signing.request(&account).await.unwrap(), "hi");
    let nothing = signing.account_as(Oauth {
        grant: Grant::JwtBearer,
        client_id: Some("x".into()),
        ..Oauth::default()
    });
    let Err(Failure::Refused { reason, hint, .. }) = signing.request(&nothing).await else { unreachable!() };
    assert!(reason.contains("there is no assertion to show"), "{reason}");
    assert!(hint.unwrap().contains("oauth.assertion"));
}

// F84 A2
#[tokio::test]
async fn without_a_place_for_secrets_nobody_is_bothered_and_requests_carry_nothing() {
    use mcparley_auth::vault::{Storage, Vault, VaultSettings};
    let signing = Signing::start(&[]);
    std::fs::create_dir_all(signing.folder()).unwrap();
    // A key that is none.
    let storage = Storage::Environment(Secret::new("canary-short".to_owned()));
    let vault = Vault::new(VaultSettings { storage, ..VaultSettings::new(signing.folder()) });
    let accounts = accounts(Some(vault));
    let account = accounts.of(&ServerName::new("shared"), &remote(signing.server.url(), Oauth::default()));
    assert_eq!(carried(&account).await.token, None);
    let error = account.begin(Way::Browser).await.unwrap_err();
    assert!(matches!(error, SignInError::Vault(_)), "{error:?}");
    assert!(!format!("{error:?} {}", error.in_one_line()).contains("canary"), "{error:?}");
    assert_eq!(signing.requests("register"), 0);
    assert!(matches!(signing.request(&account).await, Err(Failure::Unauthorized { .. })));
}

// A3
#[tokio::test]
async fn who_signs_out_gives_the_tokens_back_and_other_processes_notice() {
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
async fn two_sign_ins_at_once_never_cross_and_a_port_that_is_taken_is_told() {
    let (first, second) = (Signing::start(&[]), Signing::start(&[]));
    let free = [first.account(), second.account()];
    let flows = [free[0].begin(Way::Browser).await.unwrap(), free[1].begin(Way::Browser).await.unwrap()];
    let crossed = flows[0].paste(&last_address(&flows[1]).await).await.unwrap_err();
    assert!(matches!(crossed, SignInError::OtherAttempt | SignInError::Pasted(_)), "{crossed:?}");
    for (flow, signing) in flows.iter().zip([&first, &second]) {
        browse(flow).await;
        flow.wait().await.unwrap();
        assert_eq!(signing.grants("authorization_code"), 1);
    }

    let fixed =
        Oauth { callback_port: Some(free_port()), client_id: Some(STATIC_CLIENT.to_owned()), ..configured() };
    let accounts = [first.account_as(fixed.clone()), second.account_as(fixed)];
    let flow = accounts[0].begin(Way::Browser).await.unwrap();
    let error = accounts[1].begin(Way::Browser).await.unwrap_err();
    assert!(matches!(error, SignInError::Callback(_)), "{error:?}");
    assert!(error.hint().is_some());
    browse(&flow).await;
    flow.wait().await.unwrap();
    sign_in(&accounts[1]).await.unwrap();
}

// A1
#[tokio::test]
async fn one_login_registers_once_and_never_to_find_out() {
    let signing = Signing::start(&["device-url:absent"]);
    let account = signing.account();
    let error = account.begin(Way::Device).await.unwrap_err();
    assert!(matches!(error, SignInError::Device(_)), "{error:?}");
    assert_eq!(signing.requests("register"), 0);
    sign_in(&account).await.unwrap();
    assert_eq!(signing.requests("register"), 1);
}

// A1 C10
#[tokio::test]
async fn resource_parameter_is_left_out_where_the_entry_says_so() {
    let signing = Signing::start(&[]);
    let account = signing.account_as(Oauth { omit_resource: true, ..Oauth::default() });
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
async fn server_that_only_takes_a_token_given_by_hand_is_told_to_get_a_header() {
    let signing =
        Signing::start(&["challenge:bare", "prm-body:none", "metadata-body:none", "register:absent"]);
    let error = sign_in(&signing.account()).await.unwrap_err();
    assert_eq!(error.in_one_line(), "the server wants a token and offers no sign-in");
    assert!(error.hint().unwrap().contains(r#""headers": {"Authorization": "Bearer ${TOKEN}"}"#));
}

// A8
#[tokio::test]
async fn program_is_recognized_by_the_grants_the_server_takes() {
    let signing = Signing::start(&["grants:client_credentials"]);
    let account = signing.account_as(configured());
    assert_eq!(signing.request(&account).await.unwrap(), "hi");
    assert!(!account.takes_a_person());
    assert_eq!((signing.grants("client_credentials"), signing.requests("authorize")), (1, 0));
    signing.server.expire_access_tokens();
    assert_eq!(signing.request(&signing.account_as(configured())).await.unwrap(), "hi");
    // A server that sends people to a page wants a person, whatever the client holds.
    let other = Signing::start(&[]);
    let refused = other.request(&other.account_as(configured())).await;
    assert!(matches!(refused, Err(Failure::Unauthorized { .. })), "{refused:?}");
}
