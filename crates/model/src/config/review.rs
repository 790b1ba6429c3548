//! An entry that waits for approval, whole: as it is written and as it would run (C17, B122).
//!
//! Somebody else wrote it, so nothing in it is the user's secret: literals, defaults and arguments are shown. Masked
//! are only values that come out of the user's own environment.

use serde::Serialize;

use super::{RawServer, ServerConfig, Transport};
use crate::expand::{Env, Piece, Template};
use crate::secret::MASK;

/// One field of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReviewField {
    /// What it is.
    pub name: String,
    /// Its text as it is written.
    pub written: String,
    /// Its text as it would be used, where that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<String>,
}

impl RawServer {
    /// Every field that decides what runs or who is talked to. `is_own` tells whether a variable's value is the
    /// user's own and therefore not shown.
    #[must_use]
    pub fn review(
        &self,
        config: Option<&ServerConfig>,
        env: &Env,
        is_own: impl Fn(&str) -> bool,
    ) -> Vec<ReviewField> {
        let field = |name: &str, template: &Template| ReviewField {
            name: name.to_owned(),
            written: template.text.clone(),
            runs: as_run(template, env, &is_own).filter(|runs| *runs != template.text),
        };
        let mut fields: Vec<ReviewField> = Vec::new();
        fields.extend(self.command.iter().map(|command| field("command", command)));
        let arguments = self.args.iter().enumerate();
        fields.extend(arguments.map(|(index, text)| field(&format!("argument {}", index + 1), text)));
        fields.extend(self.cwd.iter().map(|cwd| field("cwd", cwd)));
        fields.extend(self.env.iter().map(|(name, text)| field(&format!("variable {name}"), text)));
        fields.extend(self.url.iter().map(|url| field("url", url)));
        fields.extend(config.and_then(connected_host).map(|written| ReviewField {
            name: "connects to".to_owned(),
            written,
            runs: None,
        }));
        fields.extend(self.headers.iter().map(|(name, text)| field(&format!("header {name}"), text)));
        fields.extend(self.headers_helper.iter().map(|helper| field("headers helper", helper)));
        let oauth = self.oauth.iter().flat_map(|oauth| oauth.named_templates());
        fields.extend(oauth.map(|(name, text)| field(&format!("sign-in {name}"), text)));
        if self.inherit_env {
            let written = "the whole environment".to_owned();
            fields.push(ReviewField { name: "inherits".to_owned(), written, runs: None });
        }
        fields
    }
}

/// The host that is connected to, as the parser that connects reads the address.
fn connected_host(config: &ServerConfig) -> Option<String> {
    let url = match &config.transport {
        Transport::Sse(remote) | Transport::Http(remote) | Transport::Ws(remote) => remote.url.expose(),
        Transport::SseIde(_)
        | Transport::WsIde(_)
        | Transport::ClaudeAiProxy { .. }
        | Transport::Stdio(_)
        | Transport::Sdk { .. } => return None,
    };
    let host = url.host_str()?;
    Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}

/// The text with its variables replaced, the user's own by a mask; nothing when it cannot be taken apart.
fn as_run(template: &Template, env: &Env, is_own: impl Fn(&str) -> bool) -> Option<String> {
    let value = |piece: Piece<'_>| match piece {
        Piece::Text(text) => text.to_owned(),
        Piece::Variable { name, default } => match (env.get(name), default) {
            (Some(_), _) if is_own(name) => MASK.to_owned(),
            (Some(value), _) => value.to_owned(),
            (None, Some(default)) => default.to_owned(),
            (None, None) => format!("${{{name}}}"),
        },
    };
    Some(template.pieces().ok()?.into_iter().map(value).collect())
}
