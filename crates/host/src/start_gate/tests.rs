//! Who is let in when.
use super::*;

async fn is_full(limit: &Arc<BusyLimit>) -> bool {
    tokio::time::timeout(Duration::from_millis(1), BusyLimit::enter(limit)).await.is_err()
}

// L2
#[tokio::test(start_paused = true)]
async fn no_more_are_let_in_than_the_limit_until_one_gives_its_place_away() {
    let limit = Arc::new(BusyLimit::new(2));
    let mut first = BusyLimit::enter(&limit).await;
    let second = BusyLimit::enter(&limit).await;
    assert!(is_full(&limit).await);
    first.give_away();
    let third = BusyLimit::enter(&limit).await;
    assert!(is_full(&limit).await);
    // One that works again counts again, though nobody can stop it.
    first.take_back();
    drop(second);
    assert!(is_full(&limit).await);
    drop(third);
    assert!(!is_full(&limit).await);
    drop(first);
    assert_eq!(limit.locked().busy, 0);
}

// L2
#[tokio::test(start_paused = true)]
async fn those_who_give_up_waiting_take_no_place_along() {
    let limit = Arc::new(BusyLimit::new(1));
    let held = BusyLimit::enter(&limit).await;
    assert!(is_full(&limit).await);
    assert!(is_full(&limit).await);
    let next = tokio::spawn({
        let limit = Arc::clone(&limit);
        async move { BusyLimit::enter(&limit).await }
    });
    drop(held);
    drop(next.await.unwrap());
    assert_eq!(limit.locked().busy, 0);
    assert_eq!(limit.locked().waiting.len(), 0);
}

// L2
#[tokio::test(start_paused = true)]
async fn never_more_remote_servers_than_their_limit_are_let_in() {
    let gate = StartGate::new(1, 20);
    let mut paths = Vec::new();
    for _ in 0..20 {
        paths.push(gate.enter(Kind::Http).await);
    }
    let one_more = tokio::time::timeout(Duration::from_millis(1), gate.enter(Kind::Ws)).await;
    assert!(one_more.is_err());
    // Local servers have places of their own.
    drop(gate.enter(Kind::Stdio).await);
}
