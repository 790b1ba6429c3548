//! Turns an entry into a [`ServerConfig`]: expanded, checked, and from then on never checked again.

use std::time::Duration;

use url::Url;

use super::error::{ConfigError, Problem};
use super::header::{is_header_name, is_reserved_header};
use super::raw::{Hint, RawServer};
use super::{Ide, Kind, Remote, ServerConfig, Stdio, Transport};
use crate::expand::{Env, Template, Use};
use crate::scope::Origin;
use crate::secret::Secret;

impl RawServer {
    /// The entry expanded with `env` and checked; `origin` is where the entry stands.
    ///
    /// # Errors
    /// The first thing that makes the entry unusable.
    pub fn to_config(&self, env: &Env, origin: &Origin) -> Result<ServerConfig, ConfigError> {
        // Destructured whole, so that a new field cannot be forgotten here.
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
            name: _,
            id: _,
            ide_name: _,
            auth_token: _,
            hints: _,
        } = self;
        let check = Checker { env, entry: origin };
        Ok(ServerConfig {
            transport: self.transport(&check)?,
            // 0 switches the limit off, as in the program people come from.
            timeout: timeout
                .map(|limit| if limit == 0 { Duration::MAX } else { Duration::from_millis(limit) }),
            idle_timeout: idle_timeout.filter(|limit| *limit > 0).map(Duration::from_millis),
            always_load: *always_load,
            required: *required,
            era: *era,
            enabled_tools: enabled_tools.clone(),
            disabled_tools: disabled_tools.clone(),
            roots: roots.as_ref().map(|roots| roots.check(&check)).transpose()?.unwrap_or_default(),
        })
    }

    /// What the entry says it is, or what it can only be.
    ///
    /// # Errors
    /// When it says nothing, or both `command` and `url` without a `type` to choose.
    pub fn effective_kind(&self, origin: &Origin) -> Result<Kind, ConfigError> {
        if self.command.is_some() && self.url.is_some() {
            return Err(ConfigError::Both { origin: origin.clone() });
        }
        match (self.kind, &self.command, &self.url) {
            (Some(kind), _, _) => Ok(kind),
            (None, Some(_), _) => Ok(Kind::Stdio),
            (None, None, Some(url)) if is_websocket(&url.text) => Ok(Kind::Ws),
            (None, None, Some(_)) => Ok(Kind::Http),
            (None, None, None) => Err(ConfigError::Empty { origin: origin.clone() }),
        }
    }

    /// Hints about fields that mean nothing for this kind of server, and headers that will not be sent.
    #[must_use]
    pub fn hints(&self, kind: Kind) -> Vec<Hint> {
        let mut hints = self.hints.clone();
        let reserved = self.headers.iter().filter(|(name, _)| is_reserved_header(name));
        hints.extend(reserved.map(|(name, value)| Hint {
            text: format!("header `{name}` is set by the protocol; the configured value is not sent"),
            origin: value.origin.clone(),
        }));
        if kind == Kind::Stdio {
            let remote_only = [
                self.headers.first().map(|(_, value)| ("headers", value)),
                self.headers_helper.as_ref().map(|value| ("headersHelper", value)),
            ];
            hints.extend(
                remote_only.into_iter().flatten().map(|(field, value)| meaningless(field, kind, value)),
            );
        } else {
            let local_only = [
                self.args.first().map(|value| ("args", value)),
                self.env.first().map(|(_, value)| ("env", value)),
                self.cwd.as_ref().map(|value| ("cwd", value)),
            ];
            hints.extend(
                local_only.into_iter().flatten().map(|(field, value)| meaningless(field, kind, value)),
            );
        }
        hints
    }

    fn transport(&self, check: &Checker<'_>) -> Result<Transport, ConfigError> {
        let kind = self.effective_kind(check.entry)?;
        Ok(match kind {
            Kind::Stdio => Transport::Stdio(self.stdio(check)?),
            Kind::Sse => Transport::Sse(self.remote(kind, check)?),
            Kind::Http => Transport::Http(self.remote(kind, check)?),
            Kind::Ws => Transport::Ws(self.remote(kind, check)?),
            Kind::Sdk => Transport::Sdk { name: check.needed(self.name.as_ref(), "name", kind)? },
            Kind::SseIde => Transport::SseIde(self.ide(kind, check)?),
            Kind::WsIde => Transport::WsIde(self.ide(kind, check)?),
            Kind::ClaudeAiProxy => Transport::ClaudeAiProxy {
                url: check.url(self.url.as_ref(), kind)?,
                id: check.needed(self.id.as_ref(), "id", kind)?,
            },
        })
    }

    fn stdio(&self, check: &Checker<'_>) -> Result<Stdio, ConfigError> {
        let args = self.args.iter().map(|arg| check.argument(arg)).collect::<Result<_, _>>()?;
        let env =
            self.env.iter().map(|(name, value)| check.variable(name, value)).collect::<Result<_, _>>()?;
        Ok(Stdio {
            command: check.needed(self.command.as_ref(), "command", Kind::Stdio)?,
            args,
            env,
            cwd: self.cwd.as_ref().map(|cwd| check.one_line("cwd", cwd)).transpose()?,
            inherit_env: self.inherit_env,
        })
    }

    fn remote(&self, kind: Kind, check: &Checker<'_>) -> Result<Remote, ConfigError> {
        let sent = self.headers.iter().filter(|(name, _)| !is_reserved_header(name));
        let helper = self.headers_helper.as_ref().map(|helper| check.one_line("headersHelper", helper));
        Ok(Remote {
            url: Secret::new(check.url(self.url.as_ref(), kind)?),
            headers: sent.map(|(name, value)| check.header(name, value)).collect::<Result<_, _>>()?,
            headers_helper: helper.transpose()?.map(Secret::new),
            oauth: self.oauth.as_ref().map(|oauth| oauth.check(check)).transpose()?,
        })
    }

    fn ide(&self, kind: Kind, check: &Checker<'_>) -> Result<Ide, ConfigError> {
        let token = self.auth_token.as_ref().map(|token| check.one_line("authToken", token));
        Ok(Ide {
            url: check.url(self.url.as_ref(), kind)?,
            name: check.needed(self.ide_name.as_ref(), "ideName", kind)?,
            auth_token: token.transpose()?.map(Secret::new),
        })
    }
}

