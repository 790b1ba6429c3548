//! Who is who: hashes that say when two declarations are one server, and when a connection is stale.
//!
//! Three questions, three answers. [`Signature`] covers everything that affects a connection and drives
//! reuse and reload (C11). [`Endpoint`] covers only what C8 compares to find duplicates. [`Definition`]
//! covers what a person approves (C7).

use std::fmt;

use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};
use url::Url;

use crate::config::{Held, Ide, Kind, Oauth, RawServer, Remote, RootsPolicy, ServerConfig, Stdio, Transport};
use crate::expand::Template;
use crate::hex::Hex;
use crate::secret::Secret;

/// Identity of a connection: equal signatures may share one.
///
/// The scope is no part of it, so moving an entry from one file to another restarts nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signature([u8; 32]);

/// Identity of what is behind a declaration: the address, or the command with its environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Endpoint([u8; 32]);

/// Identity of what a person approved.
///
/// Command, arguments, folder, address, header helper and sign-in settings count as they expand, so a
/// variable cannot change what runs behind an approval. Values of `env` and `headers` count as they are
/// written: there variables hold credentials, and a rotated token is no new server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Definition([u8; 32]);

impl Signature {
    /// The signature of how a server behind a URL is reached, whatever the transport.
    #[must_use]
    pub fn of_remote(remote: &Remote) -> Self {
        let mut hash = Hash::new("remote");
        hash.remote(remote);
        Self(hash.finish())
    }

    /// The signature of a configuration.
    #[must_use]
    pub fn of(config: &ServerConfig) -> Self {
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
        } = config;
        let mut hash = Hash::new("signature");
        hash.text(config.kind().as_str()).text(era.as_str());
        match transport {
            Transport::Stdio(stdio) => hash.stdio(stdio),
            Transport::Sse(remote) | Transport::Http(remote) | Transport::Ws(remote) => hash.remote(remote),
            Transport::Sdk { name } => hash.text(name),
            Transport::SseIde(ide) | Transport::WsIde(ide) => hash.ide(ide),
            Transport::ClaudeAiProxy { url, id } => hash.text(url.as_str()).text(id),
        };
        // A server that was told of other folders may have become another one.
        hash.roots(roots);
        Self(hash.finish())
    }
}

impl Endpoint {
    /// The endpoint of a configuration; in-process servers have none.
    #[must_use]
    pub fn of(config: &ServerConfig) -> Option<Self> {
        let mut hash = Hash::new("endpoint");
        match &config.transport {
            Transport::Stdio(Stdio { command, args, env, cwd: _, inherit_env: _ }) => {
                hash.text(command).secrets(args).pairs(env);
            }
            Transport::Sse(remote) | Transport::Http(remote) | Transport::Ws(remote) => {
                hash.text(&canonical_url(remote.url.expose()));
            }
            Transport::SseIde(ide) | Transport::WsIde(ide) => {
                hash.text(&canonical_url(&ide.url));
            }
            // The address alone, as for others: a server of one's own may have it, too (C8).
            Transport::ClaudeAiProxy { url, id: _ } => {
                hash.text(&canonical_url(url));
            }
            Transport::Sdk { .. } => return None,
        }
        Some(Self(hash.finish()))
    }
}

/// One way to write a URL: the parser has settled case and port; a slash or a dot at the end and a fragment name
/// nothing else.
fn canonical_url(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    let host = url.host_str().and_then(|host| host.strip_suffix('.')).map(str::to_owned);
    // A host that cannot be set is one that has no dot to lose.
    if let Some(host) = host {
        url.set_host(Some(&host)).unwrap_or(());
    }
    url.into()
}

impl Definition {
    /// The definition of a hook: when it runs, for what, and what is run.
    #[must_use]
    pub fn of_hook(
        event: &str,
        matcher: &str,
        command: &Secret<String>,
        args: Option<&[Secret<String>]>,
    ) -> Self {
        let mut hash = Hash::new("hook");
        hash.text(event).text(matcher).text(command.expose()).flag(args.is_some());
        if let Some(args) = args {
            hash.secrets(args);
        }
        Self(hash.finish())
    }

