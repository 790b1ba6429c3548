//! Which data key opens an entry, and which one seals the next.
//!
//! The vault may know several keys. A person who signs in over a plain terminal cannot reach the desktop's
//! keychain: their entry gets a key from the next place, and the others stay what they are. An entry keeps the
//! key it has for as long as that can be reached, so that no process loses sight of it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mcparley_model::limits;

use super::VaultError;
use super::book::KeyLine;
use super::cipher::{DataKey, KeyId};
use super::keeper::{Keeper, Notice, Notices, Place, Refusal, Why};
use super::keychain::{Keychain, ask};

/// The data keys of one vault, each fetched once.
pub(super) struct Keys {
    /// The best place first.
    keychains: Vec<Arc<dyn Keychain>>,
    limit: Duration,
    notices: Arc<Notices>,
    /// How often a key in the kernel's keyring is looked after.
    pub(super) renewal: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    known: HashMap<KeyId, Known>,
    gone: HashSet<(KeyId, Place)>,
    /// Keychains that never answered: each would cost every caller the whole limit again.
    silent: HashMap<Place, Why>,
}

#[derive(Debug)]
struct Known {
    key: DataKey,
    place: Place,
    /// When its place was asked for it last.
    asked: Instant,
}

/// A key and how the vault speaks of it.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    pub(super) line: KeyLine,
    pub(super) key: DataKey,
}

impl Keys {
    pub(super) fn new(keychains: Vec<Arc<dyn Keychain>>, limit: Duration, notices: Arc<Notices>) -> Self {
        Self { keychains, limit, notices, renewal: limits::KEYRING_RENEWED, state: Mutex::default() }
    }

    /// The key of an entry, if it can be had; otherwise a person is told why not.
    pub(super) fn find(&self, line: &KeyLine) -> Option<DataKey> {
        let mut state = self.state();
        let missing = match self.fetch(&mut state, line) {
            Ok(Some(key)) => return Some(key),
            Ok(None) => Notice::KeyGone { keeper: line.keeper.clone() },
            Err(why) => Notice::KeyOutOfReach { keeper: line.keeper.clone(), why },
        };
        self.notices.tell(missing);
        None
    }

    /// A key whose place is not known, from wherever it is.
    pub(super) fn anywhere(&self, id: &KeyId) -> Option<DataKey> {
        let mut state = self.state();
        self.keychains.iter().find_map(|keychain| {
            let line = KeyLine { id: id.clone(), keeper: keychain.place().as_str().to_owned() };
            self.fetch(&mut state, &line).ok().flatten()
        })
    }

    /// The key in the best place among those the vault knows.
    pub(super) fn best(&self, lines: &[KeyLine]) -> Option<Chosen> {
        let mut state = self.state();
        self.keychains.iter().find_map(|keychain| {
            let here = lines.iter().rev().filter(|line| line.keeper == keychain.place().as_str());
            here.into_iter().find_map(|line| {
                let key = self.fetch(&mut state, line).ok().flatten()?;
                Some(Chosen { line: line.clone(), key })
            })
        })
    }

    /// A new key, kept in the best place that takes it.
    pub(super) fn make(&self) -> Result<Chosen, VaultError> {
        let fresh = DataKey::random()?;
        let mut state = self.state();
        let mut refused = Vec::new();
        for keychain in &self.keychains {
            let (place, wanted) = (keychain.place(), fresh.clone());
            match self.ask(&mut state, keychain, move |keychain| keychain.keep(&wanted)) {
                Ok(key) => {
                    state.know(&key, place);
                    self.tell_place(place, refused);
                    let line = KeyLine { id: key.id(), keeper: place.as_str().to_owned() };
                    return Ok(Chosen { line, key });
                }
                Err(why) => refused.push(Refusal { place, why }),
            }
        }
        Err(VaultError::NoKeeper { refused })
    }