/// Expands and checks the strings of one entry.
pub(super) struct Checker<'e> {
    env: &'e Env,
    entry: &'e Origin,
}

impl Checker<'_> {
    fn needed(
        &self,
        text: Option<&Template>,
        field: &'static str,
        kind: Kind,
    ) -> Result<String, ConfigError> {
        let Some(text) = text else {
            return Err(ConfigError::Missing { field, kind, origin: self.entry.clone() });
        };
        let value = self.one_line(field, text)?;
        if value.trim().is_empty() {
            return Err(wrong(field, Problem::Blank, text));
        }
        Ok(value)
    }

    pub(super) fn one_line(&self, field: &str, text: &Template) -> Result<String, ConfigError> {
        let value = text.expand(self.env, Use::OneLine)?;
        if value.contains(['\0', '\n', '\r']) {
            return Err(wrong(field, Problem::Control, text));
        }
        Ok(value)
    }

    /// A key has many lines, wherever they come from.
    pub(super) fn many_lines(&self, field: &str, text: &Template) -> Result<String, ConfigError> {
        let value = text.expand(self.env, Use::ManyLines)?;
        match value.contains('\0') {
            true => Err(wrong(field, Problem::Control, text)),
            false => Ok(value),
        }
    }

    /// An argument may be a script of many lines if it is written that way; a variable may not make it one.
    fn argument(&self, text: &Template) -> Result<Secret<String>, ConfigError> {
        let value = text.expand(self.env, Use::OneLine)?;
        if value.contains('\0') {
            return Err(wrong("args", Problem::Control, text));
        }
        Ok(Secret::new(value))
    }

    fn variable(&self, name: &str, text: &Template) -> Result<(String, Secret<String>), ConfigError> {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(wrong(&format!("env.{name}"), Problem::BadName, text));
        }
        let value = self.many_lines(&format!("env.{name}"), text)?;
        Ok((name.to_owned(), Secret::new(value)))
    }

    fn header(&self, name: &str, text: &Template) -> Result<(String, Secret<String>), ConfigError> {
        let field = format!("headers.{name}");
        if !is_header_name(name) {
            return Err(wrong(&field, Problem::BadName, text));
        }
        Ok((name.to_owned(), Secret::new(self.one_line(&field, text)?)))
    }

    fn url(&self, text: Option<&Template>, kind: Kind) -> Result<Url, ConfigError> {
        let Some(text) = text else {
            return Err(ConfigError::Missing { field: "url", kind, origin: self.entry.clone() });
        };
        match kind {
            Kind::Ws | Kind::WsIde => self.parse_url("url", text, &["wss", "ws"], "wss:// or ws://"),
            Kind::Stdio | Kind::Sse | Kind::Http | Kind::Sdk | Kind::SseIde | Kind::ClaudeAiProxy => {
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
        let value = self.one_line(field, text)?;
        let url =
            Url::parse(&value).map_err(|error| wrong(field, Problem::NotAUrl(error.to_string()), text))?;
        if !schemes.contains(&url.scheme()) {
            return Err(wrong(field, Problem::Scheme(expected), text));
        }
        Ok(url)
    }
}

pub(super) fn wrong(field: &str, problem: Problem, text: &Template) -> ConfigError {
    ConfigError::Value { field: field.to_owned(), problem, origin: text.origin.clone() }
}

fn meaningless(field: &str, kind: Kind, value: &Template) -> Hint {
    Hint { text: format!("`{field}` means nothing for a `{kind}` server"), origin: value.origin.clone() }
}

fn is_websocket(url: &str) -> bool {
    let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
    scheme.eq_ignore_ascii_case("ws") || scheme.eq_ignore_ascii_case("wss")
}
