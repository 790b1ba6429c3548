//! Where the key is kept when the better places refuse, forget or hang; and what becomes of entries then.

use std::fs;
use std::time::Instant;

use mcparley_model::explain::Explain as _;

use super::*;
use crate::vault::keeper::Notices;
use crate::vault::keys::Keys;

// A2
#[tokio::test]
async fn the_best_place_that_works_keeps_the_key_and_no_file_does() {
    let folder = tempfile::tempdir().unwrap();
    let keychain = Fake::new(Place::SecretService, Manner::Works);
    let vault = with_fakes(folder.path(), &[&keychain]);
    put(&vault, &server("a"), "one").await;
    let keeper = vault.keeper().await.unwrap();
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
async fn a_keychain_that_hangs_is_passed_over_once_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let hanging = Fake::new(Place::SecretService, Manner::Hangs);
    let forgetful = Fake::new(Place::KernelKeyring, Manner::Forgets);
    let vault = with_fakes(folder.path(), &[&hanging, &forgetful]);
    let start = Instant::now();
    put(&vault, &server("a"), "one").await;
    let waited = start.elapsed();
    assert!(waited >= PATIENCE && waited < PATIENCE * 10, "{waited:?}");
    put(&vault, &server("b"), "two").await;
    assert_eq!(text(&vault, &server("a")).await.unwrap(), "one");
    assert_eq!(hanging.asked(), 1, "asked again though it never answers");
    let expected = "the key of your credentials is kept in the file `key` beside the vault; not in the \
        desktop's keychain (Secret Service): it did not answer within 200ms; not in the kernel's keyring: it \
        did not keep the key";
    assert_eq!(notices(&vault), [expected]);
    let keeper = vault.keeper().await.unwrap();
    assert_eq!(keeper.place(), Place::File);
    assert!(keeper.notice().unwrap().contains("did not answer within 200ms"));
    assert_eq!(hanging.asked(), 1);
}

// F84
#[tokio::test]
async fn an_entry_whose_keychain_is_out_of_reach_is_none_now_and_there_again_later() {
    let folder = tempfile::tempdir().unwrap();
    let keychain = Fake::new(Place::SecretService, Manner::Works);
    put(&with_fakes(folder.path(), &[&keychain]), &server("a"), "desktop").await;
    put(&with_fakes(folder.path(), &[&keychain]), &server("b"), "desktop").await;

    for manner in [Manner::Refuses, Manner::Hangs] {
        keychain.becomes(manner);
        let remote = with_fakes(folder.path(), &[&keychain]);
        assert_eq!(text(&remote, &server("b")).await, None);
        assert!(notices(&remote)[0].starts_with("the key of some credentials is in `secret-service`"));
        remote.write(&server("a"), secret("remote"), Expected::Anything).await.unwrap();
        assert_eq!(text(&remote, &server("a")).await.unwrap(), "remote");
    }

    keychain.becomes(Manner::Works);
    let desktop = with_fakes(folder.path(), &[&keychain]);
    assert_eq!(text(&desktop, &server("a")).await.unwrap(), "remote");
    assert_eq!(text(&desktop, &server("b")).await.unwrap(), "desktop");
    // An entry stays where it is, so that the plain terminal does not lose sight of it.
    put(&desktop, &server("a"), "refreshed").await;
    keychain.becomes(Manner::Refuses);
    let remote = with_fakes(folder.path(), &[&keychain]);
    assert_eq!(text(&remote, &server("a")).await.unwrap(), "refreshed");
}

// A2 F84
#[tokio::test]
async fn when_the_keyring_has_lost_the_key_one_signs_in_again_and_nothing_is_in_the_way() {
    let folder = tempfile::tempdir().unwrap();
    let keyring = Fake::new(Place::KernelKeyring, Manner::Works);
    put(&with_fakes(folder.path(), &[&keyring]), &server("a"), "one").await;
    keyring.keys.lock().unwrap().clear();

    let vault = with_fakes(folder.path(), &[&keyring]);
    assert_eq!(text(&vault, &server("a")).await, None);
    assert_eq!(vault.list("server").await.unwrap(), []);
    let told = "the key of some credentials is no longer in `kernel-keyring`: sign in again";
    assert_eq!(notices(&vault), [told]);
    vault.write(&server("a"), secret("new"), Expected::Nothing).await.unwrap();
    assert_eq!(text(&with_fakes(folder.path(), &[&keyring]), &server("a")).await.unwrap(), "new");
}

