//! Expands `${VAR}` and `${VAR:-default}` in configured strings (C6).
//!
//! One pass: what a variable holds is never expanded again, so a value cannot smuggle in another one. A
//! variable that is set but empty stays empty. `$$`, `$VAR` and a lone `$` are ordinary text.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::explain::Explain;
use crate::limits::EXPANDED_BYTES;
use crate::scope::Origin;

/// The variables a program was given, as a value. A copy with a few changes costs only the changes.
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

    /// Every variable.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let given = self.given.iter().filter(|(name, _)| !self.set.contains_key(*name));
        given.chain(&self.set).map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Sets a variable, for what plugins and settings add.
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
    /// Names only: an environment is where secrets live.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter().map(|(name, _)| name)).finish()
    }
}

/// A configured string before expansion, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// The text as it is written.
    pub text: String,
    /// Where it stands.
    pub origin: Origin,
}

/// What the expanded text will be used as, which decides what a variable may hold (B52).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// A command, an argument, a URL, a header: one line, or it becomes two of them.
    OneLine,
    /// A variable of the child's environment, where keys and certificates have many lines.
    ManyLines,
}

/// A piece of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'t> {
    /// Ordinary text.
    Text(&'t str),
    /// `${name}` or `${name:-default}`.
    Variable {
        /// The variable.
        name: &'t str,
        /// What to use when it is not set.
        default: Option<&'t str>,
    },
}

impl Template {
    /// The template's text with every variable replaced.
    ///
    /// # Errors
    /// An [`ExpandError`] that names the variable and the place, never a value.
    pub fn expand(&self, env: &Env, used: Use) -> Result<String, ExpandError> {
        let mut expanded = String::with_capacity(self.text.len());
        for piece in self.pieces()? {
            match piece {
                Piece::Text(text) => expanded.push_str(text),
                Piece::Variable { name, default } => {
                    expanded.push_str(self.value_of(name, default, env, used)?);
                }
            }
            if expanded.len() > EXPANDED_BYTES {
                return Err(ExpandError::TooLong { origin: self.origin.clone() });
            }
        }
        Ok(expanded)
    }

    /// The names of the variables it asks for, in order, for showing what a server depends on.
    #[must_use]
    pub fn variables(&self) -> Vec<&str> {
        self.pieces().unwrap_or_default().into_iter().filter_map(Piece::variable).collect()
    }

    /// The text cut into pieces.
    ///
    /// # Errors
    /// When a `${` is not closed, names nothing, or nests.
    pub fn pieces(&self) -> Result<Vec<Piece<'_>>, ExpandError> {
        let mut pieces = Vec::new();
        let mut rest = self.text.as_str();
        while let Some((before, after)) = rest.split_once("${") {
            if !before.is_empty() {
                pieces.push(Piece::Text(before));
            }
            let Some((inside, tail)) = after.split_once('}') else {
                return Err(ExpandError::Unclosed { origin: self.origin.clone() });
            };
            pieces.push(self.variable(inside)?);
            rest = tail;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest));
        }
        Ok(pieces)
    }

    fn variable<'t>(&self, inside: &'t str) -> Result<Piece<'t>, ExpandError> {
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
        Ok(Piece::Variable { name, default })
    }

    fn value_of<'v>(
        &self,
        name: &str,
        default: Option<&'v str>,
        env: &'v Env,
        used: Use,
    ) -> Result<&'v str, ExpandError> {
        let Some(value) = env.get(name).or(default) else {
            return Err(ExpandError::Unset { name: name.to_owned(), origin: self.origin.clone() });
        };
        let forbidden = |c: char| c == '\0' || (used == Use::OneLine && matches!(c, '\n' | '\r'));
        if value.contains(forbidden) {
            return Err(ExpandError::Forbidden { name: name.to_owned(), origin: self.origin.clone() });
        }
        Ok(value)
    }
}

impl<'t> Piece<'t> {
    fn variable(self) -> Option<&'t str> {
        match self {
            Piece::Text(_) => None,
            Piece::Variable { name, .. } => Some(name),
        }
    }
}

fn is_variable_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A string that cannot be expanded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpandError {
    /// The variable is not set and has no default.
    #[error("environment variable `{name}` is not set")]
    Unset {
        /// The variable.
        name: String,
        /// Where it is asked for.
        origin: Origin,
    },
    /// `${` without `}`.
    #[error("`${{` is never closed")]
    Unclosed {
        /// Where.
        origin: Origin,
    },
    /// `${…}` with something that is no variable's name.
    ///
    /// What stands there is not quoted: it may be a secret that happens to contain `${`.
    #[error("`${{…}}` names no variable")]
    BadName {
        /// What stands there.
        name: String,
        /// Where.
        origin: Origin,
    },
    /// A default that asks for another variable.
    #[error("the default of `${{{name}:-…}}` contains another `${{`")]
    Nested {
        /// The outer variable.
        name: String,
        /// Where.
        origin: Origin,
    },
    /// A value with a NUL, or with a line break where only one line is possible.
    #[error("the value of `{name}` contains a line break or NUL")]
    Forbidden {
        /// The variable.
        name: String,
        /// Where it is asked for.
        origin: Origin,
    },
    /// More text than any command or header takes.
    #[error("the expanded text is longer than {EXPANDED_BYTES} bytes")]
    TooLong {
        /// Where.
        origin: Origin,
    },
}

impl ExpandError {
    /// Whether setting a variable is all it takes.
    #[must_use]
    pub fn is_unset(&self) -> bool {
        matches!(self, Self::Unset { .. })
    }

    /// Where the string stands.
    #[must_use]
    pub fn origin(&self) -> &Origin {
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
                Some(format!("look at what `{name}` holds, often a final newline"))
            }
            Self::TooLong { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests;
