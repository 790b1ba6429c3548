//! Authorization servers whose tokens come from another site than their own.

use mcparley_auth::{Accounts, AccountsSettings, SignInStanding, Way};
use mcparley_model::config::Oauth;
use mcparley_model::name::ServerName;
use mcparley_testkit::TlsSite;
use mcparley_wire::transport::http::{Network, NetworkSettings};
use serde_json::json;

use crate::signing::{Signing, browse, remote, sign_in};

// B71
#[tokio::test]
async fn token_endpoint_at_another_origin_is_refused_unless_it_is_named_over_https() {
    let signing = Signing::start(&["token-url:http://127.0.0.1:1/token"]);
    let error = sign_in(&signing.account()).await.unwrap_err();
    let text = error.in_one_line();
    assert!(text.contains("its `token_endpoint` is at another origin, `http://127.0.0.1:1`"), "{text}");
    assert_eq!((signing.requests("register"), signing.requests("authorize")), (0, 0));
}

// B71
#[tokio::test]
async fn token_endpoint_at_another_origin_that_is_named_over_https_is_used_and_told() {
    let signing = Signing::start(&["iss:absent"]);
    let endpoints = signing.server.issuer().to_owned();
    let issuer = TlsSite::start(move |origin, _| {
        let description = json!({
            "issuer": origin,
            "authorization_endpoint": format!("{endpoints}/authorize"),
            "token_endpoint": format!("{endpoints}/token"),
            "registration_endpoint": format!("{endpoints}/register"),
            "code_challenge_methods_supported": ["S256"],
        });
        Some(description.to_string())
    });
    let folder = tempfile::tempdir().unwrap();
    let authority = folder.path().join("authority.pem");
    std::fs::write(&authority, issuer.authority()).unwrap();
    let network = Network::new(NetworkSettings { extra_ca: vec![authority], ..NetworkSettings::default() });
    let settings = AccountsSettings { network, vault: None, identity: None, folder: "/".into() };
    let metadata = format!("{}/metadata", issuer.origin()).parse().unwrap();
    let oauth = Oauth { auth_server_metadata_url: Some(metadata), ..Oauth::default() };
    let account = Accounts::new(settings).of(&ServerName::new("s"), &remote(signing.server.url(), oauth));

    let flow = account.begin(Way::Browser).await.unwrap();
    assert_eq!(flow.token_origin(), Some(signing.server.issuer()), "told before anybody agrees");
    assert_eq!(signing.requests("token"), 0);
    browse(&flow).await;
    flow.wait().await.unwrap();
    let standing = account.standing().await.unwrap();
    let SignInStanding::SignedIn { issuer: by, token_origin, .. } = standing else { unreachable!() };
    assert_eq!(by.raw(), issuer.origin());
    assert_eq!(token_origin.unwrap().raw(), signing.server.issuer());
}

// B71
#[tokio::test]
async fn token_endpoint_of_the_issuer_itself_is_nothing_to_tell_of() {
    let signing = Signing::start(&[]);
    let account = signing.account();
    let flow = account.begin(Way::Browser).await.unwrap();
    assert_eq!(flow.token_origin(), None);
    browse(&flow).await;
    flow.wait().await.unwrap();
    let standing = account.standing().await.unwrap();
    assert!(matches!(standing, SignInStanding::SignedIn { token_origin: None, .. }), "{standing:?}");
}
