//! Errors of skills.

use mcparley_model::limits::{SKILL_BYTES, SKILL_FILES};
use mcparley_model::name::ServerName;
use mcparley_model::text::display_line;

use crate::resource::ResourceError;

/// The reason why a skill, or a file of one, could not be read.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// The server has no such skill.
    #[error("server `{}` has no skill `{}`", display_line(server.as_str()), display_line(uri))]
    Unknown {
        /// The server.
        server: ServerName,
        /// The URI.
        uri: String,
    },
    /// The skill is larger than the limit.
    #[error("the skill has {files} files of {bytes} bytes; at most {SKILL_FILES} of {SKILL_BYTES} are taken")]
    TooLarge {
        /// The number of files.
        files: usize,
        /// The total size of the files in bytes.
        bytes: u64,
    },
    /// The content differs from the skill's entry.
    #[error("`{}` does not match its entry: {why}", display_line(uri))]
    Changed {
        /// The URI.
        uri: String,
        /// The difference.
        why: &'static str,
    },
    /// The path leads out of the skill, or is not one of its files.
    #[error("`{}` is not a file of the skill", display_line(path))]
    Outside {
        /// The path.
        path: String,
    },
    /// The `SKILL.md` is not text, or has invalid front matter.
    #[error("its `SKILL.md` cannot be read: {reason}")]
    Unreadable {
        /// The reason.
        reason: String,
    },
    /// The request to the server failed.
    #[error(transparent)]
    Resource(#[from] ResourceError),
}

impl SkillError {
    /// The next action for the user, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Resource(error) => error.hint(),
            Self::Unknown { .. }
            | Self::TooLarge { .. }
            | Self::Changed { .. }
            | Self::Outside { .. }
            | Self::Unreadable { .. } => None,
        }
    }
}
