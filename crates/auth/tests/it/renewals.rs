//! Token renewal: once for all callers, and without loss when a caller is canceled.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use mcparley_auth::{Account, SignInStatus};
use mcparley_model::secret::Secret;
use mcparley_model::text::Untrusted;
use mcparley_testkit::TraceRecorder;
use mcparley_wire::Failure;
use mcparley_wire::authorizer::{
    Authorizer as _, Challenge, ChallengeKind, Credentials, RequestTarget, RetryDecision,
};
use serde_json::Value;

use crate::signing::{LONG, Signing, echo, sign_in};

/// The credentials that requests carry now.
pub(crate) async fn carried(account: &Account) -> Credentials {
    let url = "http://127.0.0.1/mcp".parse().unwrap();
    account.authorize_request(RequestTarget { method: "POST", url: &url }).await.unwrap()
}

/// Reports to an account that the server has refused its credentials.
pub(crate) async fn refuse(account: &Account, wants: ChallengeKind, words: Option<&str>) -> RetryDecision {
    let challenge = Challenge { kind: wants, www_authenticate: words.map(Untrusted::new) };
    account.handle_refusal(&carried(account).await, &challenge).await
}

/// Whether no refresh token was used twice, and no other error occurred.
fn is_clean(stats: &Value) -> bool {
    stats["replays"] == 0 && stats["errors"].as_object().unwrap().is_empty()
}

// A3 K4
#[tokio::test]
async fn token_is_renewed_before_the_server_refuses_it() {
    let signing = Signing::start(&["access-ms:3000"]);
    let account = signing.signed_in().await;
    let connected = signing.connect(&account).await.unwrap();
    let before = signing.server.stats()["refused"]["unauthorized"].clone();
    let begun = Instant::now();
    while signing.grants("refresh_token") < 2 {
        assert_eq!(echo(&connected, "hi").await.unwrap(), "hi");
        assert!(begun.elapsed() < LONG);
    }
    assert_eq!(signing.server.stats()["refused"]["unauthorized"], before);
}

// A3
#[tokio::test]
async fn span_of_a_refresh_has_server_issuer_and_outcome_and_no_token() {
    let signing = Signing::start(&[]);
    let account = signing.signed_in().await;
    let (recorder, _guard) = TraceRecorder::install();
    signing.server.expire_access_tokens();
    assert_eq!(signing.request(&account).await.unwrap(), "hi");
    signing.server.expire_access_tokens();
    signing.server.apply_lies(&["token-error:invalid_grant", "token-on:refresh_token"]);
    signing.request(&account).await.unwrap_err();
    let lines = recorder.lines();
    let of_server = "token_refresh server=shared issuer=127.0.0.1";
    assert_eq!(lines, ["renewed", "sign-in-over"].map(|outcome| format!("{of_server} outcome={outcome}")));
}

// F45 K4
#[tokio::test(flavor = "multi_thread")]
async fn hundred_requests_with_a_refused_token_cause_one_token_request() {
    let signing = Signing::start(&["token-after:50"]);
    let account = signing.signed_in().await;
    let connected = std::sync::Arc::new(signing.connect(&account).await.unwrap());
    signing.server.expire_access_tokens();
    let calls: Vec<_> = (0..100)
        .map(|_| {
            let connected = std::sync::Arc::clone(&connected);
            tokio::spawn(async move { echo(&connected, "hi").await })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap(), "hi");
    }
    assert_eq!(signing.grants("refresh_token"), 1);
    assert!(is_clean(&signing.server.stats()));
}

