//! The identity that a verified token stands for: its account, its name for people, its scopes and claims.

use std::sync::Arc;

use aws_lc_rs::digest::{Context, SHA256};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcparley_model::limits::{CLIENT_NAME_CHARS, TOKEN_GRANTS};
use mcparley_model::secret::Secret;
use mcparley_model::text::{clean_text, truncate_text};
use mcparley_pool::principal::{ClientIdentity, SubjectToken};
use serde_json::{Map, Value};

use crate::claims::{CheckedClaims, text_values};

/// The number of bytes of the account's hash.
const HASH_BYTES: usize = 16;
/// The number of characters of the account that are part of the name for people.
const SHORT_HASH: usize = 6;
/// The claim that names the user.
const SUBJECT: &str = "sub";
/// The claims that hold a name, in the order of preference.
const NAMES: [&str; 5] = ["preferred_username", "name", "nickname", "sub", "client_id"];

/// The identity of a token.
pub(crate) fn client_identity(
    issuer: &Arc<str>,
    (claims, checked): (&Map<String, Value>, &CheckedClaims),
    token: &str,
) -> ClientIdentity {
    let hash = account_hash(issuer, &checked.subject);
    let identity = ClientIdentity::new(&format!("jwt:{hash}"));
    let identity = match display_name(claims) {
        Some(name) => {
            // A user may choose any name, so the name alone says nothing.
            let short: String = hash.chars().take(SHORT_HASH).collect();
            identity.with_display_name(&format!("{name} (jwt:{short})"))
        }
        None => identity,
    };
    let scopes = ["scope", "scp"].iter().flat_map(|name| scope_list(claims.get(*name)));
    let values = |(name, value): (&String, &Value)| {
        let name: Box<str> = name.as_str().into();
        text_values(Some(value)).map(move |value| (name.clone(), value.into_boxed_str())).collect::<Vec<_>>()
    };
    // First, so that no number of other claims displaces it.
    let subject = claims.get_key_value(SUBJECT).into_iter().flat_map(values);
    let others = claims.iter().filter(|(name, _)| *name != SUBJECT).flat_map(values);
    identity
        .with_grants(scopes.take(TOKEN_GRANTS), subject.chain(others).take(TOKEN_GRANTS))
        .with_subject_token(SubjectToken::new(Secret::new(token.to_owned()), issuer, checked.expires))
}

/// The hash of an account. The length of the issuer keeps two pairs with the same text apart.
pub(crate) fn account_hash(issuer: &str, subject: &str) -> String {
    let mut hash = Context::new(&SHA256);
    hash.update(&issuer.len().to_be_bytes());
    hash.update(issuer.as_bytes());
    hash.update(subject.as_bytes());
    let digest = hash.finish();
    URL_SAFE_NO_PAD.encode(digest.as_ref().get(..HASH_BYTES).unwrap_or_default())
}

/// A name for people. An e-mail address is none: lists and logs are read by others.
fn display_name(claims: &Map<String, Value>) -> Option<String> {
    let is_usable = |name: &&&str| {
        let text = claims.get(**name).and_then(Value::as_str).unwrap_or_default();
        !text.trim().is_empty() && !text.contains('@') && text.chars().count() <= CLIENT_NAME_CHARS
    };
    let name = NAMES.iter().find(is_usable)?;
    let name = clean_text(claims.get(*name)?.as_str()?);
    let name = name.replace(['\n', '\t', '`'], " ");
    Some(truncate_text(name.trim(), CLIENT_NAME_CHARS).into_owned()).filter(|name| !name.is_empty())
}

/// The scopes of a claim: words of a text, or a list.
fn scope_list(value: Option<&Value>) -> Vec<Box<str>> {
    text_values(value).flat_map(|text| text.split(' ').map(Box::from).collect::<Vec<Box<str>>>()).collect()
}

#[cfg(test)]
mod tests;
