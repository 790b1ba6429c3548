//! The keyring of the real kernel, or the reason why it cannot be used.
#![expect(clippy::disallowed_methods, reason = "a test looks at the file")]

use super::*;
use crate::vault::keychain::Keychain;
use crate::vault::{EntryId, ExpectedEntry, Vault, VaultSettings};
use mcparley_model::secret::Secret;

/// Removes the key again, so that tests do not fill the user's quota.
struct Forgotten(KeyId);

impl Drop for Forgotten {
    fn drop(&mut self) {
        if let Ok(ring) = KernelKeyring::open_persistent()
            && let Ok(key) = ring.search(&key_name(&self.0))
        {
            ring.unlink_key(key).unwrap_or_default();
        }
    }
}

// A2
#[test]
fn kernel_key_is_found_by_another_thread_until_it_is_removed() {
    let key = DataKey::generate().unwrap();
    let forgotten = Forgotten(key.id());
    // A sandbox may forbid keyrings. That is an error at once, and the vault uses the next place.
    let kept = match KernelKeyring.store_key(&key) {
        Ok(kept) => kept,
        Err(why) => {
            assert!(matches!(why, KeyPlaceError::Reported(_) | KeyPlaceError::NotPersistent), "{why:?}");
            return;
        }
    };
    assert_eq!(kept.id(), key.id());
    let id = key.id();
    let found = std::thread::spawn(move || KernelKeyring.find_key(&id).unwrap()).join().unwrap();
    assert_eq!(found.unwrap().expose(), key.expose());
    drop(forgotten);
    assert!(KernelKeyring.find_key(&key.id()).unwrap().is_none());
}

// A2 F84
#[tokio::test]
async fn without_a_session_bus_the_key_is_stored_in_the_kernel_or_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Vault::new(VaultSettings::new(folder.path()));
    let (vault, id) = (open(), EntryId::new("server", "a"));
    vault.write_entry(&id, Secret::new(b"one".to_vec()), ExpectedEntry::Absent).await.unwrap();
    let keeper = vault.key_location().await.unwrap();
    let told: Vec<String> = vault.take_notices().iter().map(ToString::to_string).collect();
    assert!(told[0].contains("not in the desktop's keychain (Secret Service): there is no session bus"));
    match keeper.place() {
        KeyPlace::KernelKeyring => {
            assert!(!folder.path().join("key").exists());
            assert!(told[0].starts_with("the key of your credentials is stored in the kernel's keyring;"));
        }
        KeyPlace::File => assert!(told[0].contains("; not in the kernel's keyring: it"), "{told:?}"),
        KeyPlace::SecretService | KeyPlace::Environment => panic!("{keeper:?}"),
    }
    let read = open().read_entry(&id).await.unwrap().unwrap();
    assert_eq!(read.value, Secret::new(b"one".to_vec()));
    let content = std::fs::read_to_string(folder.path().join("vault")).unwrap();
    let key = content.lines().find_map(|line| line.strip_prefix("key ")?.split(' ').next()).unwrap();
    drop(Forgotten(KeyId::from_file(key).unwrap()));
}
