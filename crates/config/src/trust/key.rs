//! Trust key: the identity of a server for accepted tool definitions and bound rules.
//!
//! It is a hash of the server's URL or command. Environment variables and headers are left out: a rotated
//! token does not make another server, and its accepted tools stay accepted. A command that names files of
//! the project gets a key for that project only.

use std::sync::Arc;

use mcparley_model::command_line::{CommandStep, Package};
use mcparley_model::config::{ServerConfig, StdioConfig, TransportConfig};
use mcparley_model::hex::Hex;
use mcparley_model::program::command_steps;
use mcparley_model::trust::TrustKey;
use sha2::{Digest, Sha256};

use crate::paths::Paths;

/// The trust key of the server with this entry.
pub(super) fn trust_key(config: &ServerConfig, paths: &Paths) -> TrustKey {
    let (text, is_pinned) = hash_server(config, paths, |word| word);
    let identity = match &config.transport {
        TransportConfig::Stdio(stdio) => {
            let packages: Vec<Package> = command_steps(stdio).into_iter().filter_map(package_of).collect();
            let name = |word| packages.iter().find(|package| package.spec == word).map(Package::name);
            hash_server(config, paths, |word| name(word).unwrap_or(word)).0
        }
        TransportConfig::Sse(_)
        | TransportConfig::Http(_)
        | TransportConfig::Ws(_)
        | TransportConfig::ClaudeAiProxy { .. }
        | TransportConfig::Sdk { .. }
        | TransportConfig::SseIde(_)
        | TransportConfig::WsIde(_) => Arc::clone(&text),
    };
    TrustKey::new(text, identity, is_pinned)
}

fn package_of(step: CommandStep) -> Option<Package> {
    match step {
        CommandStep::Package(package) => Some(package),
        CommandStep::Program(_) | CommandStep::DownloadedScript | CommandStep::TooDeep => None,
    }
}

/// A hash of the server, and whether its tools are pinned. The words of a command are hashed as returned by
/// `rewrite`.
fn hash_server<'c>(
    config: &'c ServerConfig,
    paths: &Paths,
    rewrite: impl Fn(&'c str) -> &'c str,
) -> (Arc<str>, bool) {
    let mut hash = Sha256::new();
    hash_text(&mut hash, config.kind().as_str());
    let is_pinned = match &config.transport {
        TransportConfig::Stdio(stdio) => {
            hash_command(&mut hash, stdio, paths, rewrite);
            true
        }
        TransportConfig::Sse(remote) | TransportConfig::Http(remote) | TransportConfig::Ws(remote) => {
            hash_text(&mut hash, remote.url.expose().as_str());
            true
        }
        TransportConfig::ClaudeAiProxy { url, id } => {
            hash_text(&mut hash, url.as_str());
            hash_text(&mut hash, id);
            true
        }
        TransportConfig::Sdk { name } => {
            hash_text(&mut hash, name);
            false
        }
        // An editor listens on another port each time, and the user started it.
        TransportConfig::SseIde(_) | TransportConfig::WsIde(_) => false,
    };
    let digest: [u8; 32] = hash.finalize().into();
    (Arc::from(Hex(&digest).to_string()), is_pinned)
}

fn hash_command<'c>(
    hash: &mut Sha256,
    stdio: &'c StdioConfig,
    paths: &Paths,
    rewrite: impl Fn(&'c str) -> &'c str,
) {
    let StdioConfig { command, args, env: _, cwd, inherit_env: _ } = stdio;
    hash_text(hash, command);
    args.iter().for_each(|argument| hash_text(hash, rewrite(argument.expose())));
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

/// Hashes a text after its length, so that two adjacent texts cannot be confused with one.
fn hash_text(hash: &mut Sha256, text: &str) {
    hash.update((text.len() as u64).to_le_bytes());
    hash.update(text);
}
