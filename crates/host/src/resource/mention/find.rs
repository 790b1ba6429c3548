//! Finds mentions in a text, in one pass. Pure: the servers and their resources are passed in.

use std::collections::HashSet;

use mcparley_model::limits::URI_BYTES;
use mcparley_model::name::{ServerName, is_same_server};

/// A mention found in a text: its words, its server and its URI.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::resource) struct FoundMention {
    pub(in crate::resource) words: String,
    pub(in crate::resource) server: ServerName,
    pub(in crate::resource) uri: String,
}

/// A server that can be mentioned, with the URIs it lists.
pub(in crate::resource) struct MentionableServer {
    pub(in crate::resource) name: ServerName,
    pub(in crate::resource) uris: HashSet<String>,
}

/// Finds all mentions, in order, each once.
pub(in crate::resource) fn find_mentions(text: &str, servers: &[MentionableServer]) -> Vec<FoundMention> {
    let mut seen = HashSet::new();
    let mut found: Vec<FoundMention> = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find('@')).map(|at| from + at) {
        from = at + 1;
        // The `@` of an email address, or of a package name, is no mention.
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        if before.is_some_and(|before| before.is_alphanumeric() || "@/._-".contains(before)) {
            continue;
        }
        let Some(mention) = text.get(from..).and_then(|rest| parse_mention(rest, servers)) else { continue };
        from += mention.words.len();
        if seen.insert((mention.server.clone(), mention.uri.clone())) {
            found.push(mention);
        }
    }
    found
}

/// The server of a mention: a known one, or a name that no server has.
type MentionedServer<'s> = Result<&'s MentionableServer, String>;

/// Parses the mention after an `@`.
fn parse_mention(rest: &str, servers: &[MentionableServer]) -> Option<FoundMention> {
    let (server, uri, length) = match rest.strip_prefix('"') {
        Some(quoted) => parse_quoted(rest, quoted, servers)?,
        None => {
            let (server, name) = parse_server_name(rest, servers)?;
            let (uri, length) = parse_uri(rest.get(name + 1..)?, server.as_ref().ok().copied())?;
            (server, uri, name + 1 + length)
        }
    };
    (!uri.is_empty() && uri.len() <= URI_BYTES).then(|| FoundMention {
        words: rest.get(..length).unwrap_or_default().to_owned(),
        server: server.map_or_else(|name| ServerName::new(&name), |known| known.name.clone()),
        uri,
    })
}

/// Parses `"server:uri"` or `"server":uri`; returns the length too.
fn parse_quoted<'s>(
    rest: &str,
    quoted: &str,
    servers: &'s [MentionableServer],
) -> Option<(MentionedServer<'s>, String, usize)> {
    let end = quoted.find('"')?;
    let inside = quoted.get(..end)?;
    if let Some(behind) = rest.get(end + 2..)?.strip_prefix(':') {
        let server = find_server(inside, servers).ok_or_else(|| inside.to_owned());
        let (uri, length) = parse_uri(behind, server.as_ref().ok().copied())?;
        return Some((server, uri, end + 3 + length));
    }
    let (server, name) = parse_server_name(inside, servers)?;
    Some((server, inside.get(name + 1..)?.to_owned(), end + 2))
}

/// Parses the server name before a colon; returns its length too. Of several matches the longest wins: names
/// may contain colons and spaces.
fn parse_server_name<'s>(
    text: &str,
    servers: &'s [MentionableServer],
) -> Option<(MentionedServer<'s>, usize)> {
    let begins = |server: &&MentionableServer| {
        let behind = text.strip_prefix(server.name.as_str());
        behind.is_some_and(|behind| behind.starts_with(':'))
    };
    if let Some(server) = servers.iter().filter(begins).max_by_key(|server| server.name.as_str().len()) {
        return Some((Ok(server), server.name.as_str().len()));
    }
    let end = text.find(|character: char| !(character.is_alphanumeric() || "_.-".contains(character)))?;
    let name = text.get(..end).filter(|name| !name.is_empty())?;
    let is_word = text.get(end..)?.strip_prefix(':')?.starts_with(|next: char| !next.is_whitespace());
    is_word.then(|| (find_server(name, servers).ok_or_else(|| name.to_owned()), end))
}

fn find_server<'s>(name: &str, servers: &'s [MentionableServer]) -> Option<&'s MentionableServer> {
    let same = |server: &&MentionableServer| is_same_server(server.name.as_str(), name);
    servers.iter().find(|server| server.name.as_str() == name).or_else(|| servers.iter().find(same))
}

/// Parses the URI at the start of the text; returns its length too. Punctuation at its end belongs to the
/// sentence, unless the server lists the URI with it.
fn parse_uri(text: &str, server: Option<&MentionableServer>) -> Option<(String, usize)> {
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

/// Brackets that may be opened before a mention and closed after it.
const BRACKETS: [(char, char); 4] = [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')];

/// The word without punctuation that ends a sentence or closes a bracket opened before the word.
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
