//! What `keyring-core` says is understood.

use super::*;
use keyring_core::mock::Store;

fn in_memory() -> Native {
    Native { place: Place::Keychain, store: || Ok(Store::new()?) }
}

// A2
#[test]
fn a_keychain_without_the_key_says_so_and_one_that_forgets_is_not_trusted() {
    let key = DataKey::random().unwrap();
    assert!(in_memory().find(&key.id()).unwrap().is_none());
    // Each use opens another store in memory, so nothing is there when it is looked for.
    assert!(matches!(in_memory().keep(&key), Err(Why::NotKept)));
}

#[test]
fn a_keychain_that_cannot_be_opened_says_why() {
    let broken = Native { place: Place::Keychain, store: || Err(Error::NoDefaultStore) };
    let why = broken.find(&KeyId::of_nothing()).unwrap_err();
    assert!(why.to_string().starts_with("it said: No default store"), "{why}");
}

// A2
#[test]
fn what_is_kept_is_found() {
    static SHARED: std::sync::OnceLock<Arc<CredentialStore>> = std::sync::OnceLock::new();
    let keychain = Native {
        place: Place::Keychain,
        store: || {
            let store: Arc<CredentialStore> = Store::new()?;
            Ok(Arc::clone(SHARED.get_or_init(|| store)))
        },
    };
    let key = DataKey::random().unwrap();
    assert_eq!(keychain.keep(&key).unwrap().expose(), key.expose());
    assert_eq!(keychain.find(&key.id()).unwrap().unwrap().expose(), key.expose());
}
