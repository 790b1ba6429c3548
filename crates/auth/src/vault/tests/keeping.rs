//! The place of the key when better places refuse, forget or hang, and the effect on entries.

use std::fs;
use std::time::Instant;

use mcparley_model::explain::Explain as _;

use super::*;
use crate::vault::key_location::VaultNotices;
use crate::vault::keys::VaultKeys;

// A2
#[tokio::test]
async fn key_is_stored_in_the_best_place_and_in_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let keychain = Fake::new(KeyPlace::SecretService, Manner::Works);
    let vault = with_fakes(folder.path(), &[&keychain]);
    put(&vault, &server("a"), "one").await;
    let keeper = vault.key_location().await.unwrap();
    assert_eq!((keeper.as_str(), keeper.notice()), ("secret-service", None));
    assert_eq!(keeper.to_string(), "desktop's keychain (Secret Service)");
    assert!(!folder.path().join("key").exists());
    assert_eq!(notices(&vault), [""; 0]);
    for _ in 0..5 {
        assert_eq!(text(&vault, &server("a")).await.unwrap(), "one");
    }
    let fresh = with_fakes(folder.path(), &[&keychain]);
    let before = keychain.asked();
    for _ in 0..5 {
        assert_eq!(text(&fresh, &server("a")).await.unwrap(), "one");
    }
    assert_eq!(keychain.asked() - before, 1, "each key is fetched once");
}

// F84
#[tokio::test]
async fn hanging_keychain_is_skipped_after_one_timeout_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let hanging = Fake::new(KeyPlace::SecretService, Manner::Hangs);
    let forgetful = Fake::new(KeyPlace::KernelKeyring, Manner::Forgets);
    let vault = with_fakes(folder.path(), &[&hanging, &forgetful]);
    let start = Instant::now();
    put(&vault, &server("a"), "one").await;
    let waited = start.elapsed();
    assert!(waited >= PATIENCE && waited < PATIENCE * 10, "{waited:?}");
    put(&vault, &server("b"), "two").await;
    assert_eq!(text(&vault, &server("a")).await.unwrap(), "one");
    assert_eq!(hanging.asked(), 1, "asked again though it never answers");
    let expected = "the key of your credentials is stored in the file `key` beside the vault; not in the \
        desktop's keychain (Secret Service): it did not answer within 200ms; not in the kernel's keyring: it \
        did not store the key";
    assert_eq!(notices(&vault), [expected]);
    let keeper = vault.key_location().await.unwrap();
    assert_eq!(keeper.place(), KeyPlace::File);
    assert!(keeper.notice().unwrap().contains("did not answer within 200ms"));
    assert_eq!(hanging.asked(), 1);
}

// F84
#[tokio::test]
async fn entry_is_absent_while_its_keychain_is_unreachable() {
    let folder = tempfile::tempdir().unwrap();
    let keychain = Fake::new(KeyPlace::SecretService, Manner::Works);
    put(&with_fakes(folder.path(), &[&keychain]), &server("a"), "desktop").await;
    put(&with_fakes(folder.path(), &[&keychain]), &server("b"), "desktop").await;

    for manner in [Manner::Refuses, Manner::Hangs] {
        keychain.becomes(manner);
        let remote = with_fakes(folder.path(), &[&keychain]);
        assert_eq!(text(&remote, &server("b")).await, None);
        assert!(notices(&remote)[0].starts_with("the key of some credentials is in `secret-service`"));
        remote.write_entry(&server("a"), secret("remote"), ExpectedEntry::Any).await.unwrap();
        assert_eq!(text(&remote, &server("a")).await.unwrap(), "remote");
    }

    keychain.becomes(Manner::Works);
    let desktop = with_fakes(folder.path(), &[&keychain]);
    assert_eq!(text(&desktop, &server("a")).await.unwrap(), "remote");
    assert_eq!(text(&desktop, &server("b")).await.unwrap(), "desktop");
    // An entry keeps its key, so that the plain terminal does not lose access to it.
    put(&desktop, &server("a"), "refreshed").await;
    keychain.becomes(Manner::Refuses);
    let remote = with_fakes(folder.path(), &[&keychain]);
    assert_eq!(text(&remote, &server("a")).await.unwrap(), "refreshed");
}

// A2 F84
#[tokio::test]
async fn entry_can_be_written_again_after_the_keyring_lost_its_key() {
    let folder = tempfile::tempdir().unwrap();
    let keyring = Fake::new(KeyPlace::KernelKeyring, Manner::Works);
    put(&with_fakes(folder.path(), &[&keyring]), &server("a"), "one").await;
    keyring.keys.lock().unwrap().clear();

    let vault = with_fakes(folder.path(), &[&keyring]);
    assert_eq!(text(&vault, &server("a")).await, None);
    assert_eq!(vault.list_entries("server").await.unwrap(), []);
    let told = "the key of some credentials is no longer in `kernel-keyring`: sign in again";
    assert_eq!(notices(&vault), [told]);
    vault.write_entry(&server("a"), secret("new"), ExpectedEntry::Absent).await.unwrap();
    assert_eq!(text(&with_fakes(folder.path(), &[&keyring]), &server("a")).await.unwrap(), "new");
}

