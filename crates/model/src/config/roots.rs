//! The field `roots` of an entry: which folders a server is told to work in, as roots of the protocol.

use serde_json::Value;

use super::error::ConfigError;
use super::typed::Checker;
use crate::expand::Template;

/// The roots that an entry grants its server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RootsPolicy {
    /// The folders that are offered to every server.
    #[default]
    Offered,
    /// None: the server is not even told that there could be roots.
    Withheld,
    /// Exactly these folders; relative ones start at the project's folder.
    Folders(Vec<String>),
}

/// `roots` as the file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RawRoots {
    /// `false`
    Withheld,
    /// A list of folders
    Folders(Vec<Template>),
}

impl RawRoots {
    /// The folders, each with its place.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        match self {
            Self::Withheld => [].iter(),
            Self::Folders(folders) => folders.iter(),
        }
    }

    pub(super) fn check(&self, check: &Checker<'_>) -> Result<RootsPolicy, ConfigError> {
        match self {
            Self::Withheld => Ok(RootsPolicy::Withheld),
            Self::Folders(folders) => {
                let folders = folders.iter().map(|folder| check.one_line("roots", folder));
                Ok(RootsPolicy::Folders(folders.collect::<Result<_, _>>()?))
            }
        }
    }

    /// The value as JSON, each folder as `show` writes it.
    pub(super) fn to_json(&self, show: impl Fn(&Template) -> String) -> Value {
        match self {
            Self::Withheld => Value::Bool(false),
            Self::Folders(folders) => folders.iter().map(show).collect(),
        }
    }
}
