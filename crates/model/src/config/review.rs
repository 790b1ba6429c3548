//! Lists the fields of an entry for the approval dialog: as written and as it would run.
//!
//! The folder's author wrote the entry, so it contains no secret of the user: literals, defaults and
//! arguments are shown. Only values from the user's own environment are masked.

use serde::Serialize;

use super::{RawServer, ServerConfig, TransportConfig};
use crate::expand::{Env, Template, TemplatePiece};
use crate::secret::MASK;

/// One field of an entry in the approval dialog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReviewField {
    /// The field's label.
    pub name: String,
    /// The text as it is written.
    pub written: String,
    /// The text as it would be used, if it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<String>,
}

impl RawServer {
    /// The fields that decide which command runs or which host is contacted.
    ///
    /// `is_own` says whether a variable's value is the user's own and must be masked.
    #[must_use]
    pub fn review_fields(
        &self,
        config: Option<&ServerConfig>,
        env: &Env,
        is_own: impl Fn(&str) -> bool,
    ) -> Vec<ReviewField> {
        let field = |name: &str, template: &Template| ReviewField {
            name: name.to_owned(),
            written: template.text.clone(),
            runs: expand_for_review(template, env, &is_own).filter(|runs| *runs != template.text),
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

/// The host that is contacted, as the parser that connects reads the address.
fn connected_host(config: &ServerConfig) -> Option<String> {
    let url = match &config.transport {
        TransportConfig::Sse(remote) | TransportConfig::Http(remote) | TransportConfig::Ws(remote) => {
            remote.url.expose()
        }
        TransportConfig::SseIde(_)
        | TransportConfig::WsIde(_)
        | TransportConfig::ClaudeAiProxy { .. }
        | TransportConfig::Stdio(_)
        | TransportConfig::Sdk { .. } => return None,
    };
    let host = url.host_str()?;
    Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}

/// The text with variables replaced, the user's own by a mask; `None` if the template does not parse.
fn expand_for_review(template: &Template, env: &Env, is_own: impl Fn(&str) -> bool) -> Option<String> {
    let value = |piece: TemplatePiece<'_>| match piece {
        TemplatePiece::Text(text) => text.to_owned(),
        TemplatePiece::Variable { name, default } => match (env.get(name), default) {
            (Some(_), _) if is_own(name) => MASK.to_owned(),
            (Some(value), _) => value.to_owned(),
            (None, Some(default)) => default.to_owned(),
            (None, None) => format!("${{{name}}}"),
        },
    };
    Some(template.pieces().ok()?.into_iter().map(value).collect())
}
