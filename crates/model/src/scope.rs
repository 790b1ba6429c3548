//! The scope and origin of a configured value: its file, its line and its column.
//!
//! Every message about configuration points at a [`ConfigOrigin`], so every configured value carries one.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// The scope of a server declaration, lowest precedence first.
///
/// The order of the variants *is* the precedence; [`Scope::Enterprise`] is not merely higher, it is
/// exclusive, which the plan decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The organization's catalog, fetched over HTTP.
    Connectors,
    /// A plugin folder.
    Plugin,
    /// The user's own files in the home directory.
    User,
    /// `.mcp.json`, shared by all users of the project.
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

    /// The word used in output and `--json`.
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

    /// Whether a user or administrator wrote the declaration by hand.
    ///
    /// Such a declaration beats an equal one of a plugin or a connector.
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

/// The source of a text: a file, or inline text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// A file on disk.
    File(Arc<Path>),
    /// Text from elsewhere, with a label for messages: `--mcp-config`, `the connector catalog`.
    Inline(Arc<str>),
}

impl Source {
    /// The source for a file on disk.
    #[must_use]
    pub fn from_path(path: impl Into<PathBuf>) -> Self {
        Self::File(Arc::from(path.into()))
    }

    /// The source for text that is not a file, with a label for messages.
    #[must_use]
    pub fn from_label(label: &str) -> Self {
        Self::Inline(Arc::from(label))
    }

    /// The path, if the source is a file.
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

/// A position in a text: line and column, both counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct TextPosition {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

/// The origin of a configured value: its source and its position.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConfigOrigin {
    /// The source it was read from.
    pub source: Source,
    /// The position in the source; absent for a whole file and for values that were never text.
    pub place: Option<TextPosition>,
}

impl ConfigOrigin {
    /// The origin of a whole source, without a position.
    #[must_use]
    pub fn for_source(source: Source) -> Self {
        Self { source, place: None }
    }
}

impl fmt::Display for ConfigOrigin {
    /// `path:line:column`, the form that editors and terminals make clickable.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)?;
        match self.place {
            Some(place) => write!(f, ":{}:{}", place.line, place.column),
            None => Ok(()),
        }
    }
}

impl Serialize for ConfigOrigin {
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

/// A value with its scope and origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredValue<T> {
    /// The value.
    pub value: T,
    /// The scope it was declared in.
    pub scope: Scope,
    /// The origin of the value.
    pub origin: ConfigOrigin,
}
