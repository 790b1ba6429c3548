//! Where a configured value comes from: its scope, its file, its line.
//!
//! Every message about configuration points at an [`Origin`], so every configured value carries one.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// One of the sources of server declarations, lowest precedence first.
///
/// The order of the variants *is* the precedence of C1; [`Scope::Enterprise`] is not merely higher, it is
/// exclusive, which the plan decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The organisation's catalogue, fetched over HTTP.
    Connectors,
    /// A plugin folder.
    Plugin,
    /// The user's own files in the home directory.
    User,
    /// `.mcp.json`, shared with everyone who works on the project.
    Project,
    /// This user's private settings for this project.
    Local,
    /// `--mcp-config`, or servers set by the embedding program.
    Dynamic,
    /// `managed-mcp.json`, put there by the machine's administrator.
    Enterprise,
}

impl Scope {
    /// All scopes, lowest precedence first.
    pub const ALL: [Self; 7] = [
        Self::Connectors,
        Self::Plugin,
        Self::User,
        Self::Project,
        Self::Local,
        Self::Dynamic,
        Self::Enterprise,
    ];

    /// The word people and `--json` use for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connectors => "connectors",
            Self::Plugin => "plugin",
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
            Self::Dynamic => "dynamic",
            Self::Enterprise => "enterprise",
        }
    }

    /// Whether a person wrote the declaration down for themselves or their project.
    ///
    /// Such a declaration beats an equal one of a plugin or a connector (C8).
    #[must_use]
    pub fn is_manual(self) -> bool {
        match self {
            Self::User | Self::Project | Self::Local | Self::Dynamic | Self::Enterprise => true,
            Self::Connectors | Self::Plugin => false,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Scope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The text a value was read from: a file, or something that never was one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// A file on disk.
    File(Arc<Path>),
    /// Text from elsewhere, named for people: `--mcp-config`, `the connector catalogue`.
    Inline(Arc<str>),
}

impl Source {
    /// A file on disk.
    #[must_use]
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self::File(Arc::from(path.into()))
    }

    /// Text that is no file, by the name people know it under.
    #[must_use]
    pub fn inline(label: &str) -> Self {
        Self::Inline(Arc::from(label))
    }

    /// The path, where there is one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Inline(_) => None,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Inline(label) => f.write_str(label),
        }
    }
}

/// A place in a text, both counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

/// Where a value stands: source, place and the field's path inside the entry.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    /// The text it was read from.
    pub source: Source,
    /// The place in that text; absent for a whole file and for values that never were text.
    pub place: Option<Place>,
}

impl Origin {
    /// A whole file or text, where no single place is meant.
    #[must_use]
    pub fn whole(source: Source) -> Self {
        Self { source, place: None }
    }
}

impl fmt::Display for Origin {
    /// `path:line:column`, the form editors and terminals make clickable.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)?;
        match self.place {
            Some(place) => write!(f, ":{}:{}", place.line, place.column),
            None => Ok(()),
        }
    }
}

impl Serialize for Origin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(None)?;
        match &self.source {
            Source::File(path) => map.serialize_entry("file", &path.to_string_lossy())?,
            Source::Inline(label) => map.serialize_entry("source", label.as_ref())?,
        }
        if let Some(place) = self.place {
            map.serialize_entry("line", &place.line)?;
            map.serialize_entry("column", &place.column)?;
        }
        map.end()
    }
}

/// A value together with its scope and origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared<T> {
    /// The value.
    pub value: T,
    /// The scope it was declared in.
    pub scope: Scope,
    /// Where it stands.
    pub origin: Origin,
}
