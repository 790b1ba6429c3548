//! Keys of an issuer that rotates them, is away, or is asked for keys that do not exist.

use std::time::Duration;

use mcparley_identity::AccessRefusal;
use mcparley_testkit::{TokenIssuer, TokenKey};

use crate::tokens::{good_token, policy};

/// Moves the clock on. It stands still only for this moment, because requests over sockets take real time.
async fn advance(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

// G4
#[tokio::test]
async fn rotated_key_is_fetched_once_and_unknown_ones_at_most_every_thirty_seconds() {
    let (old, new) = (TokenKey::generate("old", "ES256"), TokenKey::generate("new", "ES256"));
    let invented = TokenKey::generate("invented", "ES256");
    let issuer = TokenIssuer::start(&[&old]);
    let policy = policy(&issuer);
    policy.fetch_keys().await.unwrap();
    let [old_token, new_token] = [&old, &new].map(|key| good_token(&issuer, key, "ES256"));
    assert!(policy.verify_token(&old_token, None).await.is_ok());
    issuer.publish_keys(&[&new]);
    assert_eq!(
        policy.verify_token(&new_token, None).await.unwrap_err(),
        AccessRefusal::KeyPending,
        "too soon"
    );
    assert_eq!(issuer.fetch_count(), 1);
    advance(Duration::from_secs(31)).await;
    let many = (0..50).map(|_| policy.verify_token(&new_token, None));
    for verified in futures(many).await {
        assert!(verified.is_ok(), "{verified:?}");
    }
    assert_eq!(issuer.fetch_count(), 2, "one fetch for all");
    assert_eq!(
        policy.verify_token(&old_token, None).await.unwrap_err(),
        AccessRefusal::KeyPending,
        "withdrawn"
    );
    for _ in 0..20 {
        let token = good_token(&issuer, &invented, "ES256");
        assert_eq!(policy.verify_token(&token, None).await.unwrap_err(), AccessRefusal::KeyPending);
    }
    assert_eq!(issuer.fetch_count(), 2);
    advance(Duration::from_secs(31)).await;
    let token = good_token(&issuer, &invented, "ES256");
    assert_eq!(policy.verify_token(&token, None).await.unwrap_err(), AccessRefusal::UnknownKey);
    assert_eq!(issuer.fetch_count(), 3, "the issuer was asked");
}

// G4
#[tokio::test]
async fn expired_keys_serve_for_a_day_while_the_issuer_is_away() {
    let key = TokenKey::generate("k", "ES256");
    let issuer = TokenIssuer::start(&[&key]);
    issuer.set_cache_control("max-age=600");
    let policy = policy(&issuer);
    let token = good_token(&issuer, &key, "ES256");
    assert!(policy.verify_token(&token, None).await.is_ok());
    issuer.set_status(503);
    advance(Duration::from_secs(599)).await;
    assert!(policy.find_verified(&token, None).is_some(), "still fresh");
    assert_eq!(issuer.fetch_count(), 1);
    advance(Duration::from_secs(2)).await;
    assert!(policy.find_verified(&token, None).is_none(), "to be checked again");
    assert!(policy.verify_token(&token, None).await.is_ok(), "stale");
    assert_eq!(issuer.fetch_count(), 2, "tried");
    assert!(policy.verify_token(&token, None).await.is_ok());
    assert_eq!(issuer.fetch_count(), 2, "not with every token");
    advance(Duration::from_secs(24 * 60 * 60 - 60)).await;
    assert!(policy.verify_token(&token, None).await.is_ok(), "almost a day");
    advance(Duration::from_secs(120)).await;
    assert_eq!(policy.verify_token(&token, None).await.unwrap_err(), AccessRefusal::IssuerAway);
    issuer.set_status(200);
    advance(Duration::from_secs(31)).await;
    assert!(policy.verify_token(&token, None).await.is_ok(), "back");
}

// G4
#[tokio::test]
async fn issuer_that_is_away_at_the_start_is_tried_again() {
    let key = TokenKey::generate("k", "ES256");
    let issuer = TokenIssuer::start(&[&key]);
    issuer.set_status(503);
    let policy = policy(&issuer);
    let error = policy.fetch_keys().await.unwrap_err();
    assert!(error.to_string().contains("503"), "{error}");
    let token = good_token(&issuer, &key, "ES256");
    assert_eq!(policy.verify_token(&token, None).await.unwrap_err(), AccessRefusal::IssuerAway);
    issuer.set_status(200);
    advance(Duration::from_secs(3)).await;
    assert!(policy.verify_token(&token, None).await.is_ok());
}

// G4
#[tokio::test]
async fn fetch_goes_on_when_its_client_goes_away() {
    let (old, new) = (TokenKey::generate("old", "ES256"), TokenKey::generate("new", "ES256"));
    let issuer = TokenIssuer::start(&[&new]);
    let policy = policy(&issuer);
    let token = good_token(&issuer, &old, "ES256");
    let gone = tokio::time::timeout(Duration::ZERO, policy.verify_token(&token, None)).await;
    assert!(gone.is_err(), "{gone:?}");
    // The fetch in progress is shared, although its first client is gone.
    assert!(policy.verify_token(&good_token(&issuer, &new, "ES256"), None).await.is_ok());
    assert_eq!(issuer.fetch_count(), 1);
}

/// Runs futures at once.
async fn futures<F: Future>(all: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut pinned: Vec<_> = all.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        let mut is_pending = false;
        for (future, output) in pinned.iter_mut().filter(|(_, output)| output.is_none()) {
            match future.as_mut().poll(context) {
                std::task::Poll::Ready(ready) => *output = Some(ready),
                std::task::Poll::Pending => is_pending = true,
            }
        }
        if is_pending { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
    })
    .await;
    pinned.into_iter().filter_map(|(_, output)| output).collect()
}
