//! Notices texts of one server that speak of another server's tools (B46).
//!
//! "Before using any other tool, call …" is how one server steers what a model does with another. It may be
//! innocent, so nothing is withheld; whoever shows a catalogue can show this beside it.

use std::collections::HashMap;

use mcparley_model::name::{PublicName, ServerName};

use super::{Catalog, Entry};

/// Shorter names, or names without a separator, are ordinary words.
const SHORTEST: usize = 6;

/// A tool whose description names a tool of another server.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Mention {
    /// The tool that speaks.
    pub tool: PublicName,
    /// The server whose tool it speaks of.
    pub of: ServerName,
    /// The word it uses.
    pub word: String,
}

impl Catalog {
    /// The tools that speak of another server's tools, in the order of the catalogue.
    #[must_use]
    pub fn mentions(&self) -> Vec<Mention> {
        let mut owners: HashMap<&str, Vec<&ServerName>> = HashMap::new();
        for entry in self.iter() {
            let Some(server) = entry.server() else { continue };
            owners.entry(entry.name.as_str()).or_default().push(server);
            let own = entry.tool.name.as_str();
            if own.len() >= SHORTEST && own.contains(['_', '-', '.']) {
                owners.entry(own).or_default().push(server);
            }
        }
        self.iter().flat_map(|entry| mentions_of(entry, &owners)).collect()
    }
}

fn mentions_of(entry: &Entry, owners: &HashMap<&str, Vec<&ServerName>>) -> Vec<Mention> {
    let Some(speaker) = entry.server() else { return Vec::new() };
    let mut found: Vec<Mention> = Vec::new();
    for word in words(&entry.tool.description) {
        let Some(servers) = owners.get(word) else { continue };
        // A name that the speaker has too is most likely its own.
        if servers.contains(&speaker) || found.iter().any(|mention| mention.word == word) {
            continue;
        }
        let of = servers.iter().map(|server| (*server).clone());
        found.extend(of.take(1).map(|of| Mention { tool: entry.name.clone(), of, word: word.to_owned() }));
    }
    found
}

/// The parts of a text that could be names.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-' | '.');
    text.split(move |character| !is_name(character))
        .map(|word| word.trim_matches('.'))
        .filter(|word| !word.is_empty())
}