// F45 K4
#[tokio::test]
async fn ended_sign_in_is_not_renewed_again_and_keeps_its_registration() {
    let signing = Signing::start(&[]);
    let account = signing.signed_in().await;
    signing.server.expire_access_tokens();
    signing.server.apply_lies(&["token-error:invalid_grant", "token-on:refresh_token"]);
    let connected = signing.request(&account).await;
    assert!(matches!(connected, Err(Failure::Unauthorized { .. })), "{connected:?}");
    assert_eq!(signing.grants("refresh_token"), 1);
    for account in [&account, &signing.account()] {
        assert!(matches!(signing.request(account).await, Err(Failure::Unauthorized { .. })));
        assert!(matches!(account.sign_in_status().await.unwrap(), SignInStatus::SignedOut));
    }
    assert_eq!(signing.grants("refresh_token"), 1, "no loop");
    sign_in(&account).await.unwrap();
    assert_eq!(signing.request(&account).await.unwrap(), "hi");
    assert_eq!(signing.requests("register"), 1);
}

// F45 K4 A3
#[tokio::test]
async fn expired_tokens_of_another_process_are_renewed() {
    // The expiry of the tokens is not known to the client.
    let signing = Signing::start(&["expires-in:absent"]);
    let (idle, other) = (signing.signed_in().await, signing.account());
    for _ in 0..2 {
        signing.server.expire_access_tokens();
        assert_eq!(signing.request(&other).await.unwrap(), "hi");
    }
    signing.server.expire_access_tokens();
    assert_eq!(signing.request(&idle).await.unwrap(), "hi");
    assert_eq!(signing.grants("refresh_token"), 3);
    // A new token that is refused is not renewed in a loop.
    let connected = signing.connect(&idle).await.unwrap();
    signing.server.apply_lies(&["access-ms:0"]);
    signing.server.expire_access_tokens();
    let refused = echo(&connected, "hi").await;
    assert!(matches!(refused, Err(Failure::Unauthorized { .. })), "{refused:?}");
    assert_eq!(signing.grants("refresh_token"), 4);
}

// B77
#[tokio::test]
async fn refresh_token_that_is_not_replaced_stays_valid() {
    for manner in ["refresh:omit", "refresh:keep", "refresh:rotate"] {
        let signing = Signing::start(&[manner]);
        let account = signing.signed_in().await;
        for _ in 0..3 {
            signing.server.expire_access_tokens();
            assert_eq!(signing.request(&account).await.unwrap(), "hi", "{manner}");
        }
        assert_eq!(signing.grants("refresh_token"), 3, "{manner}");
        assert!(is_clean(&signing.server.stats()), "{manner}");
    }
}

// A3 F79
#[tokio::test]
async fn canceled_caller_does_not_lose_the_renewed_token() {
    let signing = Signing::start(&["token-after:300", "token-on:refresh_token"]);
    let account = signing.signed_in().await;
    signing.server.expire_access_tokens();
    tokio::select! {
        answered = signing.request(&account) => assert!(answered.is_err(), "too early: {answered:?}"),
        () = signing.until(|stats| stats["grants"]["refresh_token"] == 1) => {}
    }
    account.finish_pending_writes().await;
    // Another process finds the result.
    assert_eq!(signing.request(&signing.account()).await.unwrap(), "hi");
    assert_eq!(signing.request(&account).await.unwrap(), "hi");
    assert_eq!(signing.grants("refresh_token"), 1);
    assert!(is_clean(&signing.server.stats()));
}

/// Polls the future this many times, then drops it; returns whether it finished before.
pub(crate) async fn cancelled_after<T>(polls: usize, future: impl Future<Output = T>) -> bool {
    let (mut future, mut left) = (pin!(future), polls);
    std::future::poll_fn(|context| {
        let Some(fewer) = left.checked_sub(1) else { return Poll::Ready(false) };
        left = fewer;
        let polled = future.as_mut().poll(context).is_ready();
        // It is canceled on time, whichever waker comes next.
        if left == 0 {
            Poll::Ready(polled)
        } else if polled {
            Poll::Ready(true)
        } else {
            Poll::Pending
        }
    })
    .await
}

