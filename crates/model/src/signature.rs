//! Hashes that identify servers: whether two declarations are the same server, and whether a connection is
//! stale.
//!
//! Three questions, three hashes. [`Signature`] covers all fields that affect a connection and drives reuse
//! and reload. [`EndpointHash`] covers only the fields that are compared to find duplicates.
//! [`DefinitionHash`] covers the content that the user approves.

use std::fmt;

use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};
use url::Url;

use crate::config::{
    ConfiguredSecret, CredentialPolicy, IdeConfig, OauthConfig, RawRoots, RawServer, RemoteConfig,
    RootsPolicy, ServerConfig, StdioConfig, TransportConfig, TransportKind,
};
use crate::expand::Template;
use crate::hex::Hex;
use crate::secret::Secret;

/// The identity of a connection: configurations with equal signatures may share one.
///
/// The scope is not part of it, so moving an entry from one file to another restarts nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signature([u8; 32]);

/// The identity of a server behind a declaration: its address, or its command with the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EndpointHash([u8; 32]);

/// The identity of approved content.
///
/// Command, arguments, folder, address, header helper and sign-in settings are hashed as they expand, so a
/// variable cannot change the command behind an approval. Values of `env` and `headers` are hashed as
/// written: there variables hold credentials, and a rotated token is not a new server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DefinitionHash([u8; 32]);

impl Signature {
    /// The signature of the address and credentials of a remote server, independent of the transport.
    #[must_use]
    pub fn from_remote(remote: &RemoteConfig) -> Self {
        let mut hash = FieldHasher::new("remote");
        hash.add_remote(remote);
        Self(hash.finish())
    }

    /// The signature of a configuration.
    #[must_use]
    pub fn from_config(config: &ServerConfig) -> Self {
        let ServerConfig {
            transport,
            timeout: _,
            idle_timeout: _,
            always_load: _,
            required: _,
            era,
            enabled_tools: _,
            disabled_tools: _,
            roots,
            share: _,
            credentials,
        } = config;
        let mut hash = FieldHasher::new("signature");
        hash.add_text(config.kind().as_str()).add_text(era.as_str());
        match transport {
            TransportConfig::Stdio(stdio) => hash.add_stdio(stdio),
            TransportConfig::Sse(remote) | TransportConfig::Http(remote) | TransportConfig::Ws(remote) => {
                hash.add_remote(remote)
            }
            TransportConfig::Sdk { name } => hash.add_text(name),
            TransportConfig::SseIde(ide) | TransportConfig::WsIde(ide) => hash.add_ide(ide),
            TransportConfig::ClaudeAiProxy { url, id } => hash.add_text(url.as_str()).add_text(id),
        };
        if *credentials != CredentialPolicy::Auto {
            // Whose credentials a server gets is approved with its entry.
            hash.add_text(credentials.as_str());
        }
        // A server with other roots may behave like another server.
        hash.add_roots(roots);
        Self(hash.finish())
    }
}

