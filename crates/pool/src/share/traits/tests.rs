//! The store of observed traits: its lifetime, its limits and its damages.
#![expect(clippy::disallowed_methods, reason = "tests prepare files")]

use std::sync::Barrier;

use mcparley_model::config::{ServerConfig, TransportConfig};
use tempfile::TempDir;

use super::*;

fn signature_of(name: &str) -> Signature {
    Signature::from_config(&ServerConfig::new(TransportConfig::Sdk { name: name.to_owned() }))
}

fn text_of(folder: &TempDir) -> String {
    std::fs::read_to_string(folder.path().join(FILE)).unwrap()
}

fn store_in(folder: &TempDir) -> TraitStore {
    TraitStore::new(Some(folder.path()))
}

// G8
#[test]
fn traits_are_kept_for_other_processes_and_other_servers_have_none() {
    let folder = tempfile::tempdir().unwrap();
    let (server, other) = (signature_of("a"), signature_of("b"));
    assert!(store_in(&folder).record(&server, ServerTrait::ReadsRoots));
    assert!(store_in(&folder).record(&server, ServerTrait::IgnoresOffer));
    let expected = ServerTraits { reads_roots: true, ignores_offer: true, ..ServerTraits::default() };
    assert_eq!(store_in(&folder).traits_of(&server), expected);
    assert_eq!(store_in(&folder).traits_of(&other), ServerTraits::default());
    assert_eq!(
        text_of(&folder),
        format!("{{\"servers\":{{\"{server}\":{{\"readsRoots\":true,\"ignoresOffer\":true}}}}}}\n")
    );
}

// G8
#[test]
fn running_process_learns_from_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (store_in(&folder), store_in(&folder));
    assert_eq!(one.traits_of(&signature_of("a")), ServerTraits::default());
    other.record(&signature_of("a"), ServerTrait::Asks);
    assert!(one.traits_of(&signature_of("a")).asks);
}

// G8
#[test]
fn server_that_asks_or_varies_no_longer_ignores_the_offer() {
    for contradiction in [ServerTrait::Asks, ServerTrait::VariesByOffer] {
        let folder = tempfile::tempdir().unwrap();
        let server = signature_of("a");
        let store = store_in(&folder);
        assert!(store.record(&server, ServerTrait::IgnoresOffer));
        assert!(store.record(&server, contradiction));
        assert!(!store.record(&server, ServerTrait::IgnoresOffer), "it cannot be learned again");
        let expected = ServerTraits::default().with_trait(contradiction);
        assert_eq!(store.traits_of(&server), expected);
        assert_eq!(store_in(&folder).traits_of(&server), expected, "in another process");
        assert!(!text_of(&folder).contains("ignoresOffer"));
    }
}

// G8
#[test]
fn known_trait_is_not_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(&folder);
    assert!(store.record(&signature_of("a"), ServerTrait::Asks));
    std::fs::remove_file(folder.path().join(FILE)).unwrap();
    assert!(!store.record(&signature_of("a"), ServerTrait::Asks));
    assert!(!folder.path().join(FILE).exists());
}

// G8
#[test]
fn damaged_file_counts_as_empty_and_is_replaced() {
    let huge = vec![b' '; usize::try_from(SERVER_TRAITS_BYTES).unwrap() + 1];
    let server = signature_of("a");
    let wrong_entry = format!(r#"{{"servers": {{"{server}": ["asks"], "x": 7}}}}"#);
    let wrong_flag = format!(r#"{{"servers": {{"{server}": {{"ignoresOffer": "yes"}}}}}}"#);
    let damages: [&[u8]; 8] = [
        b"",
        b"{\"servers\": {\"",
        b"[1, 2]",
        b"{\"servers\": 7}",
        b"\xff\xfe{}",
        &huge,
        wrong_entry.as_bytes(),
        wrong_flag.as_bytes(),
    ];
    for damage in damages {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), damage).unwrap();
        let store = store_in(&folder);
        assert_eq!(store.traits_of(&server), ServerTraits::default());
        assert!(store.record(&server, ServerTrait::Asks));
        let start = String::from_utf8_lossy(damage.get(..20.min(damage.len())).unwrap()).into_owned();
        assert!(store_in(&folder).traits_of(&server).asks, "{start}");
    }
}

// G8
#[test]
fn unknown_members_survive_a_write() {
    let folder = tempfile::tempdir().unwrap();
    let server = signature_of("a");
    let before = format!(
        r#"{{"later": [1], "servers": {{"{server}": {{"seen": 3, "ignoresOffer": true}}, "other": {{"x": null}}}}}}"#
    );
    std::fs::write(folder.path().join(FILE), before).unwrap();
    assert!(store_in(&folder).record(&server, ServerTrait::Asks));
    let after: Value = serde_json::from_str(&text_of(&folder)).unwrap();
    let expected = serde_json::json!({
        "later": [1],
        "servers": { "other": { "x": null }, server.to_string(): { "seen": 3, "asks": true } },
    });
    assert_eq!(after, expected);
}

// G8
#[test]
fn oldest_servers_are_dropped_beyond_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let servers: Map<String, Value> =
        (0..SERVER_TRAITS).map(|n| (format!("{n}"), serde_json::json!({ "asks": true }))).collect();
    let content = serde_json::json!({ "servers": servers });
    std::fs::write(folder.path().join(FILE), content.to_string()).unwrap();
    assert!(store_in(&folder).record(&signature_of("new"), ServerTrait::Asks));
    let stored = read_servers(&folder.path().join(FILE));
    assert_eq!(stored.len(), SERVER_TRAITS);
    assert!(!stored.contains_key("0") && stored.contains_key("1"));
    assert!(stored.contains_key(&signature_of("new").to_string()));
}

// G8
#[test]
fn file_never_grows_beyond_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let note = "x".repeat(usize::try_from(SERVER_TRAITS_BYTES).unwrap() - 200);
    let content = serde_json::json!({ "servers": { "other": { "note": note, "asks": true } } });
    std::fs::write(folder.path().join(FILE), content.to_string()).unwrap();
    for name in ["a", "b"] {
        assert!(store_in(&folder).record(&signature_of(name), ServerTrait::Asks));
        assert!(store_in(&folder).traits_of(&signature_of(name)).asks);
    }
}

// G8
#[test]
fn traits_hold_for_the_process_if_they_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for store in [TraitStore::new(None), TraitStore::new(Some(&file.join("below")))] {
        assert!(store.record(&signature_of("a"), ServerTrait::Asks));
        assert!(!store.record(&signature_of("a"), ServerTrait::Asks));
        assert!(store.traits_of(&signature_of("a")).asks);
    }
}

// G8
#[test]
fn memory_is_limited_to_the_same_number_of_servers() {
    let store = TraitStore::new(None);
    for n in 0..=SERVER_TRAITS {
        store.record(&signature_of(&n.to_string()), ServerTrait::Asks);
    }
    assert_eq!(store.lock_observed().len(), SERVER_TRAITS);
    assert!(store.traits_of(&signature_of(&SERVER_TRAITS.to_string())).asks, "the newest is kept");
}

// G8
#[test]
fn concurrent_writers_lose_no_trait() {
    const WRITERS: usize = 8;
    let folder = tempfile::tempdir().unwrap();
    let start = Barrier::new(WRITERS);
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (folder, start) = (&folder, &start);
            scope.spawn(move || {
                start.wait();
                for n in 0..5 {
                    store_in(folder).record(&signature_of(&format!("{writer}.{n}")), ServerTrait::Asks);
                }
            });
        }
    });
    assert_eq!(read_servers(&folder.path().join(FILE)).len(), WRITERS * 5);
}
