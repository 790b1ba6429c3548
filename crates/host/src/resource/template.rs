//! URI templates such as `file:///{path}`, and their expansion (RFC 6570).
//!
//! Supports all operators with string values, including prefixes. A template is parsed in one pass and
//! expanded in one pass, both with limits, since servers write templates.

mod expansion;

use mcparley_model::limits::{TEMPLATE_VARIABLES, URI_BYTES};
use mcparley_model::name::ServerName;
use serde::Serialize;

use super::ResourceAnnotations;
use expansion::Expression;

/// A resource template, ready for display.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// The server of the template.
    pub server: ServerName,
    /// The URI template.
    pub uri_template: String,
    /// The name; the template when the server gave none.
    pub name: String,
    /// A display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The MIME type of all its resources.
    #[serde(rename = "mimeType", skip_serializing_if = "Option::is_none")]
    pub mime: Option<String>,
    /// The intended audience and the importance.
    #[serde(skip_serializing_if = "ResourceAnnotations::is_empty")]
    pub annotations: ResourceAnnotations,
    /// The server's exact template.
    #[serde(skip)]
    pub(super) raw: String,
}

/// The reason why a template cannot be expanded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// The template has a syntax error.
    #[error("the template cannot be read: {reason} at byte {at}")]
    Syntax {
        /// The position of the error.
        at: usize,
        /// The reason.
        reason: &'static str,
    },
    /// The template has no such variable.
    #[error("the template has no variable `{name}`")]
    Unknown {
        /// The name of the variable.
        name: String,
    },
    /// The expanded URI is longer than the limit.
    #[error("the address would be longer than {limit} bytes")]
    TooLong {
        /// The limit.
        limit: usize,
    },
}

impl ResourceTemplate {
    /// The names of its variables, in order, each once; none for a template with a syntax error.
    #[must_use]
    pub fn variables(&self) -> Vec<String> {
        variable_names(&self.raw)
    }

    /// Expands any URI template with these values.
    ///
    /// # Errors
    /// A [`TemplateError`].
    pub fn expand_template(template: &str, values: &[(&str, &str)]) -> Result<String, TemplateError> {
        expand_uri(template, values)
    }

    /// Expands the template with these values. A variable without a value is left out, as RFC 6570 says.
    ///
    /// # Errors
    /// A [`TemplateError`].
    pub fn expand(&self, values: &[(&str, &str)]) -> Result<String, TemplateError> {
        expand_uri(&self.raw, values)
    }
}

fn variable_names(template: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for part in parse_parts(template).unwrap_or_default() {
        let TemplatePart::Expression(expression) = part else { continue };
        for name in expression.variable_names() {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    names
}

pub(super) fn expand_uri(template: &str, values: &[(&str, &str)]) -> Result<String, TemplateError> {
    let known = variable_names(template);
    if let Some((name, _)) = values.iter().find(|(name, _)| !known.iter().any(|known| known == name)) {
        // A syntax error of the template is reported first.
        parse_parts(template)?;
        return Err(TemplateError::Unknown { name: (*name).to_owned() });
    }
    let mut uri = String::new();
    for part in parse_parts(template)? {
        match part {
            TemplatePart::Literal(text) => expansion::append_literal(text, &mut uri),
            TemplatePart::Expression(expression) => expression.append_expansion(values, &mut uri),
        }
        if uri.len() > URI_BYTES {
            return Err(TemplateError::TooLong { limit: URI_BYTES });
        }
    }
    Ok(uri)
}

/// A part of a template.
enum TemplatePart<'t> {
    Literal(&'t str),
    Expression(Expression<'t>),
}

fn parse_parts(template: &str) -> Result<Vec<TemplatePart<'_>>, TemplateError> {
    let mut parts = Vec::new();
    let (mut rest, mut at, mut variables) = (template, 0, 0);
    while !rest.is_empty() {
        let Some(open) = rest.find(['{', '}']) else {
            parts.push(TemplatePart::Literal(rest));
            break;
        };
        let (literal, from) = rest.split_at(open);
        if !literal.is_empty() {
            parts.push(TemplatePart::Literal(literal));
        }
        at += open;
        let inside = from.strip_prefix('{').ok_or(TemplateError::Syntax { at, reason: "`}` without `{`" })?;
        let (inside, behind) =
            inside.split_once('}').ok_or(TemplateError::Syntax { at, reason: "`{` without `}`" })?;
        let expression = Expression::parse(inside).map_err(|reason| TemplateError::Syntax { at, reason })?;
        variables += expression.variable_names().count();
        if variables > TEMPLATE_VARIABLES {
            return Err(TemplateError::Syntax { at, reason: "too many variables" });
        }
        parts.push(TemplatePart::Expression(expression));
        at += inside.len() + 2;
        rest = behind;
    }
    Ok(parts)
}