impl Signature {
    /// Parses the displayed form: 64 hexadecimal digits.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        let digits = text.as_bytes().chunks_exact(2);
        if text.len() != 64 || digits.len() != bytes.len() {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(digits) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl EndpointHash {
    /// The endpoint of a configuration; in-process servers have none.
    #[must_use]
    pub fn from_config(config: &ServerConfig) -> Option<Self> {
        let mut hash = FieldHasher::new("endpoint");
        match &config.transport {
            TransportConfig::Stdio(StdioConfig { command, args, env, cwd: _, inherit_env: _ }) => {
                hash.add_text(command).add_secrets(args).add_pairs(env);
            }
            TransportConfig::Sse(remote) | TransportConfig::Http(remote) | TransportConfig::Ws(remote) => {
                hash.add_text(&canonical_url(remote.url.expose()));
            }
            TransportConfig::SseIde(ide) | TransportConfig::WsIde(ide) => {
                hash.add_text(&canonical_url(&ide.url));
            }
            // The address alone, as for other transports: a server of the user's own may have the same one.
            TransportConfig::ClaudeAiProxy { url, id: _ } => {
                hash.add_text(&canonical_url(url));
            }
            TransportConfig::Sdk { .. } => return None,
        }
        Some(Self(hash.finish()))
    }
}

/// The canonical form of a URL. The parser has normalized case and port; a trailing slash, a trailing dot
/// of the host and a fragment make no difference.
fn canonical_url(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    let host = url.host_str().and_then(|host| host.strip_suffix('.')).map(str::to_owned);
    // A host that cannot be set is one without a dot to remove.
    if let Some(host) = host {
        url.set_host(Some(&host)).unwrap_or(());
    }
    url.into()
}

impl DefinitionHash {
    /// The hash of a hook: its event, its matcher and its command.
    #[must_use]
    pub fn from_hook(
        event: &str,
        matcher: &str,
        command: &Secret<String>,
        args: Option<&[Secret<String>]>,
    ) -> Self {
        let mut hash = FieldHasher::new("hook");
        hash.add_text(event).add_text(matcher).add_text(command.expose()).add_flag(args.is_some());
        if let Some(args) = args {
            hash.add_secrets(args);
        }
        Self(hash.finish())
    }

    /// The hash of an allow rule.
    #[must_use]
    pub fn from_rule(text: &str) -> Self {
        let mut hash = FieldHasher::new("rule");
        hash.add_text(text);
        Self(hash.finish())
    }

    /// The hash of a variable set by settings.
    #[must_use]
    pub fn from_variable(name: &str, value: &Secret<String>) -> Self {
        let mut hash = FieldHasher::new("variable");
        hash.add_text(name).add_text(value.expose());
        Self(hash.finish())
    }

    /// The hash of an entry as it is written, independent of the values of variables: for entries the user
    /// wrote.
    #[must_use]
    pub fn from_written(raw: &RawServer, kind: TransportKind) -> Self {
        let mut hash = FieldHasher::new("written");
        hash.add_text(kind.as_str()).add_flag(raw.inherit_env);
        for template in [&raw.command, &raw.cwd, &raw.url, &raw.headers_helper] {
            hash.add_option(template.as_ref().map(|template| template.text.as_str()));
        }
        hash.add_count(raw.args.len());
        raw.args.iter().fold(&mut hash, |hash, argument| hash.add_text(&argument.text));
        hash.add_written_pairs(&raw.env).add_written_pairs(&raw.headers);
        hash.add_flag(raw.oauth.is_some());
        if let Some(oauth) = &raw.oauth {
            hash.add_text(oauth.grant.as_str()).add_flag(oauth.xaa);
            hash.add_count(oauth.callback_port.map_or(0, usize::from));
            for (field, template) in oauth.named_templates() {
                hash.add_text(field).add_text(&template.text);
            }
            // Only where it is written, so that approvals of entries without it stay valid.
            if let Some(resource) = oauth.resource {
                hash.add_text("resource").add_flag(resource);
            }
        }
        if let Some(roots) = &raw.roots {
            hash.add_text("roots").add_written_roots(roots);
        }
        Self(hash.finish())
    }

    /// The hash of an entry and its expansion.
    #[must_use]
    pub fn from_config(raw: &RawServer, config: &ServerConfig) -> Self {
        let mut hash = FieldHasher::new("definition");
        hash.add_text(config.kind().as_str());
        match &config.transport {
            TransportConfig::Stdio(StdioConfig { command, args, env: _, cwd, inherit_env }) => {
                hash.add_text(command).add_secrets(args).add_option(cwd.as_deref()).add_flag(*inherit_env);
            }
            TransportConfig::Sse(remote) | TransportConfig::Http(remote) | TransportConfig::Ws(remote) => {
                let RemoteConfig { url, headers: _, headers_helper, oauth } = remote;
                hash.add_text(url.expose().as_str());
                hash.add_option(headers_helper.as_ref().map(|helper| helper.expose().as_str()));
                hash.add_oauth(oauth.as_ref());
            }
            TransportConfig::Sdk { name } => {
                hash.add_text(name);
            }
            TransportConfig::SseIde(ide) | TransportConfig::WsIde(ide) => {
                hash.add_ide(ide);
            }
            TransportConfig::ClaudeAiProxy { url, id } => {
                hash.add_text(url.as_str()).add_text(id);
            }
        }
        hash.add_roots(&config.roots);
        hash.add_written_pairs(&raw.env).add_written_pairs(&raw.headers);
        Self(hash.finish())
    }
}

impl fmt::Display for DefinitionHash {
    /// `sha256:` and 64 digits, the form used in settings files.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", Hex(&self.0))
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(&self.0).fmt(f)
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature({self})")
    }
}

impl Serialize for Signature {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for DefinitionHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Feeds fields to SHA-256, each with its length, so that no two lists of fields give the same bytes.
struct FieldHasher(Sha256);

impl FieldHasher {
    fn new(domain: &str) -> Self {
        let mut hash = Self(Sha256::new());
        hash.add_text("mcparley").add_text(domain);
        hash
    }

    fn add_count(&mut self, count: usize) -> &mut Self {
        self.0.update((count as u64).to_le_bytes());
        self
    }

    fn add_text(&mut self, text: &str) -> &mut Self {
        self.add_count(text.len());
        self.0.update(text.as_bytes());
        self
    }

    fn add_flag(&mut self, flag: bool) -> &mut Self {
        self.add_count(usize::from(flag))
    }

    fn add_option(&mut self, text: Option<&str>) -> &mut Self {
        match text {
            Some(text) => self.add_flag(true).add_text(text),
            None => self.add_flag(false),
        }
    }

    fn add_secrets(&mut self, values: &[Secret<String>]) -> &mut Self {
        self.add_count(values.len());
        values.iter().fold(self, |hash, value| hash.add_text(value.expose()))
    }

