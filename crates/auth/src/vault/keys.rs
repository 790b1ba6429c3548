//! The data keys of a vault: the one that decrypts an entry, and the one that encrypts the next.
//!
//! A vault may have several keys. A user who signs in over a plain terminal cannot reach the desktop's
//! keychain: that entry gets a key in the next place, and the others keep theirs. An entry keeps its key as
//! long as the key can be reached, so that no process loses access to it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mcparley_model::limits;

use super::VaultError;
use super::cipher::{DataKey, KeyId};
use super::file_format::KeyLine;
use super::key_location::{KeyLocation, KeyPlace, KeyPlaceError, RefusedPlace, VaultNotice, VaultNotices};
use super::keychain::{Keychain, ask_with_timeout};

/// The data keys of one vault, a cache: each is fetched once.
pub(super) struct VaultKeys {
    /// The places, the best first.
    keychains: Vec<Arc<dyn Keychain>>,
    limit: Duration,
    notices: Arc<VaultNotices>,
    /// The interval at which a key in the kernel's keyring is renewed.
    pub(super) renewal: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    cached: HashMap<KeyId, CachedKey>,
    gone: HashSet<(KeyId, KeyPlace)>,
    /// Keychains that timed out: asking again would cost every caller the whole timeout.
    timed_out: HashMap<KeyPlace, KeyPlaceError>,
}

#[derive(Debug)]
struct CachedKey {
    key: DataKey,
    place: KeyPlace,
    /// The time when its place was last asked for it.
    asked: Instant,
}

/// A key with its line in the vault's file.
#[derive(Clone, Debug)]
pub(super) struct ChosenKey {
    pub(super) line: KeyLine,
    pub(super) key: DataKey,
}

impl VaultKeys {
    pub(super) fn new(
        keychains: Vec<Arc<dyn Keychain>>,
        limit: Duration,
        notices: Arc<VaultNotices>,
    ) -> Self {
        Self { keychains, limit, notices, renewal: limits::KEYRING_RENEWED, state: Mutex::default() }
    }

    /// Fetches the key of an entry; if that fails, the user gets a notice.
    pub(super) fn find_key(&self, line: &KeyLine) -> Option<DataKey> {
        let mut state = self.lock_state();
        let missing = match self.fetch_key(&mut state, line) {
            Ok(Some(key)) => return Some(key),
            Ok(None) => VaultNotice::KeyGone { keeper: line.keeper.clone() },
            Err(why) => VaultNotice::KeyOutOfReach { keeper: line.keeper.clone(), why },
        };
        self.notices.add_notice(missing);
        None
    }

    /// Searches all places for a key whose place is not known.
    pub(super) fn search_everywhere(&self, id: &KeyId) -> Option<DataKey> {
        let mut state = self.lock_state();
        self.keychains.iter().find_map(|keychain| {
            let line = KeyLine { id: id.clone(), keeper: keychain.place().as_str().to_owned() };
            self.fetch_key(&mut state, &line).ok().flatten()
        })
    }

    /// The key in the best place among those the vault names.
    pub(super) fn best_key(&self, lines: &[KeyLine]) -> Option<ChosenKey> {
        let mut state = self.lock_state();
        self.keychains.iter().find_map(|keychain| {
            let here = lines.iter().rev().filter(|line| line.keeper == keychain.place().as_str());
            here.into_iter().find_map(|line| {
                let key = self.fetch_key(&mut state, line).ok().flatten()?;
                Some(ChosenKey { line: line.clone(), key })
            })
        })
    }

    /// Creates a new key, stored in the best place that accepts it.
    pub(super) fn create_key(&self) -> Result<ChosenKey, VaultError> {
        let fresh = DataKey::generate()?;
        let mut state = self.lock_state();
        let mut refused = Vec::new();
        for keychain in &self.keychains {
            let (place, wanted) = (keychain.place(), fresh.clone());
            match self.ask_keychain(&mut state, keychain, move |keychain| keychain.store_key(&wanted)) {
                Ok(key) => {
                    state.cache_key(&key, place);
                    self.report_refused_places(place, refused);
                    let line = KeyLine { id: key.id(), keeper: place.as_str().to_owned() };
                    return Ok(ChosenKey { line, key });
                }
                Err(why) => refused.push(RefusedPlace { place, why }),
            }
        }
        Err(VaultError::NoKeyPlace { refused })
    }