// A2
#[test]
fn running_program_restores_a_key_that_the_kernel_expired() {
    let keyring = Fake::new(KeyPlace::KernelKeyring, Manner::Works);
    let notices = Arc::new(VaultNotices::default());
    let mut keys = VaultKeys::new(vec![Arc::clone(&keyring) as Arc<dyn Keychain>], PATIENCE, notices);
    let made = keys.create_key().unwrap();
    assert!(keys.find_key(&made.line).is_some());
    assert_eq!(keyring.asked(), 1, "a key that was just used needs no care");
    keys.renewal = Duration::ZERO;
    keyring.keys.lock().unwrap().clear();
    assert!(keys.find_key(&made.line).is_some());
    assert_eq!(keyring.keys.lock().unwrap().keys().collect::<Vec<_>>(), [&made.line.id]);
}

#[tokio::test]
async fn lost_keys_without_entries_are_dropped_from_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let keyring = Fake::new(KeyPlace::KernelKeyring, Manner::Works);
    for _ in 0..40 {
        put(&with_fakes(folder.path(), &[&keyring]), &server("a"), "one").await;
        keyring.keys.lock().unwrap().clear();
    }
    let content = fs::read_to_string(file(folder.path())).unwrap();
    let keys = content.lines().filter(|line| line.starts_with("key ")).count();
    assert!(keys <= mcparley_model::limits::VAULT_KEYS, "{keys}");
}

// A2
#[tokio::test]
async fn keyring_storage_creates_no_key_file() {
    let folder = tempfile::tempdir().unwrap();
    let refusing = Fake::new(KeyPlace::SecretService, Manner::Refuses);
    let settings = VaultSettings { storage: KeyStorage::Keyring, ..VaultSettings::new(folder.path()) };
    let vault = Vault::with_keychains(settings, vec![Arc::clone(&refusing) as Arc<dyn Keychain>]);
    let error = vault.write_entry(&server("a"), secret("one"), ExpectedEntry::Any).await.unwrap_err();
    let expected =
        "cannot store the key of the vault; not in the desktop's keychain (Secret Service): it is locked";
    assert_eq!(error.to_string(), expected);
    assert_eq!(error.hint().unwrap(), "unlock the desktop's keychain (Secret Service)");
    assert!(matches!(vault.key_location().await, Err(VaultError::NoKeyPlace { .. })));
    assert!(!folder.path().join("key").exists());
    assert!(!file(folder.path()).exists());

    put(&with_file(folder.path()), &server("a"), "by file").await;
    assert_eq!(text(&vault, &server("a")).await, None, "a key in a file is not used either");
    assert!(notices(&vault)[0].ends_with("in `file`, which cannot be used: it is not available here"));
}

// A2
#[tokio::test]
async fn environment_key_opens_its_own_entries() {
    let folder = tempfile::tempdir().unwrap();
    let with_key = |key: &str| {
        let storage = KeyStorage::Environment(Secret::new(key.to_owned()));
        Vault::new(VaultSettings { storage, ..VaultSettings::new(folder.path()) })
    };
    let (right, wrong) = ("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n", "not a key");
    put(&with_key(right), &server("a"), "one").await;
    assert_eq!(text(&with_key(right), &server("a")).await.unwrap(), "one");
    assert_eq!(with_key(right).key_location().await.unwrap().as_str(), "environment");
    let other = "ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=";
    assert_eq!(text(&with_key(other), &server("a")).await, None);
    assert_eq!(text(&with_file(folder.path()), &server("a")).await, None);
    let error =
        with_key(wrong).write_entry(&server("b"), secret("two"), ExpectedEntry::Any).await.unwrap_err();
    let expected = "cannot store the key of the vault; not in the environment: its value is not 32 \
        bytes in base64";
    assert_eq!(error.to_string(), expected);
    assert_eq!(error.hint().unwrap(), "create one: `head -c 32 /dev/urandom | base64`");
    assert!(!folder.path().join("key").exists());
}

#[tokio::test]
async fn damaged_key_file_is_saved_next_to_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    put(&with_file(folder.path()), &server("a"), "one").await;
    let key = folder.path().join("key");
    fs::write(&key, "mcparley-key 1 cut").unwrap();
    let vault = with_file(folder.path());
    assert_eq!(text(&vault, &server("a")).await, None);
    vault.write_entry(&server("a"), secret("new"), ExpectedEntry::Absent).await.unwrap();
    assert_eq!(text(&with_file(folder.path()), &server("a")).await.unwrap(), "new");
    let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let aside: Vec<_> = names.filter(|path| path.to_string_lossy().contains("key.damaged-")).collect();
    assert_eq!(fs::read_to_string(&aside[0]).unwrap(), "mcparley-key 1 cut");
}
