//! Finds the argument that a key or an option refers to.

use super::CommandOption;
use super::error::ToolArgumentError;
use super::kinds::ArgumentTypes;
use super::names::{PropertyMatch, find_property, similar_spellings, to_kebab_case};
use super::schema::{ANYTHING, ExtraArguments, ToolSchema};

/// The maximum number of names in a message.
const LISTED: usize = 20;

/// The path of an argument, and its schema.
pub(super) struct ArgumentTarget<'s> {
    /// The property names from the root; never empty.
    pub(super) path: Vec<String>,
    pub(super) schema: ToolSchema<'s>,
}

/// The reason why a key refers to no argument.
pub(super) enum UnknownArgument {
    /// No property has the name.
    Missing {
        /// The most similar names.
        similar: Vec<String>,
        /// The existing names.
        known: Vec<String>,
        /// Whether the schema has no rule for other properties, so that the tool might accept it.
        unsaid: bool,
    },
    /// Several properties have the same name in kebab case.
    Ambiguous(Vec<String>),
}

/// The listed property for a key; `a.b` is the property `b` of the object `a`.
pub(super) fn find_target<'s>(
    schema: ToolSchema<'s>,
    key: &str,
) -> Result<ArgumentTarget<'s>, UnknownArgument> {
    match find_property(schema, key) {
        PropertyMatch::One(name, schema) => {
            return Ok(ArgumentTarget { path: vec![name.to_owned()], schema });
        }
        PropertyMatch::Several(names) => {
            return Err(UnknownArgument::Ambiguous(names.into_iter().map(str::to_owned).collect()));
        }
        PropertyMatch::None => {}
    }
    match split_nested_key(schema, key) {
        Some((name, inner, rest)) => {
            let target = match find_target(inner, rest) {
                Err(unknown @ UnknownArgument::Missing { .. }) => {
                    open_property(inner, rest, false).ok_or(unknown)
                }
                found => found,
            };
            target.map(|target| target.prepend_name(name)).map_err(|unknown| unknown.prepend_name(name))
        }
        None => Err(UnknownArgument::for_missing_key(schema, key)),
    }
}

/// A property that the schema does not list but accepts.
///
/// A schema without a rule for other properties formally accepts all of them, but a typing mistake is far
/// more likely than an undocumented argument, so only `forced` keys are accepted there.
pub(super) fn open_property<'s>(
    schema: ToolSchema<'s>,
    key: &str,
    forced: bool,
) -> Option<ArgumentTarget<'s>> {
    let path = vec![key.to_owned()];
    match schema.other_properties() {
        ExtraArguments::Forbidden => None,
        ExtraArguments::Like(schema) => Some(ArgumentTarget { path, schema }),
        ExtraArguments::Unsaid if forced || schema.properties().is_empty() => {
            Some(ArgumentTarget { path, schema: ToolSchema::from_root(&ANYTHING) })
        }
        ExtraArguments::Unsaid => None,
    }
}

/// Splits a key into the object that its first part names, and the rest.
fn split_nested_key<'s, 'k>(
    schema: ToolSchema<'s>,
    key: &'k str,
) -> Option<(&'s str, ToolSchema<'s>, &'k str)> {
    key.match_indices('.').find_map(|(at, _)| {
        let (head, rest) = (key.get(..at)?, key.get(at + 1..)?);
        match find_property(schema, head) {
            PropertyMatch::One(name, inner)
                if !rest.is_empty() && inner.json_types().has(ArgumentTypes::OBJECT) =>
            {
                Some((name, inner, rest))
            }
            PropertyMatch::One(..) | PropertyMatch::Several(_) | PropertyMatch::None => None,
        }
    })
}

impl ArgumentTarget<'_> {
    fn prepend_name(mut self, name: &str) -> Self {
        self.path.insert(0, name.to_owned());
        self
    }
}

impl UnknownArgument {
    fn for_missing_key(schema: ToolSchema<'_>, key: &str) -> Self {
        let properties = schema.properties();
        let names = || properties.iter().map(|(name, _)| *name);
        Self::Missing {
            similar: similar_spellings(key, names()),
            known: names().take(LISTED).map(str::to_owned).collect(),
            unsaid: matches!(schema.other_properties(), ExtraArguments::Unsaid),
        }
    }

    fn prepend_name(self, outer: &str) -> Self {
        let below = |names: Vec<String>| names.into_iter().map(|name| format!("{outer}.{name}")).collect();
        match self {
            Self::Missing { similar, known, unsaid } => {
                Self::Missing { similar: below(similar), known: below(known), unsaid }
            }
            Self::Ambiguous(names) => Self::Ambiguous(below(names)),
        }
    }

    /// The error about `key=…`.
    pub(super) fn into_key_error(self, key: &str) -> ToolArgumentError {
        self.into_error(key, Some(key), |name| format!("`{name}`"))
    }

    /// The error about `--name`, which also suggests options of the command.
    pub(super) fn into_flag_error(mut self, shown: &str, own: &[CommandOption]) -> ToolArgumentError {
        if let Self::Missing { similar: near, .. } = &mut self
            && near.is_empty()
        {
            let names = own.iter().map(|own| own.name.as_str());
            near.extend(similar_spellings(shown.trim_start_matches('-'), names));
        }
        self.into_error(shown, None, |name| format!("`--{}`", to_kebab_case(name)))
    }

    fn into_error(
        self,
        word: &str,
        open_key: Option<&str>,
        shown: impl Fn(&str) -> String,
    ) -> ToolArgumentError {
        let word = word.to_owned();
        match self {
            Self::Ambiguous(names) => ToolArgumentError::Ambiguous { word, names },
            Self::Missing { similar, known, unsaid } => {
                let list = |names: Vec<String>| names.iter().map(|name| shown(name)).collect();
                let open_key = open_key.filter(|_| unsaid).map(str::to_owned);
                ToolArgumentError::Unknown { word, similar: list(similar), known: list(known), open_key }
            }
        }
    }
}
