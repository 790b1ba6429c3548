//! Members of a cluster in one process, with a paused clock.

use super::*;
use crate::{InProcessStore, MailboxMessage};

async fn join(store: &Arc<InProcessStore>) -> (ClusterMember, Mailbox) {
    let name = "here";
    let shared: Arc<dyn SharedStore> = Arc::<InProcessStore>::clone(store);
    ClusterMember::join(shared, KeyNames::new("test"), name).await.unwrap()
}

// G9
#[tokio::test(start_paused = true)]
async fn gateway_without_a_heartbeat_counts_as_gone_after_its_time() {
    let store = Arc::<InProcessStore>::default();
    let (one, _one_mail) = join(&store).await;
    let (two, _two_mail) = join(&store).await;
    assert_eq!((one.instance(), two.instance()), (InstanceId(1), InstanceId(2)));
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(one.find_status(two.instance()).await, MemberStatus::Alive);
    assert!(!one.may_count_as_gone(Instant::now()));
    drop(two);
    tokio::time::sleep(CLUSTER_BEAT_TTL + Duration::from_millis(1)).await;
    assert_eq!(one.find_status(InstanceId(2)).await, MemberStatus::Gone);
    assert_eq!(one.find_name(InstanceId(2)).await, "here");
}

// G9
#[tokio::test(start_paused = true)]
async fn heartbeat_that_the_store_has_lost_does_not_count_until_all_had_time_to_renew_theirs() {
    let store = Arc::<InProcessStore>::default();
    let (one, _mail) = join(&store).await;
    store.set_available(false);
    let parked = Instant::now();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(one.find_status(InstanceId(9)).await, MemberStatus::Unknown);
    store.set_available(true);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(one.find_status(InstanceId(9)).await, MemberStatus::Unknown);
    assert!(one.may_count_as_gone(parked), "others may have counted it as gone");
    assert!(!one.may_count_as_gone(Instant::now()));
    tokio::time::sleep(CLUSTER_GRACE).await;
    assert_eq!(one.find_status(InstanceId(9)).await, MemberStatus::Gone);
    assert_eq!(one.find_status(one.instance()).await, MemberStatus::Alive);
}

// G9
#[tokio::test(start_paused = true)]
async fn messages_reach_their_gateway_and_news_reach_all() {
    let store = Arc::<InProcessStore>::default();
    let (one, mut one_mail) = join(&store).await;
    let (two, mut two_mail) = join(&store).await;
    one.send_message(two.instance(), b"to two".to_vec()).await.unwrap();
    assert_eq!(two_mail.receive_messages().await, [MailboxMessage::Direct(b"to two".to_vec())]);
    one.announce_later(b"to all".to_vec());
    for mail in [&mut one_mail, &mut two_mail] {
        assert_eq!(mail.receive_messages().await, [MailboxMessage::News(b"to all".to_vec())]);
    }
    let (_three, mut late) = join(&store).await;
    two.announce_later(b"later".to_vec());
    assert_eq!(late.receive_messages().await, [MailboxMessage::News(b"later".to_vec())]);
}

// G9
#[tokio::test(start_paused = true)]
async fn writes_wait_for_the_store_in_their_order_and_are_counted_when_dropped() {
    let store = Arc::<InProcessStore>::default();
    let (one, _mail) = join(&store).await;
    store.set_available(false);
    let put = |number: usize| StoreChange::Put {
        key: "mp:test:x".to_owned(),
        value: number.to_string().into_bytes(),
        ttl: None,
    };
    let most = mcparley_model::limits::CLUSTER_WRITES;
    (0..most).for_each(|number| one.write_later(put(number)));
    // The task has taken nothing yet, because it has not run.
    one.write_later(put(most));
    assert_eq!((one.waiting_writes(), one.dropped_writes()), (most, 1));
    assert!(one.send_message(InstanceId(2), Vec::new()).await.is_err());
    store.set_available(true);
    one.writes.wait_until_empty().await;
    let last = store.fetch_value("mp:test:x".to_owned()).await.unwrap().unwrap();
    assert_eq!(last, (most - 1).to_string().into_bytes());
}

// G9
#[tokio::test(start_paused = true)]
async fn heartbeat_counts_from_when_it_was_sent_and_not_from_its_answer() {
    let store = Arc::<InProcessStore>::default();
    let (one, _mail) = join(&store).await;
    one.heartbeat.abort();
    let parked = Instant::now();
    // The store received this heartbeat at once, and its answer took two seconds.
    tokio::time::advance(Duration::from_secs(2)).await;
    one.pulse.note_beat(parked);
    tokio::time::advance(CLUSTER_BEAT_TTL - Duration::from_secs(2)).await;
    assert!(one.may_count_as_gone(parked), "the heartbeat has ended in the store");
}

// G9
#[tokio::test(start_paused = true)]
async fn value_is_fetched_from_a_store_that_reconnects_in_a_moment() {
    let store = Arc::<InProcessStore>::default();
    let (one, _mail) = join(&store).await;
    store.claim_key("key".to_owned(), b"value".to_vec(), None).await.unwrap();
    store.set_available(false);
    let fetched = one.fetch_after_reconnect("key".to_owned());
    let reconnect = async {
        tokio::time::sleep(CLUSTER_COMMAND_TIME / 2).await;
        store.set_available(true);
    };
    let (fetched, ()) = tokio::join!(fetched, reconnect);
    assert_eq!(fetched.unwrap(), Some(b"value".to_vec()));
    store.set_available(false);
    assert!(one.fetch_after_reconnect("key".to_owned()).await.is_err());
}
