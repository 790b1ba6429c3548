//! Why the vault could not do what was asked.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mcparley_model::explain::Explain;
use mcparley_model::text::rounded;
use mcparley_platform::file::{ReadError, UpdateError, WriteError};

use super::EntryId;
use super::keeper::{Passed, Refusal};

/// Why the vault could not do what was asked. No secret is ever part of it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum VaultError {
    /// Somebody else wrote or removed the entry since the caller looked.
    #[error("the entry `{id}` was changed by another process")]
    Changed {
        /// The entry.
        id: EntryId,
        /// Its generation now; `None` if it is gone, or its line is damaged.
        found: Option<u64>,
    },
    /// Others held the entry's lock for as long as the caller was willing to wait.
    #[error("another process is busy with the same credentials, and was so for {:?}", rounded(*after))]
    Busy {
        /// How long was waited.
        after: Duration,
    },
    /// The entry is there and does not open with its key.
    #[error("the entry `{id}` of the vault is damaged")]
    Damaged {
        /// The entry.
        id: EntryId,
    },
    /// There is no place to keep the key.
    #[error("no place to keep the key of the vault{}", Passed(refused))]
    NoKeeper {
        /// The places that were tried, in order, and why each was passed over.
        refused: Vec<Refusal>,
    },
    /// The file was written by a later version of this program.
    #[error("`{}` has format {version}, which this version does not know", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        version: u64,
    },
    /// The value does not fit.
    #[error("the value is too large for the vault")]
    TooLarge,
    /// The system gave no random bytes.
    #[error("the system has no random numbers")]
    NoRandomness,
    /// The program is ending, or the work panicked.
    #[error("the vault was stopped before it was done")]
    Stopped,
    /// The file or its folder cannot be read, or must not be.
    #[error(transparent)]
    Read(Arc<ReadError>),
    /// The file cannot be written.
    #[error(transparent)]
    Write(Arc<WriteError>),
}

impl Explain for VaultError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Changed { .. } => {
                Some("look again, and repeat what you did if it is still needed".to_owned())
            }
            Self::Busy { .. } => Some("try again when the other process is done".to_owned()),
            Self::Damaged { .. } => Some("sign in again".to_owned()),
            Self::NoKeeper { refused } => refused.iter().find_map(Refusal::hint),
            Self::Newer { .. } => Some("update this program".to_owned()),
            Self::Read(error) => match error.as_ref() {
                ReadError::TooLarge { path, .. } => {
                    Some(format!("move `{}` away and sign in again", path.display()))
                }
                error => error.hint(),
            },
            Self::Write(error) => error.hint(),
            Self::TooLarge | Self::NoRandomness | Self::Stopped => None,
        }
    }
}

impl From<ReadError> for VaultError {
    fn from(error: ReadError) -> Self {
        Self::Read(Arc::new(error))
    }
}

impl From<WriteError> for VaultError {
    fn from(error: WriteError) -> Self {
        Self::Write(Arc::new(error))
    }
}

impl From<UpdateError<Self>> for VaultError {
    fn from(error: UpdateError<Self>) -> Self {
        match error {
            UpdateError::Read(error) => error.into(),
            UpdateError::Write(error) => error.into(),
            UpdateError::Refused(error) => error,
        }
    }
}