// A3 F79
#[tokio::test]
async fn heavy_caller_may_cancel_at_any_moment_without_losing_the_sign_in() {
    let signing = Signing::start(&["token-after:15", "token-on:refresh_token"]);
    let account = signing.signed_in().await;
    let mut finished = 0;
    for moment in 0..60 {
        signing.server.expire_access_tokens();
        let limit = Duration::from_millis(moment);
        if let Ok(answered) = tokio::time::timeout(limit, signing.request(&account)).await {
            assert_eq!(answered.unwrap(), "hi", "within {limit:?}");
            finished += 1;
        }
        account.finish_pending_writes().await;
        assert_eq!(signing.request(&signing.account()).await.unwrap(), "hi", "given up after {limit:?}");
        let renewed = signing.grants("refresh_token");
        assert!(renewed <= moment + 1, "{renewed} renewals in {} rounds", moment + 1);
    }
    println!("{finished} of 60 came to their end before they were given up");
    assert!(finished < 60);
    assert!(is_clean(&signing.server.stats()), "{}", signing.server.stats());
}

// F81 A3
#[tokio::test]
async fn transient_error_of_the_authorization_server_does_not_end_the_sign_in() {
    for trouble in [
        "token:500",
        "token:garbage",
        "token:huge",
        "token:redirect",
        "token:none",
        "token-error:temporarily_unavailable",
        "token-error:invalid_request",
    ] {
        let signing = Signing::start(&[]);
        let account = signing.signed_in().await;
        signing.server.expire_access_tokens();
        signing.server.apply_lies(&[trouble, "token-times:1"]);
        let refused = signing.request(&account).await;
        let Err(Failure::Refused { reason, .. }) = &refused else { unreachable!("{trouble}: {refused:?}") };
        assert!(reason.starts_with("the sign-in cannot be renewed: "), "{trouble}: {reason}");
        assert!(!reason.contains("canary"), "{reason}");
        assert_eq!(signing.request(&account).await.unwrap(), "hi", "{trouble}");
        assert_eq!(signing.grants("refresh_token"), 2, "{trouble}");
    }
}

// F81
#[tokio::test]
async fn renewal_of_a_valid_token_is_postponed_while_the_authorization_server_fails() {
    let signing = Signing::start(&["access-ms:8000"]);
    let account = signing.signed_in().await;
    let connected = signing.connect(&account).await.unwrap();
    signing.server.apply_lies(&["token:500"]);
    // It is due after half of its lifetime.
    let begun = Instant::now();
    while signing.grants("refresh_token") == 0 {
        assert_eq!(echo(&connected, "hi").await.unwrap(), "hi");
        assert!(begun.elapsed() < LONG);
    }
    for _ in 0..20 {
        assert_eq!(echo(&connected, "hi").await.unwrap(), "hi");
    }
    assert_eq!(signing.grants("refresh_token"), 1);
}

// F81
#[tokio::test]
async fn heavy_hanging_authorization_server_is_asked_once_for_all_callers() {
    let signing = Signing::start(&[]);
    let account = signing.signed_in().await;
    let connected = std::sync::Arc::new(signing.connect(&account).await.unwrap());
    signing.server.expire_access_tokens();
    signing.server.apply_lies(&["token:hang"]);
    let begun = Instant::now();
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let connected = std::sync::Arc::clone(&connected);
            tokio::spawn(async move { echo(&connected, "hi").await })
        })
        .collect();
    for call in calls {
        let refused = call.await.unwrap();
        assert!(matches!(refused, Err(Failure::Refused { .. })), "{refused:?}");
    }
    let (took, asked) = (begun.elapsed(), signing.grants("refresh_token"));
    println!("20 calls gave up after {took:?}, {asked} token requests");
    assert!(took < Duration::from_secs(15), "{took:?}");
    assert_eq!(asked, 1);
    signing.server.apply_lies(&["token:good"]);
    assert_eq!(echo(&connected, "hi").await.unwrap(), "hi");
    assert!(is_clean(&signing.server.stats()));
}