    /// The definition of a rule that allows.
    #[must_use]
    pub fn of_rule(text: &str) -> Self {
        let mut hash = Hash::new("rule");
        hash.text(text);
        Self(hash.finish())
    }

    /// The definition of a variable that settings set.
    #[must_use]
    pub fn of_variable(name: &str, value: &Secret<String>) -> Self {
        let mut hash = Hash::new("variable");
        hash.text(name).text(value.expose());
        Self(hash.finish())
    }

    /// The definition of an entry as it is written, whatever its variables hold: for what the user wrote.
    #[must_use]
    pub fn of_written(raw: &RawServer, kind: Kind) -> Self {
        let mut hash = Hash::new("written");
        hash.text(kind.as_str()).flag(raw.inherit_env);
        for template in [&raw.command, &raw.cwd, &raw.url, &raw.headers_helper] {
            hash.option(template.as_ref().map(|template| template.text.as_str()));
        }
        hash.count(raw.args.len());
        raw.args.iter().fold(&mut hash, |hash, argument| hash.text(&argument.text));
        hash.written_pairs(&raw.env).written_pairs(&raw.headers);
        hash.flag(raw.oauth.is_some());
        if let Some(oauth) = &raw.oauth {
            hash.text(oauth.grant.as_str()).flag(oauth.xaa);
            hash.count(oauth.callback_port.map_or(0, usize::from));
            for (field, template) in oauth.named_templates() {
                hash.text(field).text(&template.text);
            }
        }
        Self(hash.finish())
    }

    /// The definition of an entry and what it expands to.
    #[must_use]
    pub fn of(raw: &RawServer, config: &ServerConfig) -> Self {
        let mut hash = Hash::new("definition");
        hash.text(config.kind().as_str());
        match &config.transport {
            Transport::Stdio(Stdio { command, args, env: _, cwd, inherit_env }) => {
                hash.text(command).secrets(args).option(cwd.as_deref()).flag(*inherit_env);
            }
            Transport::Sse(remote) | Transport::Http(remote) | Transport::Ws(remote) => {
                let Remote { url, headers: _, headers_helper, oauth } = remote;
                hash.text(url.expose().as_str());
                hash.option(headers_helper.as_ref().map(|helper| helper.expose().as_str()));
                hash.oauth(oauth.as_ref());
            }
            Transport::Sdk { name } => {
                hash.text(name);
            }
            Transport::SseIde(ide) | Transport::WsIde(ide) => {
                hash.ide(ide);
            }
            Transport::ClaudeAiProxy { url, id } => {
                hash.text(url.as_str()).text(id);
            }
        }
        hash.roots(&config.roots);
        hash.written_pairs(&raw.env).written_pairs(&raw.headers);
        Self(hash.finish())
    }
}

impl fmt::Display for Definition {
    /// `sha256:` and 64 digits, the form that stands in settings files.
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

impl Serialize for Definition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Feeds fields to SHA-256, each with its length, so that no two lists of fields give the same bytes.
struct Hash(Sha256);

impl Hash {
    fn new(domain: &str) -> Self {
        let mut hash = Self(Sha256::new());
        hash.text("mcparley").text(domain);
        hash
    }

    fn count(&mut self, count: usize) -> &mut Self {
        self.0.update((count as u64).to_le_bytes());
        self
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.count(text.len());
        self.0.update(text.as_bytes());
        self
    }

    fn flag(&mut self, flag: bool) -> &mut Self {
        self.count(usize::from(flag))
    }

    fn option(&mut self, text: Option<&str>) -> &mut Self {
        match text {
            Some(text) => self.flag(true).text(text),
            None => self.flag(false),
        }
    }

