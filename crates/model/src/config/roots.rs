//! The field `roots` of an entry: the folders that the server is offered as MCP roots.

use serde_json::Value;

use super::error::ConfigError;
use super::typed::EntryChecker;
use crate::expand::Template;

/// The roots that an entry grants its server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RootsPolicy {
    /// The folders that are offered to every server.
    #[default]
    Offered,
    /// No roots: the client does not even announce the capability.
    Withheld,
    /// Exactly these folders; relative ones start at the project's folder.
    Folders(Vec<String>),
}

/// The field `roots` as it is written in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RawRoots {
    /// `false`
    Withheld,
    /// A list of folders
    Folders(Vec<Template>),
}

impl RawRoots {
    /// The folders with their locations.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        match self {
            Self::Withheld => [].iter(),
            Self::Folders(folders) => folders.iter(),
        }
    }

    pub(super) fn to_policy(&self, check: &EntryChecker<'_>) -> Result<RootsPolicy, ConfigError> {
        match self {
            Self::Withheld => Ok(RootsPolicy::Withheld),
            Self::Folders(folders) => {
                let folders = folders.iter().map(|folder| check.expand_one_line("roots", folder));
                Ok(RootsPolicy::Folders(folders.collect::<Result<_, _>>()?))
            }
        }
    }

    /// The value as JSON, with each folder formatted by `show`.
    pub(super) fn to_json(&self, show: impl Fn(&Template) -> String) -> Value {
        match self {
            Self::Withheld => Value::Bool(false),
            Self::Folders(folders) => folders.iter().map(show).collect(),
        }
    }
}
