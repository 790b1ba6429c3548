//! Authorization servers with a token endpoint at another origin.

use mcparley_auth::{Accounts, AccountsSettings, SignInMethod, SignInStatus};
use mcparley_model::config::OauthConfig;
use mcparley_model::name::ServerName;
use mcparley_testkit::TlsSite;
use mcparley_wire::transport::http::{Network, NetworkSettings};

use crate::signing::{Signing, browse, remote, sign_in};

// B71
#[tokio::test]
async fn token_endpoint_at_another_origin_is_refused_unless_it_is_named_over_https() {
    let signing = Signing::start(&["token-url:http://127.0.0.1:1/token"]);
    let error = sign_in(&signing.account()).await.unwrap_err();
    let text = error.to_single_line();
    assert!(text.contains("its `token_endpoint` is at another origin, `http://127.0.0.1:1`"), "{text}");
    assert_eq!((signing.requests("register"), signing.requests("authorize")), (0, 0));
}

// B71
#[tokio::test]
async fn token_endpoint_at_another_origin_that_is_named_over_https_is_used_and_reported() {
    let signing = Signing::start(&["iss:absent"]);
    let issuer = TlsSite::with_foreign_endpoints(signing.server.issuer());
    let folder = tempfile::tempdir().unwrap();
    let authority = folder.path().join("authority.pem");
    std::fs::write(&authority, issuer.authority()).unwrap();
    let network = Network::new(NetworkSettings { extra_ca: vec![authority], ..NetworkSettings::default() });
    let settings = AccountsSettings { network, vault: None, identity: None, folder: "/".into() };
    let metadata = format!("{}/metadata", issuer.origin()).parse().unwrap();
    let oauth = OauthConfig { auth_server_metadata_url: Some(metadata), ..OauthConfig::default() };
    let account =
        Accounts::new(settings).account_for(&ServerName::new("s"), &remote(signing.server.url(), oauth));

    let flow = account.begin_sign_in(SignInMethod::Browser).await.unwrap();
    assert_eq!(flow.token_origin(), Some(signing.server.issuer()), "told before anybody agrees");
    assert_eq!(signing.requests("token"), 0);
    browse(&flow).await;
    flow.wait_until_done().await.unwrap();
    let standing = account.sign_in_status().await.unwrap();
    let SignInStatus::SignedIn { issuer: by, token_origin, .. } = standing else { unreachable!() };
    assert_eq!(by.raw(), issuer.origin());
    assert_eq!(token_origin.unwrap().raw(), signing.server.issuer());
}

// B71
#[tokio::test]
async fn token_endpoint_of_the_issuer_itself_is_not_reported() {
    let signing = Signing::start(&[]);
    let account = signing.account();
    let flow = account.begin_sign_in(SignInMethod::Browser).await.unwrap();
    assert_eq!(flow.token_origin(), None);
    browse(&flow).await;
    flow.wait_until_done().await.unwrap();
    let standing = account.sign_in_status().await.unwrap();
    assert!(matches!(standing, SignInStatus::SignedIn { token_origin: None, .. }), "{standing:?}");
}
