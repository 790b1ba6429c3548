//! What is kept of what a command says, and how much of it may be told.

use std::sync::{Mutex, MutexGuard, PoisonError};

use mcparley_model::limits::{HEADERS_HELPER_BYTES, HEADERS_HELPER_SAID_BYTES};
use mcparley_model::secret::{MASK, Secret};
use mcparley_model::text::Untrusted;

/// Shorter words are no secrets, and taking them out would hide the message.
const SHORTEST: usize = 8;

/// What was heard so far; kept apart from the listening, so that it outlasts one that is given up.
#[derive(Debug, Default)]
pub(super) struct Heard {
    printed: Mutex<Secret<Vec<u8>>>,
    said: Mutex<Secret<Vec<u8>>>,
}

impl Heard {
    /// Keeps what was printed; nothing when it is too much.
    pub(super) fn print(&self, bytes: &[u8]) -> Option<()> {
        let mut printed = lock(&self.printed);
        if printed.expose().len() + bytes.len() > HEADERS_HELPER_BYTES {
            return None;
        }
        *printed = Secret::new([printed.expose().as_slice(), bytes].concat());
        Some(())
    }

    /// Keeps the end of what was said.
    pub(super) fn say(&self, bytes: &[u8]) {
        let mut said = lock(&self.said);
        let all = [said.expose().as_slice(), bytes].concat();
        let from = all.len().saturating_sub(HEADERS_HELPER_SAID_BYTES);
        *said = Secret::new(all.get(from..).unwrap_or_default().to_vec());
    }

    pub(super) fn printed(&self) -> Secret<Vec<u8>> {
        lock(&self.printed).clone()
    }

    /// What was said, without the words that were printed for us and without keys of the command (B62).
    pub(super) fn said(&self, command: &Secret<String>) -> Untrusted {
        let printed = self.printed();
        let printed = String::from_utf8_lossy(printed.expose());
        let mut hidden: Vec<&str> = words(&printed).collect();
        hidden.extend(words(command.expose()).filter(|word| looks_like_a_key(word)));
        // The longest first: one may be the beginning of another.
        hidden.sort_by_key(|word| std::cmp::Reverse(word.len()));
        let mut said = self.whole_words();
        for word in hidden {
            said = said.replace(word, MASK);
        }
        Untrusted::new(said.trim())
    }

    /// What was said; of a word that was cut through, the rest would not be recognised.
    fn whole_words(&self) -> String {
        let said = lock(&self.said);
        let text = String::from_utf8_lossy(said.expose());
        match text.split_once(char::is_whitespace) {
            Some((_, rest)) if said.expose().len() >= HEADERS_HELPER_SAID_BYTES => rest.to_owned(),
            None if said.expose().len() >= HEADERS_HELPER_SAID_BYTES => String::new(),
            Some(_) | None => text.into_owned(),
        }
    }
}

fn lock<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let between = |character: char| character.is_whitespace() || "\"'`{}[](),;:=".contains(character);
    text.split(between).filter(|word| word.len() >= SHORTEST)
}

/// Long, and made of letters and digits both.
fn looks_like_a_key(word: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| word.as_bytes().iter().any(kind);
    word.len() >= 2 * SHORTEST
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && !word.contains(['/', '@'])
}
