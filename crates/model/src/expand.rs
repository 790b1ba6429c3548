//! Expands `${VAR}` and `${VAR:-default}` in configured texts.
//!
//! Expansion is a single pass: a variable's value is never expanded again, so a value cannot smuggle in
//! another one. A variable that is set but empty stays empty. `$$`, `$VAR` and a lone `$` are ordinary
//! text.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::explain::Explain;
use crate::limits::EXPANDED_BYTES;
use crate::scope::ConfigOrigin;

/// A snapshot of environment variables. A clone with a few changes costs only the changes.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Env {
    given: Arc<BTreeMap<String, String>>,
    set: BTreeMap<String, String>,
}

impl Env {
    /// The value of `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.set.get(name).or_else(|| self.given.get(name)).map(String::as_str)
    }

    /// The positive number that `name` is set to; any other text is treated as unset.
    #[must_use]
    pub fn positive_number(&self, name: &str) -> Option<u64> {
        self.get(name).and_then(|text| text.trim().parse::<u64>().ok()).filter(|number| *number > 0)
    }

    /// All variables.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let given = self.given.iter().filter(|(name, _)| !self.set.contains_key(*name));
        given.chain(&self.set).map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Sets a variable, for plugins and settings that add one.
    pub fn set(&mut self, name: &str, value: &str) {
        self.set.insert(name.to_owned(), value.to_owned());
    }
}

impl FromIterator<(String, String)> for Env {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self { given: Arc::new(variables.into_iter().collect()), set: BTreeMap::new() }
    }
}

impl std::fmt::Debug for Env {
    /// Prints names only: environment variables often hold secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter().map(|(name, _)| name)).finish()
    }
}

/// A configured text before expansion, with its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// The text as it is written.
    pub text: String,
    /// The location of the text.
    pub origin: ConfigOrigin,
}

/// The purpose of an expanded text, which decides whether a variable may contain line breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpansionKind {
    /// A command, an argument, a URL or a header: one line, because a line break would add a second one.
    OneLine,
    /// A variable of the child's environment, where keys and certificates have several lines.
    ManyLines,
}

/// A piece of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplatePiece<'t> {
    /// Ordinary text.
    Text(&'t str),
    /// `${name}` or `${name:-default}`.
    Variable {
        /// The variable.
        name: &'t str,
        /// The value to use when the variable is unset.
        default: Option<&'t str>,
    },
}

impl Template {
    /// Replaces every variable in the template's text.
    ///
    /// # Errors
    /// An [`ExpandError`] that names the variable and the location, never a value.
    pub fn expand(&self, env: &Env, used: ExpansionKind) -> Result<String, ExpandError> {
        let mut expanded = String::with_capacity(self.text.len());
        for piece in self.pieces()? {
            match piece {
                TemplatePiece::Text(text) => expanded.push_str(text),
                TemplatePiece::Variable { name, default } => {
                    expanded.push_str(self.variable_value(name, default, env, used)?);
                }
            }
            if expanded.len() > EXPANDED_BYTES {
                return Err(ExpandError::TooLong { origin: self.origin.clone() });
            }
        }
        Ok(expanded)
    }

    /// The names of the referenced variables, in order, to show the dependencies of a server.
    #[must_use]
    pub fn variable_names(&self) -> Vec<&str> {
        self.pieces().unwrap_or_default().into_iter().filter_map(TemplatePiece::variable_name).collect()
    }