    /// The place of the key for new entries, or the place where it would be created. Creates no key.
    pub(super) fn key_location(&self, lines: &[KeyLine]) -> Result<KeyLocation, VaultError> {
        let best = self.best_key(lines);
        let mut state = self.lock_state();
        let mut refused = Vec::new();
        for keychain in &self.keychains {
            let place = keychain.place();
            let is_best = best.as_ref().is_some_and(|best| best.line.keeper == place.as_str());
            let answer =
                self.ask_keychain(&mut state, keychain, |keychain| keychain.find_key(&KeyId::placeholder()));
            match answer {
                _ if is_best => return Ok(KeyLocation { place, refused }),
                Ok(_) if best.is_none() => return Ok(KeyLocation { place, refused }),
                // This place could be used, but the vault has its key in another place and stays there.
                Ok(_) => {}
                Err(why) => refused.push(RefusedPlace { place, why }),
            }
        }
        Err(VaultError::NoKeyPlace { refused })
    }

    fn fetch_key(&self, state: &mut State, line: &KeyLine) -> Result<Option<DataKey>, KeyPlaceError> {
        if let Some(known) = state.cached.get(&line.id) {
            let key = known.key.clone();
            self.renew_kernel_key(state, &line.id);
            return Ok(Some(key));
        }
        let of_line = |keychain: &&Arc<dyn Keychain>| keychain.place().as_str() == line.keeper;
        let keychain = self.keychains.iter().find(of_line).ok_or(KeyPlaceError::NotInUse)?;
        let here = (line.id.clone(), keychain.place());
        if state.gone.contains(&here) {
            return Ok(None);
        }
        let id = line.id.clone();
        let found = self.ask_keychain(state, keychain, move |keychain| keychain.find_key(&id))?;
        match found.filter(|key| key.id() == line.id) {
            Some(key) => {
                state.cache_key(&key, here.1);
                Ok(Some(key))
            }
            None => {
                state.gone.insert(here);
                Ok(None)
            }
        }
    }

    /// Asks the kernel's keyring for a cached key, which postpones its expiry; if it has already expired, it
    /// is stored again.
    fn renew_kernel_key(&self, state: &mut State, id: &KeyId) {
        let Some(known) = state.cached.get_mut(id) else { return };
        if known.place != KeyPlace::KernelKeyring || known.asked.elapsed() < self.renewal {
            return;
        }
        known.asked = Instant::now();
        let (id, key) = (id.clone(), known.key.clone());
        let of_place = |keychain: &&Arc<dyn Keychain>| keychain.place() == KeyPlace::KernelKeyring;
        let Some(keychain) = self.keychains.iter().find(of_place) else { return };
        let renewed = self.ask_keychain(state, keychain, move |keychain| match keychain.find_key(&id)? {
            Some(_) => Ok(()),
            None => keychain.store_key(&key).map(drop),
        });
        if let Err(why) = renewed {
            let keeper = KeyPlace::KernelKeyring.as_str().to_owned();
            self.notices.add_notice(VaultNotice::KeyOutOfReach { keeper, why });
        }
    }

    fn ask_keychain<T: Send + 'static>(
        &self,
        state: &mut State,
        keychain: &Arc<dyn Keychain>,
        question: impl FnOnce(&dyn Keychain) -> Result<T, KeyPlaceError> + Send + 'static,
    ) -> Result<T, KeyPlaceError> {
        if let Some(why) = state.timed_out.get(&keychain.place()) {
            return Err(why.clone());
        }
        let answer = ask_with_timeout(keychain, self.limit, question);
        if let Err(why @ KeyPlaceError::NoAnswer { .. }) = &answer {
            state.timed_out.insert(keychain.place(), why.clone());
        }
        answer
    }

    fn report_refused_places(&self, place: KeyPlace, refused: Vec<RefusedPlace>) {
        if !refused.is_empty() {
            self.notices.add_notice(VaultNotice::KeptIn { place, refused });
        }
    }

    /// Locks the state. The lock is held while a keychain is asked, so that concurrent callers ask it once.
    fn lock_state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn cache_key(&mut self, key: &DataKey, place: KeyPlace) {
        let known = CachedKey { key: key.clone(), place, asked: Instant::now() };
        self.cached.insert(key.id(), known);
    }
}

impl std::fmt::Debug for VaultKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let places: Vec<KeyPlace> = self.keychains.iter().map(|keychain| keychain.place()).collect();
        f.debug_struct("Keys").field("places", &places).finish_non_exhaustive()
    }
}
