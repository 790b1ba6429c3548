//! The field `share` of an entry: the clients that may use one process of a local server.

/// The clients that share one process of a local server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SharePolicy {
    /// Clients between which the server is known, or was observed, not to see a difference.
    #[default]
    Auto,
    /// All clients, of any folder, environment and capabilities.
    Always,
    /// Clients with the same project folder and environment.
    Project,
    /// One client session only.
    Never,
}

impl SharePolicy {
    /// All choices.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Always, Self::Project, Self::Never];

    /// The word used in configuration files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Project => "project",
            Self::Never => "never",
        }
    }
}
