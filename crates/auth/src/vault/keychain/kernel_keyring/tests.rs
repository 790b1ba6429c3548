//! The real kernel, or the reason why it will not.
#![expect(clippy::disallowed_methods, reason = "a test looks at the file")]

use super::*;
use crate::vault::keychain::Keychain;
use crate::vault::{EntryId, Expected, Vault, VaultSettings};
use mcparley_model::secret::Secret;

/// Forgets the key again, so that tests do not fill the user's quota.
struct Forgotten(KeyId);

impl Drop for Forgotten {
    fn drop(&mut self) {
        if let Ok(ring) = KernelKeyring::ring()
            && let Ok(key) = ring.search(&name(&self.0))
        {
            ring.unlink_key(key).unwrap_or_default();
        }
    }
}

// A2
#[test]
fn what_the_kernel_keeps_another_thread_finds_and_what_it_lost_is_gone() {
    let key = DataKey::random().unwrap();
    let forgotten = Forgotten(key.id());
    // A sandbox may forbid keyrings. It then says so at once, and the vault goes on to the next place.
    let kept = match KernelKeyring.keep(&key) {
        Ok(kept) => kept,
        Err(why) => {
            assert!(matches!(why, Why::Said(_) | Why::NotLasting), "{why:?}");
            return;
        }
    };
    assert_eq!(kept.id(), key.id());
    let id = key.id();
    let found = std::thread::spawn(move || KernelKeyring.find(&id).unwrap()).join().unwrap();
    assert_eq!(found.unwrap().expose(), key.expose());
    drop(forgotten);
    assert!(KernelKeyring.find(&key.id()).unwrap().is_none());
}

// A2 F84
#[tokio::test]
async fn without_a_session_bus_the_kernel_keeps_the_key_or_the_file_does_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Vault::new(VaultSettings::new(folder.path()));
    let (vault, id) = (open(), EntryId::new("server", "a"));
    vault.write(&id, Secret::new(b"one".to_vec()), Expected::Nothing).await.unwrap();
    let keeper = vault.keeper().await.unwrap();
    let told: Vec<String> = vault.take_notices().iter().map(ToString::to_string).collect();
    assert!(told[0].contains("not in the desktop's keychain (Secret Service): there is no session bus"));
    match keeper.place() {
        Place::KernelKeyring => {
            assert!(!folder.path().join("key").exists());
            assert!(told[0].starts_with("the key of your credentials is kept in the kernel's keyring;"));
        }
        Place::File => assert!(told[0].contains("; not in the kernel's keyring: it"), "{told:?}"),
        Place::SecretService | Place::Keychain | Place::Environment => panic!("{keeper:?}"),
    }
    let read = open().read(&id).await.unwrap().unwrap();
    assert_eq!(read.value, Secret::new(b"one".to_vec()));
    let content = std::fs::read_to_string(folder.path().join("vault")).unwrap();
    let key = content.lines().find_map(|line| line.strip_prefix("key ")?.split(' ').next()).unwrap();
    drop(Forgotten(KeyId::from_file(key).unwrap()));
}
