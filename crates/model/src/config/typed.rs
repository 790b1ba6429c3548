//! Converts an entry into a [`ServerConfig`]: expanded and validated once, so that later code need not
//! check again.

use std::time::Duration;

use url::Url;

use super::error::{ConfigError, ValueProblem};
use super::header::{is_header_name, is_reserved_header};
use super::raw::{EntryHint, RawServer};
use super::{IdeConfig, RemoteConfig, ServerConfig, StdioConfig, TransportConfig, TransportKind};
use crate::expand::{Env, ExpansionKind, Template};
use crate::scope::ConfigOrigin;
use crate::secret::Secret;

impl RawServer {
    /// Expands the entry with `env` and validates it; `origin` is the location of the entry.
    ///
    /// # Errors
    /// The first problem that makes the entry unusable.
    pub fn to_config(&self, env: &Env, origin: &ConfigOrigin) -> Result<ServerConfig, ConfigError> {
        // Destructured completely, so that a new field cannot be forgotten here.
        let Self {
            kind: _,
            command: _,
            args: _,
            env: _,
            cwd: _,
            inherit_env: _,
            url: _,
            headers: _,
            headers_helper: _,
            oauth: _,
            timeout,
            idle_timeout,
            always_load,
            required,
            enabled_tools,
            disabled_tools,
            era,
            roots,
            share,
            credentials,
            name: _,
            id: _,
            ide_name: _,
            auth_token: _,
            hints: _,
        } = self;
        let check = EntryChecker { env, entry: origin };
        Ok(ServerConfig {
            transport: self.to_transport(&check)?,
            // 0 disables the timeout, as in Claude Code.
            timeout: timeout
                .map(|limit| if limit == 0 { Duration::MAX } else { Duration::from_millis(limit) }),
            idle_timeout: idle_timeout.filter(|limit| *limit > 0).map(Duration::from_millis),
            always_load: *always_load,
            required: *required,
            era: *era,
            enabled_tools: enabled_tools.clone(),
            disabled_tools: disabled_tools.clone(),
            roots: roots.as_ref().map(|roots| roots.to_policy(&check)).transpose()?.unwrap_or_default(),
            share: share.as_ref().map(|share| share.value).unwrap_or_default(),
            credentials: credentials.as_ref().map(|whose| whose.value).unwrap_or_default(),
        })
    }

    /// The transport kind of the entry: its `type`, or the only kind that its fields allow.
    ///
    /// # Errors
    /// The entry has neither `command` nor `url`, or both of them.
    pub fn effective_kind(&self, origin: &ConfigOrigin) -> Result<TransportKind, ConfigError> {
        if self.command.is_some() && self.url.is_some() {
            return Err(ConfigError::Both { origin: origin.clone() });
        }
        match (self.kind, &self.command, &self.url) {
            (Some(kind), _, _) => Ok(kind),
            (None, Some(_), _) => Ok(TransportKind::Stdio),
            (None, None, Some(url)) if is_websocket(&url.text) => Ok(TransportKind::Ws),
            (None, None, Some(_)) => Ok(TransportKind::Http),
            (None, None, None) => Err(ConfigError::Empty { origin: origin.clone() }),
        }
    }

    /// Hints about fields without effect for this kind of server, and about headers that will not be sent.
    #[must_use]
    pub fn hints_for_kind(&self, kind: TransportKind) -> Vec<EntryHint> {
        let mut hints = self.hints.clone();
        let reserved = self.headers.iter().filter(|(name, _)| is_reserved_header(name));
        hints.extend(reserved.map(|(name, value)| EntryHint {
            text: format!("header `{name}` is set by the protocol; the configured value is not sent"),
            origin: value.origin.clone(),
        }));
        if kind == TransportKind::Stdio {
            let remote_only = [
                self.headers.first().map(|(_, value)| ("headers", &value.origin)),
                self.headers_helper.as_ref().map(|value| ("headersHelper", &value.origin)),
                self.credentials.as_ref().map(|value| ("credentials", &value.origin)),
            ];
            hints.extend(
                remote_only
                    .into_iter()
                    .flatten()
                    .map(|(field, origin)| unused_field_hint(field, kind, origin)),
            );
        } else {
            let local_only = [
                self.args.first().map(|value| ("args", &value.origin)),
                self.env.first().map(|(_, value)| ("env", &value.origin)),
                self.cwd.as_ref().map(|value| ("cwd", &value.origin)),
                self.share.as_ref().map(|value| ("share", &value.origin)),
            ];
            hints.extend(
                local_only
                    .into_iter()
                    .flatten()
                    .map(|(field, origin)| unused_field_hint(field, kind, origin)),
            );
        }
        hints
    }

