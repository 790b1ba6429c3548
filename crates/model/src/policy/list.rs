//! Parses the lists of a policy: a broken entry is skipped with a warning, and the others still apply.

use std::fmt;

use super::entry::PolicyEntry;
use super::url_pattern::{UrlPattern, UrlPatternError};
use crate::document::{JsonKind, Member, Node};
use crate::glob::Glob;
use crate::scope::ConfigOrigin;

/// A policy entry with its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedPolicyEntry {
    /// The entry.
    pub entry: PolicyEntry,
    /// The location of the entry.
    pub origin: ConfigOrigin,
}

/// A policy list that is present, though it may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyList {
    /// The valid entries.
    pub entries: Vec<LocatedPolicyEntry>,
    /// The location of the list.
    pub origin: ConfigOrigin,
}

impl PolicyList {
    /// Parses a list. A value of another kind is a list without entries: as an allow-list it allows
    /// nothing.
    #[must_use]
    pub fn from_node(list: Node<'_>) -> (Self, Vec<PolicyWarning>) {
        let mut rules = Self { entries: Vec::new(), origin: list.origin() };
        let mut warnings = Vec::new();
        let Some(elements) = list.as_array() else {
            warnings.push(PolicyWarning {
                origin: list.origin(),
                fault: PolicyFault::NoList { found: list.kind() },
            });
            return (rules, warnings);
        };
        for element in elements {
            let origin = element.origin();
            match parse_entry(element) {
                Ok(entry) => rules.entries.push(LocatedPolicyEntry { entry, origin }),
                Err(fault) => warnings.push(PolicyWarning { origin, fault }),
            }
        }
        (rules, warnings)
    }
}

fn parse_entry(element: Node<'_>) -> Result<PolicyEntry, PolicyFault> {
    let members = element.as_object().ok_or(PolicyFault::NoObject { found: element.kind() })?;
    let told: Vec<_> = members.filter_map(|member| Some((PolicyKey::parse(member.name)?, member))).collect();
    match told.as_slice() {
        [] => Err(PolicyFault::NoKey),
        [(key, member)] => parse_member(*key, member),
        [_, _, ..] => Err(PolicyFault::SeveralKeys),
    }
}

fn parse_member(key: PolicyKey, member: &Member<'_>) -> Result<PolicyEntry, PolicyFault> {
    let wrong = |node: Node<'_>| PolicyFault::WrongType { key, found: node.kind() };
    let text = |node: Node<'_>| node.as_str().map(str::to_owned).ok_or_else(|| wrong(node));
    match key {
        PolicyKey::Name => {
            let name = text(member.value)?;
            if name.is_empty() { Err(PolicyFault::Empty { key }) } else { Ok(PolicyEntry::ServerName(name)) }
        }
        PolicyKey::Url => Ok(PolicyEntry::ServerUrl(UrlPattern::parse(&text(member.value)?)?)),
        PolicyKey::Command => {
            let elements = member.value.as_array().ok_or_else(|| wrong(member.value))?;
            let globs = elements.map(|node| text(node).map(|element| Glob::new(&element)));
            let pattern = globs.collect::<Result<Vec<_>, _>>()?;
            if pattern.is_empty() {
                Err(PolicyFault::Empty { key })
            } else {
                Ok(PolicyEntry::ServerCommand(pattern))
            }
        }
    }
}

/// The key of a policy entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyKey {
    /// `serverName`
    Name,
    /// `serverUrl`
    Url,
    /// `serverCommand`
    Command,
}

impl PolicyKey {
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

    fn expected_value(self) -> &'static str {
        match self {
            Self::Name | Self::Url => "a string",
            Self::Command => "an array of strings",
        }
    }
}

impl fmt::Display for PolicyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The warning about an entry that was skipped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{origin}: policy entry left out: {fault}")]
pub struct PolicyWarning {
    /// The location of the entry.
    pub origin: ConfigOrigin,
    /// The fault in the entry.
    pub fault: PolicyFault,
}

/// The fault in a policy entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyFault {
    /// The list is not an array.
    #[error("expected an array, found {found}")]
    NoList {
        /// The kind of value found.
        found: JsonKind,
    },
    /// The entry is not an object.
    #[error("expected an object, found {found}")]
    NoObject {
        /// The kind of value found.
        found: JsonKind,
    },
    /// The entry has none of the keys.
    #[error("it has neither `serverName` nor `serverUrl` nor `serverCommand`")]
    NoKey,
    /// The entry has several keys, or one key twice.
    #[error("it has more than one of `serverName`, `serverUrl` and `serverCommand`")]
    SeveralKeys,
    /// The value has the wrong type.
    #[error("`{key}` must be {}, found {found}", key.expected_value())]
    WrongType {
        /// The key of the entry.
        key: PolicyKey,
        /// The kind of value found.
        found: JsonKind,
    },
    /// The value is empty.
    #[error("`{key}` is empty")]
    Empty {
        /// The key of the entry.
        key: PolicyKey,
    },
    /// The URL pattern is invalid.
    #[error("{0}")]
    Url(#[from] UrlPatternError),
}
