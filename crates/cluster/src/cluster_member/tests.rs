//! Members of a cluster in one process, with a paused clock.

use mcparley_model::limits::CLUSTER_BEAT;

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

// G9
#[tokio::test(start_paused = true)]
async fn refused_heartbeat_makes_the_state_unreachable_until_the_next_one_is_taken() {
    let store = Arc::<InProcessStore>::default();
    let (one, _mail) = join(&store).await;
    // The first heartbeat is sent now.
    tokio::time::sleep(Duration::from_millis(1)).await;
    store.refuse_changes(true);
    tokio::time::sleep(2 * CLUSTER_BEAT).await;
    assert_eq!((one.is_reachable(), one.refused_beats()), (false, 2));
    store.refuse_changes(false);
    tokio::time::sleep(CLUSTER_BEAT).await;
    assert_eq!((one.is_reachable(), one.refused_beats()), (true, 2));
}

// G9
#[tokio::test(start_paused = true)]
async fn number_of_a_running_gateway_is_not_given_out_again_after_the_store_lost_its_data() {
    let store = Arc::<InProcessStore>::default();
    let (one, _one_mail) = join(&store).await;
    let (two, _two_mail) = join(&store).await;
    store.set_available(false);
    store.lose_data();
    store.set_available(true);
    tokio::time::sleep(Duration::from_millis(1)).await;
    let (three, _three_mail) = join(&store).await;
    assert!(three.instance() > one.instance() && three.instance() > two.instance(), "{:?}", three.instance());
}

// G9
#[tokio::test(start_paused = true)]
async fn gateway_whose_number_was_taken_gets_a_new_one_and_its_messages() {
    let store = Arc::<InProcessStore>::default();
    let (one, mut one_mail) = join(&store).await;
    let old = one.instance();
    let lost = StoreChange::Put {
        key: one.keys().heartbeat_key(old),
        value: b"another".to_vec(),
        ttl: Some(CLUSTER_BEAT_TTL),
    };
    store.apply_changes(vec![lost]).await.unwrap();
    tokio::time::sleep(CLUSTER_BEAT + Duration::from_millis(1)).await;
    assert_ne!(one.instance(), old);
    one.send_message(one.instance(), b"new".to_vec()).await.unwrap();
    assert_eq!(one_mail.receive_messages().await, [MailboxMessage::Direct(b"new".to_vec())]);
    let token = store.fetch_value(one.keys().heartbeat_key(old)).await.unwrap();
    assert_eq!(token.as_deref(), Some(b"another".as_slice()), "the other gateway keeps its heartbeat");
}

// G9
#[tokio::test(start_paused = true)]
async fn refused_write_is_counted_alone_and_the_others_of_its_batch_are_applied() {
    let store = Arc::<InProcessStore>::default();
    let (one, _mail) = join(&store).await;
    let put = |key: &str| StoreChange::Put { key: key.to_owned(), value: b"1".to_vec(), ttl: None };
    store.apply_changes(vec![put("value")]).await.unwrap();
    let append = StoreChange::Append {
        log: "value".to_owned(),
        entry: Vec::new(),
        most: 1,
        ttl: Duration::from_secs(1),
    };
    [put("before"), append, put("after")].into_iter().for_each(|change| one.write_later(change));
    one.writes.wait_until_empty().await;
    assert_eq!(one.dropped_writes(), 1);
    for key in ["before", "after"] {
        assert!(store.fetch_value(key.to_owned()).await.unwrap().is_some(), "{key}");
    }
}