    /// Where the key for new entries is, or would be made. Makes none.
    pub(super) fn keeper(&self, lines: &[KeyLine]) -> Result<Keeper, VaultError> {
        let best = self.best(lines);
        let mut state = self.state();
        let mut refused = Vec::new();
        for keychain in &self.keychains {
            let place = keychain.place();
            let is_best = best.as_ref().is_some_and(|best| best.line.keeper == place.as_str());
            let answer = self.ask(&mut state, keychain, |keychain| keychain.find(&KeyId::of_nothing()));
            match answer {
                _ if is_best => return Ok(Keeper { place, refused }),
                Ok(_) if best.is_none() => return Ok(Keeper { place, refused }),
                // It could be used, but the vault began in another place and stays there.
                Ok(_) => {}
                Err(why) => refused.push(Refusal { place, why }),
            }
        }
        Err(VaultError::NoKeeper { refused })
    }

    fn fetch(&self, state: &mut State, line: &KeyLine) -> Result<Option<DataKey>, Why> {
        if let Some(known) = state.known.get(&line.id) {
            let key = known.key.clone();
            self.renew(state, &line.id);
            return Ok(Some(key));
        }
        let of_line = |keychain: &&Arc<dyn Keychain>| keychain.place().as_str() == line.keeper;
        let keychain = self.keychains.iter().find(of_line).ok_or(Why::NotInUse)?;
        let here = (line.id.clone(), keychain.place());
        if state.gone.contains(&here) {
            return Ok(None);
        }
        let id = line.id.clone();
        let found = self.ask(state, keychain, move |keychain| keychain.find(&id))?;
        match found.filter(|key| key.id() == line.id) {
            Some(key) => {
                state.know(&key, here.1);
                Ok(Some(key))
            }
            None => {
                state.gone.insert(here);
                Ok(None)
            }
        }
    }

    /// Asks the kernel's keyring for a key we have, which puts off the day it is forgotten; should it be gone
    /// already, it is put back.
    fn renew(&self, state: &mut State, id: &KeyId) {
        let Some(known) = state.known.get_mut(id) else { return };
        if known.place != Place::KernelKeyring || known.asked.elapsed() < self.renewal {
            return;
        }
        known.asked = Instant::now();
        let (id, key) = (id.clone(), known.key.clone());
        let of_place = |keychain: &&Arc<dyn Keychain>| keychain.place() == Place::KernelKeyring;
        let Some(keychain) = self.keychains.iter().find(of_place) else { return };
        let renewed = self.ask(state, keychain, move |keychain| match keychain.find(&id)? {
            Some(_) => Ok(()),
            None => keychain.keep(&key).map(drop),
        });
        if let Err(why) = renewed {
            let keeper = Place::KernelKeyring.as_str().to_owned();
            self.notices.tell(Notice::KeyOutOfReach { keeper, why });
        }
    }

    fn ask<T: Send + 'static>(
        &self,
        state: &mut State,
        keychain: &Arc<dyn Keychain>,
        question: impl FnOnce(&dyn Keychain) -> Result<T, Why> + Send + 'static,
    ) -> Result<T, Why> {
        if let Some(why) = state.silent.get(&keychain.place()) {
            return Err(why.clone());
        }
        let answer = ask(keychain, self.limit, question);
        if let Err(why @ Why::NoAnswer { .. }) = &answer {
            state.silent.insert(keychain.place(), why.clone());
        }
        answer
    }

    fn tell_place(&self, place: Place, refused: Vec<Refusal>) {
        if !refused.is_empty() {
            self.notices.tell(Notice::KeptIn { place, refused });
        }
    }

    /// Held while a keychain is asked, so that many callers ask it once.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn know(&mut self, key: &DataKey, place: Place) {
        let known = Known { key: key.clone(), place, asked: Instant::now() };
        self.known.insert(key.id(), known);
    }
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let places: Vec<Place> = self.keychains.iter().map(|keychain| keychain.place()).collect();
        f.debug_struct("Keys").field("places", &places).finish_non_exhaustive()
    }
}
