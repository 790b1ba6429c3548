//! Why a skill, or a file of one, was not had.

use mcparley_model::limits::{SKILL_BYTES, SKILL_FILES};
use mcparley_model::name::ServerName;
use mcparley_model::text::display;

use crate::resource::ResourceError;

/// Why a skill, or a file of one, was not had.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// The server has no such skill.
    #[error("server `{}` has no skill `{}`", display(server.as_str()), display(uri))]
    Unknown {
        /// The server.
        server: ServerName,
        /// The address.
        uri: String,
    },
    /// It is larger than skills may be.
    #[error("the skill has {files} files of {bytes} bytes; at most {SKILL_FILES} of {SKILL_BYTES} are taken")]
    TooLarge {
        /// How many files it has.
        files: usize,
        /// How many bytes they have together.
        bytes: u64,
    },
    /// What was read is not what the server said it would be.
    #[error("`{}` is not what its entry says: {why}", display(uri))]
    Changed {
        /// The address.
        uri: String,
        /// What differs.
        why: &'static str,
    },
    /// The path leads out of the skill, or to a file that is none of its files.
    #[error("`{}` is no file of the skill", display(path))]
    Outside {
        /// The path.
        path: String,
    },
    /// Its `SKILL.md` is no text, or begins with something that cannot be read.
    #[error("its `SKILL.md` cannot be read: {reason}")]
    Unreadable {
        /// Why.
        reason: String,
    },
    /// The server gave nothing.
    #[error(transparent)]
    Resource(#[from] ResourceError),
}

impl SkillError {
    /// What to do about it, when there is something to do.
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
