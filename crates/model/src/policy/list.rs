//! Reads the lists of a policy: one broken entry is left out and told, and never takes the rest along.

use std::fmt;

use super::entry::Entry;
use super::url_pattern::{UrlPattern, UrlPatternError};
use crate::document::{Kind, Member, Node};
use crate::glob::Glob;
use crate::scope::Origin;

/// An entry and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The entry.
    pub entry: Entry,
    /// Where it stands.
    pub origin: Origin,
}

/// A list that is present, though it may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The entries that could be read.
    pub entries: Vec<Listed>,
    /// Where the list stands.
    pub origin: Origin,
}

impl Rules {
    /// Reads a list. Something that is no list is a list without entries: as an allow-list it allows nothing.
    #[must_use]
    pub fn read(list: Node<'_>) -> (Self, Vec<PolicyWarning>) {
        let mut rules = Self { entries: Vec::new(), origin: list.origin() };
        let mut warnings = Vec::new();
        let Some(elements) = list.as_array() else {
            warnings
                .push(PolicyWarning { origin: list.origin(), fault: Fault::NoList { found: list.kind() } });
            return (rules, warnings);
        };
        for element in elements {
            let origin = element.origin();
            match read_entry(element) {
                Ok(entry) => rules.entries.push(Listed { entry, origin }),
                Err(fault) => warnings.push(PolicyWarning { origin, fault }),
            }
        }
        (rules, warnings)
    }
}

fn read_entry(element: Node<'_>) -> Result<Entry, Fault> {
    let members = element.as_object().ok_or(Fault::NoObject { found: element.kind() })?;
    let told: Vec<_> = members.filter_map(|member| Some((Key::parse(member.name)?, member))).collect();
    match told.as_slice() {
        [] => Err(Fault::NoKey),
        [(key, member)] => read_member(*key, member),
        [_, _, ..] => Err(Fault::SeveralKeys),
    }
}

fn read_member(key: Key, member: &Member<'_>) -> Result<Entry, Fault> {
    let wrong = |node: Node<'_>| Fault::WrongType { key, found: node.kind() };
    let text = |node: Node<'_>| node.as_str().map(str::to_owned).ok_or_else(|| wrong(node));
    match key {
        Key::Name => {
            let name = text(member.value)?;
            if name.is_empty() { Err(Fault::Empty { key }) } else { Ok(Entry::ServerName(name)) }
        }
        Key::Url => Ok(Entry::ServerUrl(UrlPattern::parse(&text(member.value)?)?)),
        Key::Command => {
            let elements = member.value.as_array().ok_or_else(|| wrong(member.value))?;
            let globs = elements.map(|node| text(node).map(|element| Glob::new(&element)));
            let pattern = globs.collect::<Result<Vec<_>, _>>()?;
            if pattern.is_empty() { Err(Fault::Empty { key }) } else { Ok(Entry::ServerCommand(pattern)) }
        }
    }
}

/// What an entry may be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// `serverName`
    Name,
    /// `serverUrl`
    Url,
    /// `serverCommand`
    Command,
}

impl Key {
    fn parse(name: &str) -> Option<Self> {
        [Self::Name, Self::Url, Self::Command].into_iter().find(|key| key.as_str() == name)
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Name => "serverName",
            Self::Url => "serverUrl",
            Self::Command => "serverCommand",
        }
    }

    fn wants(self) -> &'static str {
        match self {
            Self::Name | Self::Url => "a string",
            Self::Command => "an array of strings",
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An entry that was left out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{origin}: policy entry left out: {fault}")]
pub struct PolicyWarning {
    /// Where it stands.
    pub origin: Origin,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What is wrong with an entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The list is none.
    #[error("expected an array, found {found}")]
    NoList {
        /// What stands there.
        found: Kind,
    },
    /// The entry is no object.
    #[error("expected an object, found {found}")]
    NoObject {
        /// What stands there.
        found: Kind,
    },
    /// The entry is about nothing.
    #[error("it has neither `serverName` nor `serverUrl` nor `serverCommand`")]
    NoKey,
    /// The entry is about several things, or says one twice.
    #[error("it has more than one of `serverName`, `serverUrl` and `serverCommand`")]
    SeveralKeys,
    /// The value is of the wrong type.
    #[error("`{key}` must be {}, found {found}", key.wants())]
    WrongType {
        /// What the entry is about.
        key: Key,
        /// What stands there.
        found: Kind,
    },
    /// The value says nothing.
    #[error("`{key}` is empty")]
    Empty {
        /// What the entry is about.
        key: Key,
    },
    /// The pattern for addresses makes no sense.
    #[error("{0}")]
    Url(#[from] UrlPatternError),
}