    fn to_transport(&self, check: &EntryChecker<'_>) -> Result<TransportConfig, ConfigError> {
        let kind = self.effective_kind(check.entry)?;
        Ok(match kind {
            TransportKind::Stdio => TransportConfig::Stdio(self.to_stdio(check)?),
            TransportKind::Sse => TransportConfig::Sse(self.to_remote(kind, check)?),
            TransportKind::Http => TransportConfig::Http(self.to_remote(kind, check)?),
            TransportKind::Ws => TransportConfig::Ws(self.to_remote(kind, check)?),
            TransportKind::Sdk => {
                TransportConfig::Sdk { name: check.expand_required(self.name.as_ref(), "name", kind)? }
            }
            TransportKind::SseIde => TransportConfig::SseIde(self.to_ide(kind, check)?),
            TransportKind::WsIde => TransportConfig::WsIde(self.to_ide(kind, check)?),
            TransportKind::ClaudeAiProxy => TransportConfig::ClaudeAiProxy {
                url: check.expand_url(self.url.as_ref(), kind)?,
                id: check.expand_required(self.id.as_ref(), "id", kind)?,
            },
        })
    }

    fn to_stdio(&self, check: &EntryChecker<'_>) -> Result<StdioConfig, ConfigError> {
        let args = self.args.iter().map(|arg| check.expand_argument(arg)).collect::<Result<_, _>>()?;
        let env = self
            .env
            .iter()
            .map(|(name, value)| check.expand_variable(name, value))
            .collect::<Result<_, _>>()?;
        Ok(StdioConfig {
            command: check.expand_required(self.command.as_ref(), "command", TransportKind::Stdio)?,
            args,
            env,
            cwd: self.cwd.as_ref().map(|cwd| check.expand_one_line("cwd", cwd)).transpose()?,
            inherit_env: self.inherit_env,
        })
    }

    fn to_remote(&self, kind: TransportKind, check: &EntryChecker<'_>) -> Result<RemoteConfig, ConfigError> {
        let sent = self.headers.iter().filter(|(name, _)| !is_reserved_header(name));
        let helper =
            self.headers_helper.as_ref().map(|helper| check.expand_one_line("headersHelper", helper));
        Ok(RemoteConfig {
            url: Secret::new(check.expand_url(self.url.as_ref(), kind)?),
            headers: sent.map(|(name, value)| check.expand_header(name, value)).collect::<Result<_, _>>()?,
            headers_helper: helper.transpose()?.map(Secret::new),
            oauth: self.oauth.as_ref().map(|oauth| oauth.to_config(check)).transpose()?,
        })
    }

    fn to_ide(&self, kind: TransportKind, check: &EntryChecker<'_>) -> Result<IdeConfig, ConfigError> {
        let token = self.auth_token.as_ref().map(|token| check.expand_one_line("authToken", token));
        Ok(IdeConfig {
            url: check.expand_url(self.url.as_ref(), kind)?,
            name: check.expand_required(self.ide_name.as_ref(), "ideName", kind)?,
            auth_token: token.transpose()?.map(Secret::new),
        })
    }
}

/// Expands and validates the texts of one entry.
pub(super) struct EntryChecker<'e> {
    env: &'e Env,
    entry: &'e ConfigOrigin,
}