// A2
#[test]
fn a_running_program_puts_a_key_back_that_the_kernel_forgot() {
    let keyring = Fake::new(Place::KernelKeyring, Manner::Works);
    let notices = Arc::new(Notices::default());
    let mut keys = Keys::new(vec![Arc::clone(&keyring) as Arc<dyn Keychain>], PATIENCE, notices);
    let made = keys.make().unwrap();
    assert!(keys.find(&made.line).is_some());
    assert_eq!(keyring.asked(), 1, "a key that was just used needs no care");
    keys.renewal = Duration::ZERO;
    keyring.keys.lock().unwrap().clear();
    assert!(keys.find(&made.line).is_some());
    assert_eq!(keyring.keys.lock().unwrap().keys().collect::<Vec<_>>(), [&made.line.id]);
}

#[tokio::test]
async fn keys_that_were_lost_and_that_no_entry_needs_are_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let keyring = Fake::new(Place::KernelKeyring, Manner::Works);
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
async fn where_only_keychains_are_allowed_no_file_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let refusing = Fake::new(Place::SecretService, Manner::Refuses);
    let settings = VaultSettings { storage: Storage::Keyring, ..VaultSettings::new(folder.path()) };
    let vault = Vault::with_keychains(settings, vec![Arc::clone(&refusing) as Arc<dyn Keychain>]);
    let error = vault.write(&server("a"), secret("one"), Expected::Anything).await.unwrap_err();
    let expected =
        "no place to keep the key of the vault; not in the desktop's keychain (Secret Service): it is locked";
    assert_eq!(error.to_string(), expected);
    assert_eq!(error.hint().unwrap(), "unlock the desktop's keychain (Secret Service)");
    assert!(matches!(vault.keeper().await, Err(VaultError::NoKeeper { .. })));
    assert!(!folder.path().join("key").exists());
    assert!(!file(folder.path()).exists());

    put(&with_file(folder.path()), &server("a"), "by file").await;
    assert_eq!(text(&vault, &server("a")).await, None, "a key in a file is not used either");
    assert!(notices(&vault)[0].ends_with("in `file`, which cannot be used: it is not in use here"));
}

// A2
#[tokio::test]
async fn a_key_that_is_handed_in_opens_what_it_sealed() {
    let folder = tempfile::tempdir().unwrap();
    let with_key = |key: &str| {
        let storage = Storage::Environment(Secret::new(key.to_owned()));
        Vault::new(VaultSettings { storage, ..VaultSettings::new(folder.path()) })
    };
    let (right, wrong) = ("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n", "not a key");
    put(&with_key(right), &server("a"), "one").await;
    assert_eq!(text(&with_key(right), &server("a")).await.unwrap(), "one");
    assert_eq!(with_key(right).keeper().await.unwrap().as_str(), "environment");
    let other = "ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=";
    assert_eq!(text(&with_key(other), &server("a")).await, None);
    assert_eq!(text(&with_file(folder.path()), &server("a")).await, None);
    let error = with_key(wrong).write(&server("b"), secret("two"), Expected::Anything).await.unwrap_err();
    let expected = "no place to keep the key of the vault; not in the environment: what it holds is not 32 \
        bytes in base64";
    assert_eq!(error.to_string(), expected);
    assert_eq!(error.hint().unwrap(), "make one: `head -c 32 /dev/urandom | base64`");
    assert!(!folder.path().join("key").exists());
}

#[tokio::test]
async fn a_damaged_key_file_is_kept_beside_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    put(&with_file(folder.path()), &server("a"), "one").await;
    let key = folder.path().join("key");
    fs::write(&key, "mcparley-key 1 cut").unwrap();
    let vault = with_file(folder.path());
    assert_eq!(text(&vault, &server("a")).await, None);
    vault.write(&server("a"), secret("new"), Expected::Nothing).await.unwrap();
    assert_eq!(text(&with_file(folder.path()), &server("a")).await.unwrap(), "new");
    let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let aside: Vec<_> = names.filter(|path| path.to_string_lossy().contains("key.damaged-")).collect();
    assert_eq!(fs::read_to_string(&aside[0]).unwrap(), "mcparley-key 1 cut");
}
