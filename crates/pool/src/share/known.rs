//! Known servers: traits that follow from the documentation and the code of published servers.
//!
//! The servers are data, in `known_servers.json`, each with its justification. A trait that keeps clients
//! apart (`stateful`, `readsRoots`) applies wherever the server is recognized. A trait that joins clients
//! (`usesFolder: false`, `ignoresOffer`) applies only if the command line leaves no doubt: a wrong one would
//! let a server read the files of another project.

mod recognize;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use serde::Deserialize;

use recognize::{CommandCertainty, recognize_entries};

/// The traits of a recognized server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownServer {
    /// The name of the server in the table.
    pub name: &'static str,
    /// Whether it may use its working directory and environment. True unless they plainly have no effect.
    pub uses_folder: bool,
    /// Whether it keeps state that belongs to one session, such as an open page of a browser.
    pub stateful: bool,
    /// Whether its lists do not depend on the capabilities of its client, and it never asks the client.
    pub ignores_offer: bool,
    /// Whether it reads the roots of its client.
    pub reads_roots: bool,
    /// The justification of the traits.
    pub why: &'static str,
}

/// A server of `known_servers.json`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct KnownServerEntry {
    name: String,
    /// Packages of the npm registry.
    #[serde(default)]
    npm: Vec<String>,
    /// Packages of the Python package index, normalized as in PEP 503.
    #[serde(default)]
    pypi: Vec<String>,
    /// Modules for `python -m`.
    #[serde(default)]
    modules: Vec<String>,
    /// Names of installed programs.
    #[serde(default)]
    programs: Vec<String>,
    /// Container images, without tag.
    #[serde(default)]
    images: Vec<String>,
    #[serde(default = "default_uses_folder")]
    uses_folder: bool,
    #[serde(default)]
    stateful: bool,
    #[serde(default)]
    ignores_offer: bool,
    #[serde(default)]
    reads_roots: bool,
    why: String,
}

fn default_uses_folder() -> bool {
    true
}

/// The table; a test proves that it is valid.
static KNOWN_SERVERS: LazyLock<Vec<KnownServerEntry>> =
    LazyLock::new(|| serde_json::from_str(include_str!("known_servers.json")).unwrap_or_default());

/// Finds the known server that the command line `argv` starts; `None` if it is not in the table.
///
/// If the command line could start several known servers, the traits that keep clients apart add up.
#[must_use]
pub fn find_known_server(argv: &[&str]) -> Option<KnownServer> {
    let (entries, certainty) = recognize_entries(&KNOWN_SERVERS, argv);
    let first = entries.first()?;
    Some(KnownServer {
        name: &first.name,
        uses_folder: first.uses_folder || certainty < CommandCertainty::AnyFolder,
        stateful: entries.iter().any(|entry| entry.stateful),
        ignores_offer: first.ignores_offer && certainty >= CommandCertainty::OneServer,
        reads_roots: entries.iter().any(|entry| entry.reads_roots),
        why: &first.why,
    })
}