    /// Splits the text into literal pieces and variables.
    ///
    /// # Errors
    /// A `${` is not closed, has no valid name, or is nested.
    pub fn pieces(&self) -> Result<Vec<TemplatePiece<'_>>, ExpandError> {
        let mut pieces = Vec::new();
        let mut rest = self.text.as_str();
        while let Some((before, after)) = rest.split_once("${") {
            if !before.is_empty() {
                pieces.push(TemplatePiece::Text(before));
            }
            let Some((inside, tail)) = after.split_once('}') else {
                return Err(ExpandError::Unclosed { origin: self.origin.clone() });
            };
            pieces.push(self.parse_variable(inside)?);
            rest = tail;
        }
        if !rest.is_empty() {
            pieces.push(TemplatePiece::Text(rest));
        }
        Ok(pieces)
    }

    fn parse_variable<'t>(&self, inside: &'t str) -> Result<TemplatePiece<'t>, ExpandError> {
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        if default.is_some_and(|default| default.contains("${")) {
            return Err(ExpandError::Nested { name: name.to_owned(), origin: self.origin.clone() });
        }
        if !is_variable_name(name) {
            return Err(ExpandError::BadName { name: name.to_owned(), origin: self.origin.clone() });
        }
        Ok(TemplatePiece::Variable { name, default })
    }

    fn variable_value<'v>(
        &self,
        name: &str,
        default: Option<&'v str>,
        env: &'v Env,
        used: ExpansionKind,
    ) -> Result<&'v str, ExpandError> {
        let Some(value) = env.get(name).or(default) else {
            return Err(ExpandError::Unset { name: name.to_owned(), origin: self.origin.clone() });
        };
        let forbidden = |c: char| c == '\0' || (used == ExpansionKind::OneLine && matches!(c, '\n' | '\r'));
        if value.contains(forbidden) {
            return Err(ExpandError::Forbidden { name: name.to_owned(), origin: self.origin.clone() });
        }
        Ok(value)
    }
}

impl<'t> TemplatePiece<'t> {
    fn variable_name(self) -> Option<&'t str> {
        match self {
            TemplatePiece::Text(_) => None,
            TemplatePiece::Variable { name, .. } => Some(name),
        }
    }
}

fn is_variable_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The error for a text that cannot be expanded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExpandError {
    /// The variable is not set and has no default.
    #[error("environment variable `{name}` is not set")]
    Unset {
        /// The variable.
        name: String,
        /// The location of the reference.
        origin: ConfigOrigin,
    },
    /// `${` without `}`.
    #[error("`${{` is never closed")]
    Unclosed {
        /// The location of the text.
        origin: ConfigOrigin,
    },
    /// The text in `${…}` is not a variable name.
    ///
    /// The message does not quote that text: it may be a secret that happens to contain `${`.
    #[error("`${{…}}` names no variable")]
    BadName {
        /// The text between the braces.
        name: String,
        /// The location of the text.
        origin: ConfigOrigin,
    },
    /// A default that references another variable.
    #[error("the default of `${{{name}:-…}}` contains another `${{`")]
    Nested {
        /// The outer variable.
        name: String,
        /// The location of the text.
        origin: ConfigOrigin,
    },
    /// A value with a NUL, or with a line break where only one line is allowed.
    #[error("the value of `{name}` contains a line break or NUL")]
    Forbidden {
        /// The variable.
        name: String,
        /// The location of the reference.
        origin: ConfigOrigin,
    },
    /// The expanded text is longer than any command or header may be.
    #[error("the expanded text is longer than {EXPANDED_BYTES} bytes")]
    TooLong {
        /// The location of the text.
        origin: ConfigOrigin,
    },
}

impl ExpandError {
    /// Whether setting a variable would fix the error.
    #[must_use]
    pub fn is_unset(&self) -> bool {
        matches!(self, Self::Unset { .. })
    }

    /// The location of the text.
    #[must_use]
    pub fn origin(&self) -> &ConfigOrigin {
        match self {
            Self::Unset { origin, .. }
            | Self::Unclosed { origin }
            | Self::BadName { origin, .. }
            | Self::Nested { origin, .. }
            | Self::Forbidden { origin, .. }
            | Self::TooLong { origin } => origin,
        }
    }
}

impl Explain for ExpandError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Unset { name, .. } => {
                Some(format!("set `{name}`, or write a default: `${{{name}:-value}}`"))
            }
            Self::Unclosed { .. } => Some("close it with `}`".to_owned()),
            Self::BadName { .. } => {
                Some("variables are `${NAME}` or `${NAME:-default}`, with letters, digits and `_`".to_owned())
            }
            Self::Nested { .. } => Some("expansion is a single pass; write the inner value out".to_owned()),
            Self::Forbidden { name, .. } => {
                Some(format!("check the value of `{name}`, often it ends with a newline"))
            }
            Self::TooLong { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests;
