//! What a server is, as far as trust in its tools is concerned.
//!
//! Its address, or the command behind it. Variables and headers are left out: a rotated token is no new server, and what
//! is accepted about its tools goes on. A command that names files of the project is the project's.

use std::fmt;
use std::sync::Arc;

use mcparley_model::command_line::{Package, Step};
use mcparley_model::config::{ServerConfig, Stdio, Transport};
use mcparley_model::hex::Hex;
use mcparley_model::program::steps_of;
use sha2::{Digest, Sha256};

use crate::paths::Paths;

/// Identity of a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    text: Arc<str>,
    /// The same for every release of one package: rules that a person typed are bound to this.
    identity: Arc<str>,
    /// Whether its tools are compared with what they were when they were first met. Those of this program itself
    /// change with it.
    pub(crate) is_pinned: bool,
}

impl Key {
    pub(crate) fn of(config: &ServerConfig, paths: &Paths) -> Self {
        let (text, is_pinned) = digest(config, paths, |word| word);
        let identity = match &config.transport {
            Transport::Stdio(stdio) => {
                let packages: Vec<Package> = steps_of(stdio).into_iter().filter_map(package_of).collect();
                let name = |word| packages.iter().find(|package| package.spec == word).map(Package::name);
                digest(config, paths, |word| name(word).unwrap_or(word)).0
            }
            Transport::Sse(_)
            | Transport::Http(_)
            | Transport::Ws(_)
            | Transport::ClaudeAiProxy { .. }
            | Transport::Sdk { .. }
            | Transport::SseIde(_)
            | Transport::WsIde(_) => Arc::clone(&text),
        };
        Self { text, identity, is_pinned }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// The server as a rule that a person typed means it: the same for every release of one package.
    pub(crate) fn identity(&self) -> &str {
        &self.identity
    }
}

fn package_of(step: Step) -> Option<Package> {
    match step {
        Step::Package(package) => Some(package),
        Step::Program(_) | Step::DownloadedScript => None,
    }
}

/// A hash of the server, and whether its tools are pinned. The words of a command are hashed as `rewrite` gives them.
fn digest<'c>(
    config: &'c ServerConfig,
    paths: &Paths,
    rewrite: impl Fn(&'c str) -> &'c str,
) -> (Arc<str>, bool) {
    let mut hash = Sha256::new();
    add(&mut hash, config.kind().as_str());
    let is_pinned = match &config.transport {
        Transport::Stdio(stdio) => {
            add_command(&mut hash, stdio, paths, rewrite);
            true
        }
        Transport::Sse(remote) | Transport::Http(remote) | Transport::Ws(remote) => {
            add(&mut hash, remote.url.expose().as_str());
            true
        }
        Transport::ClaudeAiProxy { url, id } => {
            add(&mut hash, url.as_str());
            add(&mut hash, id);
            true
        }
        Transport::Sdk { name } => {
            add(&mut hash, name);
            false
        }
        // An editor has another port each time; the person started it.
        Transport::SseIde(_) | Transport::WsIde(_) => false,
    };
    let digest: [u8; 32] = hash.finalize().into();
    (Arc::from(Hex(&digest).to_string()), is_pinned)
}

fn add_command<'c>(hash: &mut Sha256, stdio: &'c Stdio, paths: &Paths, rewrite: impl Fn(&'c str) -> &'c str) {
    let Stdio { command, args, env: _, cwd, inherit_env: _ } = stdio;
    add(hash, command);
    args.iter().for_each(|argument| add(hash, rewrite(argument.expose())));
    let folder = cwd.as_ref().map_or_else(|| paths.project.clone(), |cwd| paths.project.join(cwd));
    let words =
        std::iter::once(command.as_str()).chain(args.iter().map(|argument| argument.expose().as_str()));
    let is_file = |word: &str| {
        !word.is_empty() && !word.starts_with(['/', '-']) && folder.join(word).symlink_metadata().is_ok()
    };
    if words.into_iter().any(is_file) {
        hash.update(folder.as_os_str().as_encoded_bytes());
    }
}

/// With its length, so that two parts cannot be taken for one.
fn add(hash: &mut Sha256, text: &str) {
    hash.update((text.len() as u64).to_le_bytes());
    hash.update(text);
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
