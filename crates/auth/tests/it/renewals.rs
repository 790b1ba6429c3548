//! How a sign-in stays valid: renewed once for everybody, and lost by nobody who gives up.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use mcparley_auth::{Account, SignInStanding};
use mcparley_model::secret::Secret;
use mcparley_model::text::Untrusted;
use mcparley_wire::Failure;
use mcparley_wire::authorizer::{Asking, Authorizer as _, Challenge, Credentials, Next, Wants};
use serde_json::Value;

use crate::signing::{LONG, Signing, echo, sign_in};

/// What requests carry now.
pub(crate) async fn carried(account: &Account) -> Credentials {
    let url = "http://127.0.0.1/mcp".parse().unwrap();
    account.headers(Asking { method: "POST", url: &url }).await.unwrap()
}

/// Tells an account that the server has refused what it gave.
pub(crate) async fn refuse(account: &Account, wants: Wants, words: Option<&str>) -> Next {
    let challenge = Challenge { wants, words: words.map(Untrusted::new) };
    account.refused(&carried(account).await, &challenge).await
}

/// Whether no refresh token was shown twice, and nothing else was wrong.
fn is_clean(stats: &Value) -> bool {
    stats["replays"] == 0 && stats["errors"].as_object().unwrap().is_empty()
}

// A3 K4
#[tokio::test]
async fn a_token_is_renewed_before_its_end_and_the_server_never_sees_an_old_one() {
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

// F45 K4
#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_requests_with_a_refused_token_cause_one_token_request() {
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
async fn a_sign_in_that_is_over_is_not_asked_for_again_and_the_registration_stays() {
    let signing = Signing::start(&[]);
    let account = signing.signed_in().await;
    signing.server.expire_access_tokens();
    signing.server.tell(&["token-error:invalid_grant", "token-on:refresh_token"]);
    let connected = signing.request(&account).await;
    assert!(matches!(connected, Err(Failure::Unauthorized { .. })), "{connected:?}");
    assert_eq!(signing.grants("refresh_token"), 1);
    for account in [&account, &signing.account()] {
        assert!(matches!(signing.request(account).await, Err(Failure::Unauthorized { .. })));
        assert!(matches!(account.standing().await.unwrap(), SignInStanding::SignedOut));
    }
    assert_eq!(signing.grants("refresh_token"), 1, "no loop");
    sign_in(&account).await.unwrap();
    assert_eq!(signing.request(&account).await.unwrap(), "hi");
    assert_eq!(signing.requests("register"), 1);
}

// F45 K4 A3
#[tokio::test]
async fn what_another_process_got_may_be_over_too_and_is_then_renewed() {
    // Nobody is told when tokens end.
    let signing = Signing::start(&["expires-in:absent"]);
    let (idle, other) = (signing.signed_in().await, signing.account());
    for _ in 0..2 {
        signing.server.expire_access_tokens();
        assert_eq!(signing.request(&other).await.unwrap(), "hi");
    }
    signing.server.expire_access_tokens();
    assert_eq!(signing.request(&idle).await.unwrap(), "hi");
    assert_eq!(signing.grants("refresh_token"), 3);
    // A token that is refused although it is new is not renewed for ever.
    let connected = signing.connect(&idle).await.unwrap();
    signing.server.tell(&["access-ms:0"]);
    signing.server.expire_access_tokens();
    let refused = echo(&connected, "hi").await;
    assert!(matches!(refused, Err(Failure::Unauthorized { .. })), "{refused:?}");
    assert_eq!(signing.grants("refresh_token"), 4);
}

// B77
#[tokio::test]
async fn a_refresh_token_that_is_not_replaced_stays_good() {
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
async fn a_caller_that_gives_up_after_the_request_was_sent_loses_nothing() {
    let signing = Signing::start(&["token-after:300", "token-on:refresh_token"]);
    let account = signing.signed_in().await;
    signing.server.expire_access_tokens();
    tokio::select! {
        answered = signing.request(&account) => assert!(answered.is_err(), "too early: {answered:?}"),
        () = signing.until(|stats| stats["grants"]["refresh_token"] == 1) => {}
    }
    account.settle().await;
    // Another process finds what came of it.
    assert_eq!(signing.request(&signing.account()).await.unwrap(), "hi");
    assert_eq!(signing.request(&account).await.unwrap(), "hi");
    assert_eq!(signing.grants("refresh_token"), 1);
    assert!(is_clean(&signing.server.stats()));
}

/// Polls the future so often, then gives it up; whether it came to its end before.
pub(crate) async fn cancelled_after<T>(polls: usize, future: impl Future<Output = T>) -> bool {
    let (mut future, mut left) = (pin!(future), polls);
    std::future::poll_fn(|context| {
        let Some(fewer) = left.checked_sub(1) else { return Poll::Ready(false) };
        left = fewer;
        let polled = future.as_mut().poll(context).is_ready();
        // Whoever wakes it next, it is cancelled on time.
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
async fn heavy_a_caller_may_give_up_at_any_moment_and_the_sign_in_lasts() {
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
        account.settle().await;
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
async fn trouble_of_the_authorization_server_costs_one_call_and_no_sign_in() {
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
        signing.server.tell(&[trouble, "token-times:1"]);
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
async fn while_a_token_lasts_an_authorization_server_in_trouble_is_left_alone() {
    let signing = Signing::start(&["access-ms:8000"]);
    let account = signing.signed_in().await;
    let connected = signing.connect(&account).await.unwrap();
    signing.server.tell(&["token:500"]);
    // It is due after half of its life.
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
async fn heavy_an_authorization_server_that_hangs_is_asked_once_and_everybody_hears_of_it() {
    let signing = Signing::start(&[]);
    let account = signing.signed_in().await;
    let connected = std::sync::Arc::new(signing.connect(&account).await.unwrap());
    signing.server.expire_access_tokens();
    signing.server.tell(&["token:hang"]);
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
    signing.server.tell(&["token:good"]);
    assert_eq!(echo(&connected, "hi").await.unwrap(), "hi");
    assert!(is_clean(&signing.server.stats()));
}

// F81 F79
#[tokio::test]
async fn while_another_process_holds_the_sign_in_nothing_is_stolen_from_it() {
    let signing = Signing::start(&[]);
    let account = signing.signed_in().await;
    let connected = signing.connect(&account).await.unwrap();
    let locks = std::fs::read_dir(signing.folder().join("locks")).unwrap();
    // The locks of all entries there are.
    let held: Vec<_> = locks
        .map(|file| mcparley_platform::file::lock(&file.unwrap().path(), Duration::ZERO).unwrap())
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
async fn scopes_that_are_taken_down_while_a_token_is_renewed_do_not_cost_the_new_one() {
    let signing = Signing::start(&["token-after:300", "token-on:refresh_token"]);
    let first = signing.signed_in().await;
    let second = signing.account();
    carried(&second).await;
    let renewing = refuse(&first, Wants::SignIn, None);
    let wanting = async {
        signing.until(|stats| stats["grants"]["refresh_token"] == 1).await;
        let words = "Bearer error=\"insufficient_scope\", scope=\"more\"";
        refuse(&second, Wants::MoreRights, Some(words)).await
    };
    let (renewed, wanted) = tokio::join!(renewing, wanting);
    assert!(matches!(renewed, Next::Again), "{renewed:?}");
    assert!(matches!(wanted, Next::GiveUp | Next::Try), "{wanted:?}");
    signing.server.expire_access_tokens();
    assert_eq!(signing.request(&signing.account()).await.unwrap(), "hi");
    assert!(is_clean(&signing.server.stats()), "{}", signing.server.stats());
    let SignInStanding::SignedIn { wanted, .. } = first.standing().await.unwrap() else { unreachable!() };
    assert_eq!(wanted, [Untrusted::new("more")]);
}

// A3
#[tokio::test]
async fn a_token_that_cannot_be_renewed_is_used_to_its_end() {
    let signing = Signing::start(&["refresh:never", "access-ms:4000"]);
    let begun = Instant::now();
    let account = signing.signed_in().await;
    let connected = signing.connect(&account).await.unwrap();
    // It would be due after half of its life.
    while begun.elapsed() < Duration::from_millis(2600) {
        let answered = echo(&connected, "hi").await;
        assert!(answered.is_ok() || begun.elapsed() > Duration::from_millis(3900), "{answered:?}");
    }
    let signed_in = matches!(account.standing().await.unwrap(), SignInStanding::SignedIn { .. });
    assert!(signed_in || begun.elapsed() > Duration::from_millis(3900));
}

// A3 K4
#[tokio::test]
async fn a_secret_that_was_replaced_counts_for_the_next_renewal_and_a_wrong_one_loses_nothing() {
    let oauth = |secret: &str| mcparley_model::config::Oauth {
        client_id: Some(mcparley_testkit::STATIC_CLIENT.to_owned()),
        client_secret: Some(Secret::new(secret.to_owned())),
        ..mcparley_model::config::Oauth::default()
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
