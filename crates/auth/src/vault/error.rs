//! Vault errors.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mcparley_model::explain::Explain;
use mcparley_model::text::round_duration;
use mcparley_platform::file::{FileReadError, FileUpdateError, FileWriteError};

use super::EntryId;
use super::key_location::{RefusedPlace, RefusedPlaces};

/// The reason why a vault operation failed. It never contains a secret.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VaultError {
    /// Another process wrote or removed the entry since the caller read it.
    #[error("the entry `{id}` was changed by another process")]
    Changed {
        /// The entry.
        id: EntryId,
        /// Its generation now; `None` if it is gone, or its line is damaged.
        found: Option<u64>,
    },
    /// Others held the entry's lock for the whole wait.
    #[error("another process held the lock of these credentials for {:?}", round_duration(*after))]
    Busy {
        /// The time waited.
        after: Duration,
    },
    /// The entry cannot be decrypted with its key.
    #[error("the entry `{id}` of the vault is damaged")]
    Damaged {
        /// The entry.
        id: EntryId,
    },
    /// There is no place for the key.
    #[error("cannot store the key of the vault{}", RefusedPlaces(refused))]
    NoKeyPlace {
        /// The places that were tried, in order, with the reason of each.
        refused: Vec<RefusedPlace>,
    },
    /// The file was written by a later version of this program.
    #[error("`{}` has format {version}, which this version does not support", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        version: u64,
    },
    /// The value exceeds the size limit.
    #[error("the value is too large for the vault")]
    TooLarge,
    /// The system returned no random numbers.
    #[error("the system returned no random numbers")]
    NoRandomness,
    /// The program is ending, or the operation panicked.
    #[error("the vault operation was interrupted")]
    Stopped,
    /// The file or its folder cannot be read, or must not be.
    #[error(transparent)]
    Read(Arc<FileReadError>),
    /// The file cannot be written.
    #[error(transparent)]
    Write(Arc<FileWriteError>),
}

impl Explain for VaultError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Changed { .. } => Some("repeat the command if its change is still needed".to_owned()),
            Self::Busy { .. } => Some("try again when the other process is done".to_owned()),
            Self::Damaged { .. } => Some("sign in again".to_owned()),
            Self::NoKeyPlace { refused } => refused.iter().find_map(RefusedPlace::hint),
            Self::Newer { .. } => Some("update this program".to_owned()),
            Self::Read(error) => match error.as_ref() {
                FileReadError::TooLarge { path, .. } => {
                    Some(format!("move `{}` away and sign in again", path.display()))
                }
                error => error.hint(),
            },
            Self::Write(error) => error.hint(),
            Self::TooLarge | Self::NoRandomness | Self::Stopped => None,
        }
    }
}

impl From<FileReadError> for VaultError {
    fn from(error: FileReadError) -> Self {
        Self::Read(Arc::new(error))
    }
}

impl From<FileWriteError> for VaultError {
    fn from(error: FileWriteError) -> Self {
        Self::Write(Arc::new(error))
    }
}

impl From<FileUpdateError<Self>> for VaultError {
    fn from(error: FileUpdateError<Self>) -> Self {
        match error {
            FileUpdateError::Read(error) => error.into(),
            FileUpdateError::Write(error) => error.into(),
            FileUpdateError::Refused(error) => error,
        }
    }
}