    /// Hashes pairs sorted, because the order of variables and headers makes no difference.
    fn add_pairs(&mut self, pairs: &[(String, Secret<String>)]) -> &mut Self {
        let mut sorted: Vec<_> = pairs.iter().collect();
        sorted.sort();
        self.add_count(sorted.len());
        sorted.into_iter().fold(self, |hash, (name, value)| hash.add_text(name).add_text(value.expose()))
    }

    fn add_written_pairs(&mut self, pairs: &[(String, Template)]) -> &mut Self {
        self.add_count(pairs.len());
        pairs.iter().fold(self, |hash, (name, template)| hash.add_text(name).add_text(&template.text))
    }

    fn add_stdio(&mut self, stdio: &StdioConfig) -> &mut Self {
        let StdioConfig { command, args, env, cwd, inherit_env } = stdio;
        self.add_text(command)
            .add_secrets(args)
            .add_pairs(env)
            .add_option(cwd.as_deref())
            .add_flag(*inherit_env)
    }

    fn add_remote(&mut self, remote: &RemoteConfig) -> &mut Self {
        let RemoteConfig { url, headers, headers_helper, oauth } = remote;
        let helper = headers_helper.as_ref().map(|helper| helper.expose().as_str());
        let oauth = oauth.as_ref();
        self.add_text(url.expose().as_str())
            .add_pairs(headers)
            .add_option(helper)
            .add_oauth(oauth)
            .add_credentials(oauth)
    }

    /// Hashes the OAuth settings without their secrets.
    fn add_oauth(&mut self, oauth: Option<&OauthConfig>) -> &mut Self {
        let Some(oauth) = oauth else { return self.add_flag(false) };
        let OauthConfig { client_id, client_metadata_url, auth_server_metadata_url, scopes, .. } = oauth;
        let OauthConfig {
            client_secret: _,
            grant,
            private_key,
            assertion,
            callback_port,
            xaa,
            omit_resource,
            audience,
            ..
        } = oauth;
        self.add_flag(true)
            .add_option(client_id.as_deref())
            .add_option(client_metadata_url.as_ref().map(url::Url::as_str))
            .add_text(grant.as_str())
            .add_secret_location(private_key.as_ref())
            .add_secret_location(assertion.as_ref())
            .add_count(callback_port.map_or(0, usize::from))
            .add_option(auth_server_metadata_url.as_ref().map(url::Url::as_str))
            .add_count(scopes.len());
        scopes.iter().fold(&mut *self, |hash, scope| hash.add_text(scope));
        self.add_flag(*xaa);
        // Entries without the setting keep the signature they had before the field existed.
        if let Some(audience) = audience {
            self.add_text("audience").add_text(audience);
        }
        if *omit_resource { self.add_text("without resource") } else { self }
    }

    /// Hashes the location of a secret, not the secret itself.
    fn add_secret_location(&mut self, held: Option<&ConfiguredSecret>) -> &mut Self {
        match held {
            None => self.add_count(0),
            Some(ConfiguredSecret::Inline(_)) => self.add_count(1),
            Some(ConfiguredSecret::File(path)) => self.add_count(2).add_text(path),
        }
    }

    /// Hashes the secrets that are presented for a token.
    fn add_credentials(&mut self, oauth: Option<&OauthConfig>) -> &mut Self {
        let Some(OauthConfig { client_secret, private_key, assertion, .. }) = oauth else { return self };
        self.add_option(client_secret.as_ref().map(|secret| secret.expose().as_str()));
        for held in [private_key, assertion] {
            if let Some(ConfiguredSecret::Inline(secret)) = held {
                self.add_text(secret.expose());
            }
        }
        self
    }

    /// Hashes the roots; nothing for the default, so that entries without the field keep their old
    /// signature.
    fn add_written_roots(&mut self, roots: &RawRoots) -> &mut Self {
        match roots {
            RawRoots::Withheld => self.add_flag(false),
            RawRoots::Folders(folders) => {
                self.add_flag(true).add_count(folders.len());
                folders.iter().fold(self, |hash, folder| hash.add_text(&folder.text))
            }
        }
    }

    fn add_roots(&mut self, roots: &RootsPolicy) -> &mut Self {
        match roots {
            RootsPolicy::Offered => self,
            RootsPolicy::Withheld => self.add_text("no roots"),
            RootsPolicy::Folders(folders) => {
                self.add_text("roots").add_count(folders.len());
                folders.iter().fold(self, |hash, folder| hash.add_text(folder))
            }
        }
    }

    fn add_ide(&mut self, ide: &IdeConfig) -> &mut Self {
        let IdeConfig { url, name, auth_token } = ide;
        let token = auth_token.as_ref().map(|token| token.expose().as_str());
        self.add_text(url.as_str()).add_text(name).add_option(token)
    }

    fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

#[cfg(test)]
mod tests;
