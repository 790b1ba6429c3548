//! Logs of broken connections that are longer than one read.

use mcparley_cluster::{ClusterMember, InProcessStore, KeyNames, Seal, SharedStore, StoreChange};
use mcparley_model::limits::{CLUSTER_READ_ENTRIES, DOOR_LOG_EVENTS, DOOR_LOG_TIME};
use serde_json::value::RawValue;

use super::*;
use mcparley_gateway::cluster_link::ClusterOptions;
use mcparley_gateway::cluster_link::messages::StreamEntry;

// G9 F91: Redis trims a log only now and then, so it has more entries than its limit.
#[tokio::test(start_paused = true)]
async fn log_is_read_to_its_end_when_it_is_longer_than_one_read() {
    let store: Arc<dyn SharedStore> = Arc::new(InProcessStore::default());
    let (member, mailbox) = ClusterMember::join(store, KeyNames::new("test"), "here").await.unwrap();
    let seal = Arc::new(Seal::in_memory().unwrap());
    let link = ClusterLink::new(ClusterOptions { member, mailbox, is_required: false }, seal);
    let events = CLUSTER_READ_ENTRIES as u64 + 40;
    let message = || RawValue::from_string("{}".to_owned()).ok();
    let entries = (1..=events).map(|event| LoggedEntry::Event(StreamEntry { event, message: message() }));
    let changes = entries.chain([LoggedEntry::End]).map(|entry| StoreChange::Append {
        log: link.member.keys().event_log("session", 7),
        entry: link.seal_entry(&entry).unwrap(),
        most: DOOR_LOG_EVENTS,
        ttl: DOOR_LOG_TIME,
    });
    link.member.store().apply_changes(changes.collect()).await.unwrap();
    let read = read_log(&link, "session", 7).await.unwrap();
    assert_eq!(read.len() as u64, events + 1);
    assert!(matches!(read.last(), Some(LoggedEntry::End)));
    let (request, mirror) = (RawJson::from_text("7"), DoorStream::mirror_of(7, None, 0));
    assert!(replay_log(read, &mirror, &request));
}
