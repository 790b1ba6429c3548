//! The captured output of a command, with secrets masked in its error output.

use std::sync::{Mutex, MutexGuard, PoisonError};

use mcparley_model::limits::{HEADERS_HELPER_BYTES, HEADERS_HELPER_SAID_BYTES};
use mcparley_model::secret::{MASK, Secret};
use mcparley_model::text::Untrusted;

/// The minimum length of a secret: masking shorter words would hide the message.
const SHORTEST: usize = 8;

/// The output captured so far; separate from the reading, so that it survives a timeout.
#[derive(Debug, Default)]
pub(super) struct CommandOutput {
    stdout: Mutex<Secret<Vec<u8>>>,
    stderr: Mutex<Secret<Vec<u8>>>,
}

impl CommandOutput {
    /// Appends to the standard output; `None` when it exceeds the limit.
    pub(super) fn append_stdout(&self, bytes: &[u8]) -> Option<()> {
        let mut printed = lock_buffer(&self.stdout);
        if printed.expose().len() + bytes.len() > HEADERS_HELPER_BYTES {
            return None;
        }
        *printed = Secret::new([printed.expose().as_slice(), bytes].concat());
        Some(())
    }

    /// Appends to the standard error, of which only the end is kept.
    pub(super) fn append_stderr(&self, bytes: &[u8]) {
        let mut said = lock_buffer(&self.stderr);
        let all = [said.expose().as_slice(), bytes].concat();
        let from = all.len().saturating_sub(HEADERS_HELPER_SAID_BYTES);
        *said = Secret::new(all.get(from..).unwrap_or_default().to_vec());
    }

    pub(super) fn stdout(&self) -> Secret<Vec<u8>> {
        lock_buffer(&self.stdout).clone()
    }

    /// The standard error, with the words of the standard output and keys in the command line masked.
    pub(super) fn masked_stderr(&self, command: &Secret<String>) -> Untrusted {
        let printed = self.stdout();
        let printed = String::from_utf8_lossy(printed.expose());
        let mut hidden: Vec<&str> = split_words(&printed).collect();
        hidden.extend(split_words(command.expose()).filter(|word| looks_like_key(word)));
        // The longest first: one may be a prefix of another.
        hidden.sort_by_key(|word| std::cmp::Reverse(word.len()));
        let mut said = self.whole_words();
        for word in hidden {
            said = said.replace(word, MASK);
        }
        Untrusted::new(said.trim())
    }

    /// The standard error without a word that was cut off at the start: its rest would not be masked.
    fn whole_words(&self) -> String {
        let said = lock_buffer(&self.stderr);
        let text = String::from_utf8_lossy(said.expose());
        match text.split_once(char::is_whitespace) {
            Some((_, rest)) if said.expose().len() >= HEADERS_HELPER_SAID_BYTES => rest.to_owned(),
            None if said.expose().len() >= HEADERS_HELPER_SAID_BYTES => String::new(),
            Some(_) | None => text.into_owned(),
        }
    }
}

fn lock_buffer<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

fn split_words(text: &str) -> impl Iterator<Item = &str> {
    let between = |character: char| character.is_whitespace() || "\"'`{}[](),;:=".contains(character);
    text.split(between).filter(|word| word.len() >= SHORTEST)
}

/// Whether a word is long, and has both letters and digits.
fn looks_like_key(word: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| word.as_bytes().iter().any(kind);
    word.len() >= 2 * SHORTEST
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && !word.contains(['/', '@'])
}
