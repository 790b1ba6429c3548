//! Decides which argument a key or an option means.

use super::Own;
use super::kinds::Kinds;
use super::names::{Found, find, kebab, similar};
use super::schema::{ANYTHING, Others, Schema};
use crate::error::CommandError;

/// How many names a message lists.
const LISTED: usize = 20;

/// Where a value goes, and what it should be.
pub(super) struct Target<'s> {
    /// Names of properties, from the outside in; never empty.
    pub(super) path: Vec<String>,
    pub(super) schema: Schema<'s>,
}

/// Why a key means nothing.
pub(super) enum Unknown {
    /// There is no such property.
    Missing {
        /// What comes nearest.
        similar: Vec<String>,
        /// What there is.
        known: Vec<String>,
        /// Whether the tool might take it all the same.
        unsaid: bool,
    },
    /// Several properties are written alike.
    Ambiguous(Vec<String>),
}

/// The named property that is meant; `a.b` is `b` inside of `a`, where `a` is an object.
pub(super) fn known<'s>(schema: Schema<'s>, key: &str) -> Result<Target<'s>, Unknown> {
    match find(schema, key) {
        Found::One(name, schema) => return Ok(Target { path: vec![name.to_owned()], schema }),
        Found::Several(names) => {
            return Err(Unknown::Ambiguous(names.into_iter().map(str::to_owned).collect()));
        }
        Found::None => {}
    }
    match inside(schema, key) {
        Some((name, inner, rest)) => {
            let target = match known(inner, rest) {
                Err(unknown @ Unknown::Missing { .. }) => open(inner, rest, false).ok_or(unknown),
                found => found,
            };
            target.map(|target| target.below(name)).map_err(|unknown| unknown.below(name))
        }
        None => Err(Unknown::missing(schema, key)),
    }
}

/// The property that is not named but may be there.
///
/// A schema that names some and is silent about others takes anything by the letter, but a typing mistake is
/// far more likely than a secret argument: there only `forced` keys pass.
pub(super) fn open<'s>(schema: Schema<'s>, key: &str, forced: bool) -> Option<Target<'s>> {
    let path = vec![key.to_owned()];
    match schema.others() {
        Others::Forbidden => None,
        Others::Like(schema) => Some(Target { path, schema }),
        Others::Unsaid if forced || schema.properties().is_empty() => {
            Some(Target { path, schema: Schema::of(&ANYTHING) })
        }
        Others::Unsaid => None,
    }
}

/// The object that the key's beginning names, and the rest of the key.
fn inside<'s, 'k>(schema: Schema<'s>, key: &'k str) -> Option<(&'s str, Schema<'s>, &'k str)> {
    key.match_indices('.').find_map(|(at, _)| {
        let (head, rest) = (key.get(..at)?, key.get(at + 1..)?);
        match find(schema, head) {
            Found::One(name, inner) if !rest.is_empty() && inner.kinds().has(Kinds::OBJECT) => {
                Some((name, inner, rest))
            }
            Found::One(..) | Found::Several(_) | Found::None => None,
        }
    })
}

impl Target<'_> {
    fn below(mut self, name: &str) -> Self {
        self.path.insert(0, name.to_owned());
        self
    }
}

impl Unknown {
    fn missing(schema: Schema<'_>, key: &str) -> Self {
        let properties = schema.properties();
        let names = || properties.iter().map(|(name, _)| *name);
        Self::Missing {
            similar: similar(key, names()).into_iter().map(str::to_owned).collect(),
            known: names().take(LISTED).map(str::to_owned).collect(),
            unsaid: matches!(schema.others(), Others::Unsaid),
        }
    }

    fn below(self, outer: &str) -> Self {
        let below = |names: Vec<String>| names.into_iter().map(|name| format!("{outer}.{name}")).collect();
        match self {
            Self::Missing { similar, known, unsaid } => {
                Self::Missing { similar: below(similar), known: below(known), unsaid }
            }
            Self::Ambiguous(names) => Self::Ambiguous(below(names)),
        }
    }

    /// As an error about `key=…`.
    pub(super) fn of_key(self, key: &str) -> CommandError {
        self.error(key, |name| format!("`{name}`"), |hint| format!("{hint} (`{key}:=JSON` is sent as it is)"))
    }

    /// As an error about `--name`.
    pub(super) fn of_flag(mut self, shown: &str, own: &[Own]) -> CommandError {
        if let Self::Missing { similar: near, .. } = &mut self
            && near.is_empty()
        {
            let names = own.iter().map(|own| own.name.as_str());
            near.extend(similar(shown.trim_start_matches('-'), names).into_iter().map(str::to_owned));
        }
        self.error(shown, |name| format!("`--{}`", kebab(name)), |hint| hint)
    }

    fn error(
        self,
        word: &str,
        shown: impl Fn(&str) -> String,
        unsaid_hint: impl Fn(String) -> String,
    ) -> CommandError {
        match self {
            Self::Ambiguous(names) => CommandError::usage(
                format!("`{word}` could mean several arguments"),
                format!("write the name as the tool does: `{}`", names.join("`, `")),
            ),
            Self::Missing { similar, known, unsaid } => {
                let list = |names: &[String]| names.iter().map(|name| shown(name)).collect::<Vec<_>>();
                let hint = match (similar.as_slice(), known.as_slice()) {
                    ([], []) => "it takes none".to_owned(),
                    ([], known) => format!("it takes {}", list(known).join(", ")),
                    (similar, _) => format!("did you mean {}?", list(similar).join(" or ")),
                };
                let hint = if unsaid { unsaid_hint(hint) } else { hint };
                CommandError::usage(format!("`{word}` is no argument of this tool"), hint)
            }
        }
    }
}
