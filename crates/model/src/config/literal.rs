//! Finds literal secrets in an entry: values written out where a `${VARIABLE}` would do.
//!
//! A file in a repository is shared sooner or later, and a literal secret in it is published with it.

use super::mask::{arguments_hold_secret, holds_secret, is_credential, url_holds_secret};
use super::{RawOauth, RawServer};
use crate::expand::{Template, TemplatePiece};

impl RawServer {
    /// The fields that hold a literal secret, such as `headers.Authorization`, in the order of the entry.
    #[must_use]
    pub fn literal_secrets(&self) -> Vec<String> {
        let named = |field: &str, values: &[(String, Template)]| -> Vec<String> {
            let secret = values.iter().filter(|(name, value)| is_secret_value(name, value));
            secret.map(|(name, _)| format!("{field}.{name}")).collect()
        };
        let whole = |field: &str, value: &Option<Template>| {
            value.as_ref().filter(|value| is_masked(value)).map(|_| field.to_owned())
        };
        let mut found = Vec::new();
        found.extend(whole("command", &self.command));
        found.extend(has_secret_argument(&self.args).then(|| "args".to_owned()));
        found.extend(named("env", &self.env));
        found.extend(
            self.url.as_ref().filter(|url| url_holds_secret(&with_defaults(url))).map(|_| "url".to_owned()),
        );
        found.extend(named("headers", &self.headers));
        found.extend(whole("headersHelper", &self.headers_helper));
        found.extend(self.oauth.iter().flat_map(literal_oauth_secrets));
        found
    }
}

fn literal_oauth_secrets(oauth: &RawOauth) -> Vec<String> {
    let fields = [
        ("clientSecret", &oauth.client_secret),
        ("privateKey", &oauth.private_key),
        ("assertion", &oauth.assertion),
    ];
    let literal = fields.into_iter().filter(|(_, value)| value.as_ref().is_some_and(has_literal));
    literal.map(|(name, _)| format!("oauth.{name}")).collect()
}

/// Whether a header or variable holds a secret, judged by its name or by its value.
fn is_secret_value(name: &str, value: &Template) -> bool {
    is_credential(name, &literal_text(value)) || is_masked(value)
}

fn has_secret_argument(arguments: &[Template]) -> bool {
    let literal: Vec<String> = arguments.iter().map(with_defaults).collect();
    arguments_hold_secret(&literal)
}

fn is_masked(value: &Template) -> bool {
    holds_secret(&with_defaults(value))
}

fn has_literal(value: &Template) -> bool {
    !literal_text(value).trim().is_empty()
}

/// The text in the file itself: the literal parts and the defaults of variables, without the variables.
fn literal_text(value: &Template) -> String {
    let Ok(pieces) = value.pieces() else { return value.text.clone() };
    let literal = pieces.into_iter().map(|piece| match piece {
        TemplatePiece::Text(text) => text,
        TemplatePiece::Variable { default, .. } => default.unwrap_or_default(),
    });
    literal.collect()
}

/// The text with each variable replaced by its default.
fn with_defaults(value: &Template) -> String {
    let Ok(pieces) = value.pieces() else { return value.text.clone() };
    let text = pieces.into_iter().map(|piece| match piece {
        TemplatePiece::Text(text) => text.to_owned(),
        TemplatePiece::Variable { name, default: None } => format!("${{{name}}}"),
        TemplatePiece::Variable { default: Some(default), .. } => default.to_owned(),
    });
    text.collect()
}
