//! Admission of starting servers.
use super::*;

async fn is_full(limit: &Arc<BusyLimit>) -> bool {
    tokio::time::timeout(Duration::from_millis(1), BusyLimit::acquire_place(limit)).await.is_err()
}

// L2
#[tokio::test(start_paused = true)]
async fn limit_of_local_servers_holds_until_one_gives_its_place_away() {
    let limit = Arc::new(BusyLimit::new(2));
    let mut first = BusyLimit::acquire_place(&limit).await;
    let second = BusyLimit::acquire_place(&limit).await;
    assert!(is_full(&limit).await);
    first.give_away();
    let third = BusyLimit::acquire_place(&limit).await;
    assert!(is_full(&limit).await);
    // A server that works again counts again, even above the limit.
    first.take_back();
    drop(second);
    assert!(is_full(&limit).await);
    drop(third);
    assert!(!is_full(&limit).await);
    drop(first);
    assert_eq!(limit.lock_queue().busy, 0);
}

// L2
#[tokio::test(start_paused = true)]
async fn canceled_waiter_does_not_take_a_place() {
    let limit = Arc::new(BusyLimit::new(1));
    let held = BusyLimit::acquire_place(&limit).await;
    assert!(is_full(&limit).await);
    assert!(is_full(&limit).await);
    let next = tokio::spawn({
        let limit = Arc::clone(&limit);
        async move { BusyLimit::acquire_place(&limit).await }
    });
    drop(held);
    drop(next.await.unwrap());
    assert_eq!(limit.lock_queue().busy, 0);
    assert_eq!(limit.lock_queue().waiting.len(), 0);
}

// L2
#[tokio::test(start_paused = true)]
async fn limit_of_remote_servers_holds() {
    let gate = StartGate::new(1, 20);
    let mut paths = Vec::new();
    for _ in 0..20 {
        paths.push(gate.acquire_place(TransportKind::Http).await);
    }
    let one_more =
        tokio::time::timeout(Duration::from_millis(1), gate.acquire_place(TransportKind::Ws)).await;
    assert!(one_more.is_err());
    // Local servers have places of their own.
    drop(gate.acquire_place(TransportKind::Stdio).await);
}
