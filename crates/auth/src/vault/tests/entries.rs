//! Entries are written and read; no caller overwrites a version it has not seen.

use std::fs;

use super::*;

// A2
#[tokio::test]
async fn what_one_vault_writes_another_reads() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("deep");
    let (first, second) = (with_file(&folder), with_file(&folder));
    assert_eq!(first.read_entry(&server("a")).await.unwrap(), None);
    assert!(!folder.exists(), "reading makes nothing");
    let generation = put(&first, &server("a"), "one").await;
    let entry = VaultEntry { generation, value: secret("one") };
    assert_eq!(second.read_entry(&server("a")).await.unwrap(), Some(entry));
    put(&second, &server("a"), "two").await;
    assert_eq!(text(&first, &server("a")).await.unwrap(), "two");
    assert_eq!(notices(&first), [""; 0]);
}

// A2
#[tokio::test]
async fn new_vault_touches_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let keychain = Fake::new(KeyPlace::SecretService, Manner::Works);
    let vault = with_fakes(&folder.path().join("deep"), &[&keychain]);
    assert_eq!(vault.read_entry(&server("a")).await.unwrap(), None);
    assert_eq!(vault.list_entries("server").await.unwrap(), []);
    assert!(!vault.remove_entry(&server("a"), ExpectedEntry::Any).await.unwrap());
    assert_eq!(keychain.asked(), 0);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

// B78 H33
#[tokio::test]
async fn names_that_differ_anywhere_are_different_entries() {
    let folder = tempfile::tempdir().unwrap();
    let vault = with_file(folder.path());
    let long = "x".repeat(200);
    let ids = [
        EntryId::new("server", "ab"),
        EntryId::new("server", "AB"),
        EntryId::new("server", "ab "),
        EntryId::new("server", "ab\n"),
        EntryId::new("server", "ab\nentry server/cd 1 0 x"),
        EntryId::new("server", ""),
        EntryId::new("server", "secret/ab"),
        EntryId::new("server", &long),
        EntryId::new("server", format!("{long}x")),
        EntryId::new("secret", "ab"),
    ];
    for (number, id) in ids.iter().enumerate() {
        put(&vault, id, &number.to_string()).await;
    }
    for (number, id) in ids.iter().enumerate() {
        assert_eq!(text(&vault, id).await, Some(number.to_string()), "{id}");
    }
    let listed = vault.list_entries("server").await.unwrap();
    assert_eq!(listed.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>(), ids[..9]);
    assert_eq!(ids[9].kind(), "secret");
    assert_eq!(ids[0].as_str(), "server/ab");
}

// A3 H33
#[tokio::test]
async fn change_needs_the_expected_generation() {
    let folder = tempfile::tempdir().unwrap();
    let vault = with_file(folder.path());
    let id = server("a");
    let first = vault.write_entry(&id, secret("one"), ExpectedEntry::Absent).await.unwrap();
    let second = vault.write_entry(&id, secret("two"), ExpectedEntry::Generation(first)).await.unwrap();
    let refused = [
        vault.write_entry(&id, secret("three"), ExpectedEntry::Absent).await.map(drop),
        vault.write_entry(&id, secret("three"), ExpectedEntry::Generation(first)).await.map(drop),
        vault.remove_entry(&id, ExpectedEntry::Generation(first)).await.map(drop),
        vault.remove_entry(&id, ExpectedEntry::Absent).await.map(drop),
    ];
    for error in refused.map(Result::unwrap_err) {
        assert!(matches!(&error, VaultError::Changed { found, .. } if *found == Some(second)), "{error:?}");
    }
    assert_eq!(text(&vault, &id).await.unwrap(), "two");
    assert!(vault.remove_entry(&id, ExpectedEntry::Generation(second)).await.unwrap());
    let error = vault.write_entry(&id, secret("three"), ExpectedEntry::Generation(second)).await.unwrap_err();
    assert!(matches!(error, VaultError::Changed { found: None, .. }), "{error:?}");
    let third = vault.write_entry(&id, secret("three"), ExpectedEntry::Absent).await.unwrap();
    assert!(third > second, "a generation is given twice");
}

// A3 F83
#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_concurrent_writers_wins() {
    let folder = tempfile::tempdir().unwrap();
    let id = server("a");
    let vaults = [with_file(folder.path()), with_file(folder.path())];
    let seen = put(&vaults[0], &id, "old").await;
    let [first, second] = &vaults;
    let (first, second) = tokio::join!(
        first.write_entry(&id, secret("first"), ExpectedEntry::Generation(seen)),
        second.remove_entry(&id, ExpectedEntry::Generation(seen)),
    );
    assert_ne!(first.is_ok(), second.is_ok());
    let left = text(&vaults[0], &id).await;
    assert_eq!(left, first.is_ok().then(|| "first".to_owned()));
}

// F79
#[tokio::test(flavor = "multi_thread")]
async fn eight_first_writers_agree_on_one_key() {
    let folder = tempfile::tempdir().unwrap();
    let keychain = Fake::new(KeyPlace::SecretService, Manner::Works);
    let tasks = (0..8).map(|number| {
        let vault = with_fakes(folder.path(), &[&keychain]);
        tokio::spawn(async move { put(&vault, &server(&format!("w{number}")), "value").await })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    let vault = with_fakes(folder.path(), &[&keychain]);
    assert_eq!(vault.list_entries("server").await.unwrap().len(), 8);
    assert_eq!(keychain.keys.lock().unwrap().len(), 1);
}

// A3
#[tokio::test]
async fn write_finishes_after_its_caller_is_canceled() {
    let folder = tempfile::tempdir().unwrap();
    let vault = with_file(folder.path());
    let id = server("a");
    {
        let mut writing = Box::pin(vault.write_entry(&id, secret("kept"), ExpectedEntry::Any));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(writing.as_mut().poll(&mut context).is_pending());
    }
    let deadline = std::time::Instant::now() + Duration::from_secs(10);
    while text(&vault, &id).await.is_none() {
        assert!(std::time::Instant::now() < deadline, "the write was torn");
    }
    assert_eq!(text(&vault, &id).await.unwrap(), "kept");
}

// H29 B62
#[tokio::test]
async fn no_secret_shows_in_the_file_in_debug_output_or_in_errors() {
    const CANARY: &str = "canary-3f9c";
    let folder = tempfile::tempdir().unwrap();
    let key = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
    let storage = KeyStorage::Environment(Secret::new(key.to_owned()));
    let settings = VaultSettings { storage, ..VaultSettings::new(folder.path()) };
    let vault = Vault::new(settings.clone());
    let generation = put(&vault, &server("a"), CANARY).await;
    let entry = vault.read_entry(&server("a")).await.unwrap().unwrap();
    let listed = vault.list_entries("server").await.unwrap();
    let changed = vault.write_entry(&server("a"), secret(CANARY), ExpectedEntry::Absent).await.unwrap_err();
    let shown = format!("{settings:?} {vault:?} {entry:?} {listed:?} {changed:?} {changed} {generation}");
    let content = fs::read(file(folder.path())).unwrap();
    let content = String::from_utf8(content).unwrap();
    for text in [shown, content] {
        for canary in [CANARY, key, "0123456789abcdef0123456789abcdef", "Y2FuYXJ5"] {
            assert!(!text.contains(canary), "{canary} in {text}");
        }
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "the vault and its locks");
}
