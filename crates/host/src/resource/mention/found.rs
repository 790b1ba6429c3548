//! Finds mentions in a text, in one pass. Pure: which servers there are, and what they list, is handed in.

use std::collections::HashSet;

use mcparley_model::limits::URI_BYTES;
use mcparley_model::name::{ServerName, is_same_server};

/// A mention: the words, and what they mean.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::resource) struct Found {
    pub(in crate::resource) words: String,
    pub(in crate::resource) server: ServerName,
    pub(in crate::resource) uri: String,
}

/// A server, and the addresses it lists.
pub(in crate::resource) struct Known {
    pub(in crate::resource) name: ServerName,
    pub(in crate::resource) uris: HashSet<String>,
}

/// Every mention, in order, each once.
pub(in crate::resource) fn all(text: &str, servers: &[Known]) -> Vec<Found> {
    let mut seen = HashSet::new();
    let mut found: Vec<Found> = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find('@')).map(|at| from + at) {
        from = at + 1;
        // The `@` of an address of mail, or of a package, mentions nothing.
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        if before.is_some_and(|before| before.is_alphanumeric() || "@/._-".contains(before)) {
            continue;
        }
        let Some(mention) = text.get(from..).and_then(|rest| mention(rest, servers)) else { continue };
        from += mention.words.len();
        if seen.insert((mention.server.clone(), mention.uri.clone())) {
            found.push(mention);
        }
    }
    found
}

/// Which server is meant: one that is known, or a name that none has.
type Meant<'s> = Result<&'s Known, String>;

/// The mention that stands behind an `@`.
fn mention(rest: &str, servers: &[Known]) -> Option<Found> {
    let (server, uri, length) = match rest.strip_prefix('"') {
        Some(quoted) => in_quotes(rest, quoted, servers)?,
        None => {
            let (server, name) = named(rest, servers)?;
            let (uri, length) = address(rest.get(name + 1..)?, server.as_ref().ok().copied())?;
            (server, uri, name + 1 + length)
        }
    };
    (!uri.is_empty() && uri.len() <= URI_BYTES).then(|| Found {
        words: rest.get(..length).unwrap_or_default().to_owned(),
        server: server.map_or_else(|name| ServerName::new(&name), |known| known.name.clone()),
        uri,
    })
}

/// `"server:uri"` or `"server":uri`, and how long all of it is.
fn in_quotes<'s>(rest: &str, quoted: &str, servers: &'s [Known]) -> Option<(Meant<'s>, String, usize)> {
    let end = quoted.find('"')?;
    let inside = quoted.get(..end)?;
    if let Some(behind) = rest.get(end + 2..)?.strip_prefix(':') {
        let server = known(inside, servers).ok_or_else(|| inside.to_owned());
        let (uri, length) = address(behind, server.as_ref().ok().copied())?;
        return Some((server, uri, end + 3 + length));
    }
    let (server, name) = named(inside, servers)?;
    Some((server, inside.get(name + 1..)?.to_owned(), end + 2))
}

/// The server that the text begins with, before a colon, and how long its name is there. Of several the longest: names
/// may have colons and spaces too.
fn named<'s>(text: &str, servers: &'s [Known]) -> Option<(Meant<'s>, usize)> {
    let begins = |server: &&Known| {
        let behind = text.strip_prefix(server.name.as_str());
        behind.is_some_and(|behind| behind.starts_with(':'))
    };
    if let Some(server) = servers.iter().filter(begins).max_by_key(|server| server.name.as_str().len()) {
        return Some((Ok(server), server.name.as_str().len()));
    }
    let end = text.find(|character: char| !(character.is_alphanumeric() || "_.-".contains(character)))?;
    let name = text.get(..end).filter(|name| !name.is_empty())?;
    let is_word = text.get(end..)?.strip_prefix(':')?.starts_with(|next: char| !next.is_whitespace());
    is_word.then(|| (known(name, servers).ok_or_else(|| name.to_owned()), end))
}

fn known<'s>(name: &str, servers: &'s [Known]) -> Option<&'s Known> {
    let same = |server: &&Known| is_same_server(server.name.as_str(), name);
    servers.iter().find(|server| server.name.as_str() == name).or_else(|| servers.iter().find(same))
}

/// The address that the text begins with, and how long it is there. Punctuation at its end belongs to the sentence, unless
/// the server lists the address with it.
fn address(text: &str, server: Option<&Known>) -> Option<(String, usize)> {
    if let Some(quoted) = text.strip_prefix('"') {
        let end = quoted.find('"')?;
        return Some((quoted.get(..end)?.to_owned(), end + 2));
    }
    let word = text.split(char::is_whitespace).next().filter(|word| !word.is_empty())?;
    if server.is_some_and(|server| server.uris.contains(word)) {
        return Some((word.to_owned(), word.len()));
    }
    let uri = without_punctuation(word);
    (!uri.is_empty()).then(|| (uri.to_owned(), uri.len()))
}

/// Brackets that may be opened before a mention and closed behind it.
const BRACKETS: [(char, char); 4] = [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')];

/// The word without what ends a sentence or closes a bracket that was opened before it.
fn without_punctuation(word: &str) -> &str {
    let mut surplus =
        BRACKETS.map(|(open, close)| word.matches(close).count().saturating_sub(word.matches(open).count()));
    word.trim_end_matches(|character: char| {
        let bracket = BRACKETS.iter().zip(&mut surplus).find(|((_, close), _)| *close == character);
        match bracket {
            Some((_, 0)) => false,
            Some((_, surplus)) => {
                *surplus -= 1;
                true
            }
            None => ".,;:!?'\"`".contains(character),
        }
    })
}
