//! Mentions: descriptions of one server that name another server's tools.
//!
//! "Before using any other tool, call …" is a way to steer a model's use of another server. It may be
//! harmless, so no tool is withheld; a client can show the mention beside the catalog.

use std::collections::HashMap;

use mcparley_model::name::{PublicName, ServerName};

use crate::catalog::Catalog;
use crate::entry::CatalogEntry;

/// The minimum length of a name. Shorter names, or names without a separator, are ordinary words.
const SHORTEST: usize = 6;

/// A tool whose description names a tool of another server.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Mention {
    /// The tool with the description.
    pub tool: PublicName,
    /// The server of the mentioned tool.
    pub of: ServerName,
    /// The name in the description.
    pub word: String,
}

impl Catalog {
    /// The mentions of other servers' tools, in the order of the catalog.
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

fn mentions_of(entry: &CatalogEntry, owners: &HashMap<&str, Vec<&ServerName>>) -> Vec<Mention> {
    let Some(speaker) = entry.server() else { return Vec::new() };
    let mut found: Vec<Mention> = Vec::new();
    for word in name_candidates(&entry.tool.description) {
        let Some(servers) = owners.get(word) else { continue };
        // A name that the same server has too most likely means its own tool.
        if servers.contains(&speaker) || found.iter().any(|mention| mention.word == word) {
            continue;
        }
        let of = servers.iter().map(|server| (*server).clone());
        found.extend(of.take(1).map(|of| Mention { tool: entry.name.clone(), of, word: word.to_owned() }));
    }
    found
}

/// The words of a text that could be names.
fn name_candidates(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-' | '.');
    text.split(move |character| !is_name(character))
        .map(|word| word.trim_matches('.'))
        .filter(|word| !word.is_empty())
}
