//! Masks the literals in the command of a header helper.
//!
//! A helper prints headers, so any literal in its command may be one: the program, its flags, paths and
//! variables are shown, the rest is masked.

use super::guess::mask_word;
use crate::secret::MASK;

/// Masks the literals of a header helper's command.
pub(super) fn mask_helper(command: &str) -> String {
    let mut shown: Vec<String> = Vec::new();
    let mut is_program_seen = false;
    for word in split_words(command) {
        let masked = match word.split_once('=') {
            Some((name, _)) if is_flag(name) || (!is_program_seen && is_identifier(name)) => {
                format!("{name}={MASK}")
            }
            _ if !is_program_seen => {
                is_program_seen = true;
                if is_plain(word.trim_matches(['"', '\''])) { mask_word(word) } else { MASK.to_owned() }
            }
            _ if is_flag(word) || is_variable(word) || is_path(word) => word.to_owned(),
            _ => MASK.to_owned(),
        };
        // One mask stands for any number of words, because their number is part of the secret.
        if masked != MASK || shown.last().is_none_or(|last| last != MASK) {
            shown.push(masked);
        }
    }
    shown.join(" ")
}

/// Splits a command into words like a shell, keeping the quotes around them.
fn split_words(command: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = None;
    let mut quote = None;
    let mut is_escaped = false;
    for (at, c) in command.char_indices() {
        let is_separator = c.is_whitespace() && quote.is_none() && !is_escaped;
        match (quote, c) {
            _ if is_escaped => {}
            (None, '"' | '\'' | '`') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
        is_escaped = c == '\\' && !is_escaped && quote != Some('\'');
        match start {
            Some(from) if is_separator => {
                words.extend(command.get(from..at));
                start = None;
            }
            None if !is_separator => start = Some(at),
            Some(_) | None => {}
        }
    }
    words.extend(start.and_then(|from| command.get(from..)));
    words
}

fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "/._-+@~${}:* ".contains(c))
}

/// Whether the word is a flag: `-p` and `--profile`, but not `-phunter2`.
fn is_flag(word: &str) -> bool {
    let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    match word.strip_prefix("--") {
        Some(name) => is_name(name),
        None => word.strip_prefix('-').is_some_and(|name| name.len() == 1 && name.is_ascii()),
    }
}

/// Whether the word is a variable: `$NAME` or `${NAME}`, with or without quotes.
fn is_variable(word: &str) -> bool {
    let name = word.trim_matches('"');
    let Some(name) = name.strip_prefix('$') else { return false };
    let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
    is_identifier(name.strip_suffix(&format!(":-{MASK}")).unwrap_or(name))
}

fn is_identifier(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether the word is a file path without a part that looks like a token.
fn is_path(word: &str) -> bool {
    let begins = ["/", "./", "../", "~/", "${HOME}/", "$HOME/"].iter().any(|start| word.starts_with(start));
    begins
        && word.matches('/').count() > 1
        && is_plain(word)
        && word.split('/').all(|part| mask_word(part) == part)
}
