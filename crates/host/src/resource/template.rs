//! Templates of addresses: `file:///{path}` and what becomes of it (RFC 6570).
//!
//! All operators with values that are texts, prefixes included. A template is read in one pass and filled in in one pass,
//! and both have limits, since servers write templates (H25).

mod expansion;

use mcparley_model::limits::{TEMPLATE_VARIABLES, URI_BYTES};
use mcparley_model::name::ServerName;
use serde::Serialize;

use super::Annotations;
use expansion::Expression;

/// A template of resources, ready to be shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// The server that has it.
    pub server: ServerName,
    /// The template.
    pub uri_template: String,
    /// Its name; the template when the server gave none.
    pub name: String,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The type of all its resources.
    #[serde(rename = "mimeType", skip_serializing_if = "Option::is_none")]
    pub mime: Option<String>,
    /// For whom they are, and how much they matter.
    #[serde(skip_serializing_if = "Annotations::is_empty")]
    pub annotations: Annotations,
    /// The template as the server has it.
    #[serde(skip)]
    pub(super) raw: String,
}

/// Why a template gives no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// It is no template.
    #[error("the template cannot be read: {reason} at byte {at}")]
    Syntax {
        /// Where it stops being one.
        at: usize,
        /// Why.
        reason: &'static str,
    },
    /// It has no such variable.
    #[error("the template has no variable `{name}`")]
    Unknown {
        /// The name.
        name: String,
    },
    /// What comes of it is longer than any address that means something.
    #[error("the address would be longer than {limit} bytes")]
    TooLong {
        /// The limit.
        limit: usize,
    },
}

impl ResourceTemplate {
    /// The names of its variables, in their order, each once; none for a template that cannot be read.
    #[must_use]
    pub fn variables(&self) -> Vec<String> {
        variables(&self.raw)
    }

    /// The address that a template gives with these values, whoever has it.
    ///
    /// # Errors
    /// A [`TemplateError`].
    pub fn expanded(template: &str, values: &[(&str, &str)]) -> Result<String, TemplateError> {
        expand(template, values)
    }

    /// The address that it gives with these values. A variable without one is left out, as the standard has it.
    ///
    /// # Errors
    /// A [`TemplateError`].
    pub fn expand(&self, values: &[(&str, &str)]) -> Result<String, TemplateError> {
        expand(&self.raw, values)
    }
}

fn variables(template: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for part in parts(template).unwrap_or_default() {
        let Part::Expression(expression) = part else { continue };
        for name in expression.names() {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    names
}

pub(super) fn expand(template: &str, values: &[(&str, &str)]) -> Result<String, TemplateError> {
    let known = variables(template);
    if let Some((name, _)) = values.iter().find(|(name, _)| !known.iter().any(|known| known == name)) {
        // What is wrong with the template itself is told first.
        parts(template)?;
        return Err(TemplateError::Unknown { name: (*name).to_owned() });
    }
    let mut uri = String::new();
    for part in parts(template)? {
        match part {
            Part::Literal(text) => expansion::literal(text, &mut uri),
            Part::Expression(expression) => expression.expand(values, &mut uri),
        }
        if uri.len() > URI_BYTES {
            return Err(TemplateError::TooLong { limit: URI_BYTES });
        }
    }
    Ok(uri)
}

/// A piece of a template.
enum Part<'t> {
    Literal(&'t str),
    Expression(Expression<'t>),
}

fn parts(template: &str) -> Result<Vec<Part<'_>>, TemplateError> {
    let mut parts = Vec::new();
    let (mut rest, mut at, mut variables) = (template, 0, 0);
    while !rest.is_empty() {
        let Some(open) = rest.find(['{', '}']) else {
            parts.push(Part::Literal(rest));
            break;
        };
        let (literal, from) = rest.split_at(open);
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        at += open;
        let inside = from.strip_prefix('{').ok_or(TemplateError::Syntax { at, reason: "`}` without `{`" })?;
        let (inside, behind) =
            inside.split_once('}').ok_or(TemplateError::Syntax { at, reason: "`{` without `}`" })?;
        let expression = Expression::read(inside).map_err(|reason| TemplateError::Syntax { at, reason })?;
        variables += expression.names().count();
        if variables > TEMPLATE_VARIABLES {
            return Err(TemplateError::Syntax { at, reason: "too many variables" });
        }
        parts.push(Part::Expression(expression));
        at += inside.len() + 2;
        rest = behind;
    }
    Ok(parts)
}