// F81 F79
#[tokio::test]
async fn renewal_waits_for_the_lock_of_another_process() {
    let signing = Signing::start(&[]);
    let account = signing.signed_in().await;
    let connected = signing.connect(&account).await.unwrap();
    let locks = std::fs::read_dir(signing.folder().join("locks")).unwrap();
    // The locks of all entries.
    let held: Vec<_> = locks
        .map(|file| mcparley_platform::file::acquire_lock(&file.unwrap().path(), Duration::ZERO).unwrap())
        .collect();
    signing.server.expire_access_tokens();
    let mut waiting = pin!(echo(&connected, "hi"));
    let early = tokio::time::timeout(Duration::from_millis(500), waiting.as_mut()).await;
    assert!(early.is_err(), "{early:?}");
    assert_eq!(signing.grants("refresh_token"), 0);
    drop(held);
    assert_eq!(waiting.await.unwrap(), "hi");
    assert_eq!(signing.grants("refresh_token"), 1);
}

// A3 K4
#[tokio::test]
async fn storing_scopes_during_a_renewal_does_not_lose_the_new_token() {
    let signing = Signing::start(&["token-after:300", "token-on:refresh_token"]);
    let first = signing.signed_in().await;
    let second = signing.account();
    carried(&second).await;
    let renewing = refuse(&first, ChallengeKind::SignIn, None);
    let wanting = async {
        signing.until(|stats| stats["grants"]["refresh_token"] == 1).await;
        let words = "Bearer error=\"insufficient_scope\", scope=\"more\"";
        refuse(&second, ChallengeKind::MoreRights, Some(words)).await
    };
    let (renewed, wanted) = tokio::join!(renewing, wanting);
    assert!(matches!(renewed, RetryDecision::Retry), "{renewed:?}");
    assert!(matches!(wanted, RetryDecision::GiveUp | RetryDecision::RetryUnverified), "{wanted:?}");
    signing.server.expire_access_tokens();
    assert_eq!(signing.request(&signing.account()).await.unwrap(), "hi");
    assert!(is_clean(&signing.server.stats()), "{}", signing.server.stats());
    let SignInStatus::SignedIn { wanted, .. } = first.sign_in_status().await.unwrap() else { unreachable!() };
    assert_eq!(wanted, [Untrusted::new("more")]);
}

// A3
#[tokio::test]
async fn token_without_renewal_is_used_until_it_expires() {
    let signing = Signing::start(&["refresh:never", "access-ms:4000"]);
    let begun = Instant::now();
    let account = signing.signed_in().await;
    let connected = signing.connect(&account).await.unwrap();
    // It would be due after half of its lifetime.
    while begun.elapsed() < Duration::from_millis(2600) {
        let answered = echo(&connected, "hi").await;
        assert!(answered.is_ok() || begun.elapsed() > Duration::from_millis(3900), "{answered:?}");
    }
    let signed_in = matches!(account.sign_in_status().await.unwrap(), SignInStatus::SignedIn { .. });
    assert!(signed_in || begun.elapsed() > Duration::from_millis(3900));
}

// A3 K4
#[tokio::test]
async fn replaced_secret_is_used_for_the_next_renewal_and_a_wrong_one_loses_no_token() {
    let oauth = |secret: &str| mcparley_model::config::OauthConfig {
        client_id: Some(mcparley_testkit::STATIC_CLIENT.to_owned()),
        client_secret: Some(Secret::new(secret.to_owned())),
        ..mcparley_model::config::OauthConfig::default()
    };
    let signing = Signing::start(&[]);
    let account = signing.account_as(oauth(mcparley_testkit::STATIC_SECRET));
    sign_in(&account).await.unwrap();
    signing.server.expire_access_tokens();
    let refused = signing.request(&signing.account_as(oauth("canary-wrong"))).await;
    let Err(Failure::Refused { reason, hint, .. }) = refused else { unreachable!("{refused:?}") };
    assert!(reason.contains("`invalid_client`"), "{reason}");
    assert!(hint.unwrap().contains("check `oauth.clientId`"));
    let account = signing.account_as(oauth(mcparley_testkit::STATIC_SECRET));
    assert_eq!(signing.request(&account).await.unwrap(), "hi");
    assert_eq!(signing.server.stats()["replays"], 0);
}