impl EntryChecker<'_> {
    fn expand_required(
        &self,
        text: Option<&Template>,
        field: &'static str,
        kind: TransportKind,
    ) -> Result<String, ConfigError> {
        let Some(text) = text else {
            return Err(ConfigError::Missing { field, kind, origin: self.entry.clone() });
        };
        let value = self.expand_one_line(field, text)?;
        if value.trim().is_empty() {
            return Err(value_error(field, ValueProblem::Blank, text));
        }
        Ok(value)
    }

    pub(super) fn expand_one_line(&self, field: &str, text: &Template) -> Result<String, ConfigError> {
        let value = text.expand(self.env, ExpansionKind::OneLine)?;
        if value.contains(['\0', '\n', '\r']) {
            return Err(value_error(field, ValueProblem::Control, text));
        }
        Ok(value)
    }

    /// Expands a text that may have several lines, such as a private key.
    pub(super) fn expand_many_lines(&self, field: &str, text: &Template) -> Result<String, ConfigError> {
        let value = text.expand(self.env, ExpansionKind::ManyLines)?;
        if value.contains('\0') { Err(value_error(field, ValueProblem::Control, text)) } else { Ok(value) }
    }

    /// Expands an argument. It may be a script of several lines if it is written so; a variable must not
    /// add lines.
    fn expand_argument(&self, text: &Template) -> Result<Secret<String>, ConfigError> {
        let value = text.expand(self.env, ExpansionKind::OneLine)?;
        if value.contains('\0') {
            return Err(value_error("args", ValueProblem::Control, text));
        }
        Ok(Secret::new(value))
    }

    fn expand_variable(&self, name: &str, text: &Template) -> Result<(String, Secret<String>), ConfigError> {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(value_error(&format!("env.{name}"), ValueProblem::BadName, text));
        }
        let value = self.expand_many_lines(&format!("env.{name}"), text)?;
        Ok((name.to_owned(), Secret::new(value)))
    }

    fn expand_header(&self, name: &str, text: &Template) -> Result<(String, Secret<String>), ConfigError> {
        let field = format!("headers.{name}");
        if !is_header_name(name) {
            return Err(value_error(&field, ValueProblem::BadName, text));
        }
        Ok((name.to_owned(), Secret::new(self.expand_one_line(&field, text)?)))
    }

    fn expand_url(&self, text: Option<&Template>, kind: TransportKind) -> Result<Url, ConfigError> {
        let Some(text) = text else {
            return Err(ConfigError::Missing { field: "url", kind, origin: self.entry.clone() });
        };
        match kind {
            TransportKind::Ws | TransportKind::WsIde => {
                self.parse_url("url", text, &["wss", "ws"], "wss:// or ws://")
            }
            TransportKind::Stdio
            | TransportKind::Sse
            | TransportKind::Http
            | TransportKind::Sdk
            | TransportKind::SseIde
            | TransportKind::ClaudeAiProxy => {
                self.parse_url("url", text, &["https", "http"], "https:// or http://")
            }
        }
    }

    pub(super) fn parse_url(
        &self,
        field: &str,
        text: &Template,
        schemes: &[&str],
        expected: &'static str,
    ) -> Result<Url, ConfigError> {
        let value = self.expand_one_line(field, text)?;
        let url = Url::parse(&value)
            .map_err(|error| value_error(field, ValueProblem::NotAUrl(error.to_string()), text))?;
        if !schemes.contains(&url.scheme()) {
            return Err(value_error(field, ValueProblem::Scheme(expected), text));
        }
        Ok(url)
    }
}

pub(super) fn value_error(field: &str, problem: ValueProblem, text: &Template) -> ConfigError {
    ConfigError::Value { field: field.to_owned(), problem, origin: text.origin.clone() }
}

fn unused_field_hint(field: &str, kind: TransportKind, origin: &ConfigOrigin) -> EntryHint {
    EntryHint { text: format!("`{field}` has no effect for a `{kind}` server"), origin: origin.clone() }
}

fn is_websocket(url: &str) -> bool {
    let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
    scheme.eq_ignore_ascii_case("ws") || scheme.eq_ignore_ascii_case("wss")
}