    fn secrets(&mut self, values: &[Secret<String>]) -> &mut Self {
        self.count(values.len());
        values.iter().fold(self, |hash, value| hash.text(value.expose()))
    }

    /// Order is no difference in an environment or among headers.
    fn pairs(&mut self, pairs: &[(String, Secret<String>)]) -> &mut Self {
        let mut sorted: Vec<_> = pairs.iter().collect();
        sorted.sort();
        self.count(sorted.len());
        sorted.into_iter().fold(self, |hash, (name, value)| hash.text(name).text(value.expose()))
    }

    fn written_pairs(&mut self, pairs: &[(String, Template)]) -> &mut Self {
        self.count(pairs.len());
        pairs.iter().fold(self, |hash, (name, template)| hash.text(name).text(&template.text))
    }

    fn stdio(&mut self, stdio: &Stdio) -> &mut Self {
        let Stdio { command, args, env, cwd, inherit_env } = stdio;
        self.text(command).secrets(args).pairs(env).option(cwd.as_deref()).flag(*inherit_env)
    }

    fn remote(&mut self, remote: &Remote) -> &mut Self {
        let Remote { url, headers, headers_helper, oauth } = remote;
        let helper = headers_helper.as_ref().map(|helper| helper.expose().as_str());
        let oauth = oauth.as_ref();
        self.text(url.expose().as_str()).pairs(headers).option(helper).oauth(oauth).shown_for_tokens(oauth)
    }

    /// What is asked for and how, without the secrets that are shown for it.
    fn oauth(&mut self, oauth: Option<&Oauth>) -> &mut Self {
        let Some(oauth) = oauth else { return self.flag(false) };
        let Oauth { client_id, client_metadata_url, auth_server_metadata_url, scopes, .. } = oauth;
        let Oauth {
            client_secret: _, grant, private_key, assertion, callback_port, xaa, omit_resource, ..
        } = oauth;
        self.flag(true)
            .option(client_id.as_deref())
            .option(client_metadata_url.as_ref().map(url::Url::as_str))
            .text(grant.as_str())
            .held(private_key.as_ref())
            .held(assertion.as_ref())
            .count(callback_port.map_or(0, usize::from))
            .option(auth_server_metadata_url.as_ref().map(url::Url::as_str))
            .count(scopes.len());
        scopes.iter().fold(&mut *self, |hash, scope| hash.text(scope));
        self.flag(*xaa);
        // Entries that say nothing keep the signature they had before the field was known.
        if *omit_resource { self.text("without resource") } else { self }
    }

    /// Where a secret is.
    fn held(&mut self, held: Option<&Held>) -> &mut Self {
        match held {
            None => self.count(0),
            Some(Held::Here(_)) => self.count(1),
            Some(Held::File(path)) => self.count(2).text(path),
        }
    }

    /// The secrets that are shown for a token.
    fn shown_for_tokens(&mut self, oauth: Option<&Oauth>) -> &mut Self {
        let Some(Oauth { client_secret, private_key, assertion, .. }) = oauth else { return self };
        self.option(client_secret.as_ref().map(|secret| secret.expose().as_str()));
        for held in [private_key, assertion] {
            if let Some(Held::Here(secret)) = held {
                self.text(secret.expose());
            }
        }
        self
    }

    /// Nothing where nothing is said, so that entries without the field keep the identity they had before it came.
    fn roots(&mut self, roots: &RootsPolicy) -> &mut Self {
        match roots {
            RootsPolicy::Offered => self,
            RootsPolicy::Withheld => self.text("no roots"),
            RootsPolicy::Folders(folders) => {
                self.text("roots").count(folders.len());
                folders.iter().fold(self, |hash, folder| hash.text(folder))
            }
        }
    }

    fn ide(&mut self, ide: &Ide) -> &mut Self {
        let Ide { url, name, auth_token } = ide;
        let token = auth_token.as_ref().map(|token| token.expose().as_str());
        self.text(url.as_str()).text(name).option(token)
    }

    fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

#[cfg(test)]
mod tests;
