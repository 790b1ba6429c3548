//! The place of the vault's key, and the reasons against better places.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcparley_model::text::{Untrusted, round_duration};
use mcparley_platform::file::{FileReadError, FileUpdateError, FileWriteError};

use super::EntryId;

/// A place that can store a data key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyPlace {
    /// The desktop's keychain, behind the session bus.
    SecretService,
    /// The persistent keyring of the Linux kernel: lost after a restart, or after three days without use.
    KernelKeyring,
    /// The file `key` next to the vault, readable only by the owner.
    File,
    /// A value the program was started with.
    Environment,
}

/// The place of the key for new entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyLocation {
    pub(super) place: KeyPlace,
    pub(super) refused: Vec<RefusedPlace>,
}

/// A place that could not be used.
#[derive(Clone, Debug)]
pub struct RefusedPlace {
    /// The place.
    pub place: KeyPlace,
    /// The reason.
    pub why: KeyPlaceError,
}

/// The reason why a place does not store or return a key.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyPlaceError {
    /// The place did not respond in time.
    #[error("it did not answer within {:?}", round_duration(*limit))]
    NoAnswer {
        /// The timeout.
        limit: Duration,
    },
    /// The address of the session bus is not known.
    #[error("there is no session bus")]
    NoBus,
    /// No program on the session bus provides it.
    #[error("it is not running")]
    NotRunning,
    /// The connection failed.
    #[error("it cannot be reached: {0}")]
    Unreachable(Arc<io::Error>),
    /// The place broke the protocol.
    #[error("it sent an invalid response")]
    Malformed,
    /// The place would lose the key at the end of the session.
    #[error("it does not keep keys beyond the session")]
    NotPersistent,
    /// The user would have to unlock it first.
    #[error("it is locked")]
    Locked,
    /// The place accepted the key and does not return it.
    #[error("it did not store the key")]
    NotStored,
    /// Its value is not a key of 32 bytes.
    #[error("its value is not 32 bytes in base64")]
    NotAKey,
    /// The settings exclude it, or this system does not have it.
    #[error("it is not available here")]
    NotInUse,
    /// Its own error message.
    #[error("it reported: {}", .0.display_line())]
    Reported(Untrusted),
    /// Its file cannot be read, or must not be.
    #[error(transparent)]
    Read(Arc<FileReadError>),
    /// Its file cannot be written.
    #[error(transparent)]
    Write(Arc<FileWriteError>),
}

/// A message about the vault for the user.
#[derive(Clone, Debug)]
pub enum VaultNotice {
    /// A new key was not stored in the best place.
    KeptIn {
        /// The place of the key.
        place: KeyPlace,
        /// The better places.
        refused: Vec<RefusedPlace>,
    },
    /// The key of some entries is gone, and they with it.
    KeyGone {
        /// The name of its place.
        keeper: String,
    },
    /// The key of some entries cannot be fetched now.
    KeyOutOfReach {
        /// The name of its place.
        keeper: String,
        /// The reason.
        why: KeyPlaceError,
    },
    /// One entry cannot be decrypted.
    DamagedEntry {
        /// The entry.
        id: EntryId,
    },
    /// The whole file cannot be parsed, or its end is missing.
    DamagedFile {
        /// The file.
        path: PathBuf,
    },
    /// A damaged file was renamed, and a new one started.
    SetAside {
        /// The damaged file.
        path: PathBuf,
    },
}

/// The notices for the user, each given once.
#[derive(Debug, Default)]
pub(super) struct VaultNotices(Mutex<NoticeQueue>);

#[derive(Debug, Default)]
struct NoticeQueue {
    waiting: Vec<VaultNotice>,
    seen_texts: Vec<String>,
}

/// Displays the places that could not be used, after a message.
pub(super) struct RefusedPlaces<'a>(pub(super) &'a [RefusedPlace]);

impl KeyPlace {
    /// The name of the place in the vault's file and in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SecretService => "secret-service",
            Self::KernelKeyring => "kernel-keyring",
            Self::File => "file",
            Self::Environment => "environment",
        }
    }
}

impl KeyLocation {
    /// The place.
    pub fn place(&self) -> KeyPlace {
        self.place
    }

    /// The name of the place.
    pub fn as_str(&self) -> &'static str {
        self.place.as_str()
    }

    /// The message about better places that could not be used, if there are any.
    pub fn notice(&self) -> Option<String> {
        let notice = VaultNotice::KeptIn { place: self.place, refused: self.refused.clone() };
        (!self.refused.is_empty()).then(|| notice.to_string())
    }
}

impl RefusedPlace {
    /// The hint for the user.
    pub fn hint(&self) -> Option<String> {
        match &self.why {
            KeyPlaceError::Locked => Some(format!("unlock the {}", self.place)),
            KeyPlaceError::NotAKey if self.place == KeyPlace::Environment => {
                Some("create one: `head -c 32 /dev/urandom | base64`".to_owned())
            }
            KeyPlaceError::NoAnswer { .. }
            | KeyPlaceError::NoBus
            | KeyPlaceError::NotRunning
            | KeyPlaceError::Unreachable(_)
            | KeyPlaceError::Malformed
            | KeyPlaceError::NotPersistent
            | KeyPlaceError::NotStored
            | KeyPlaceError::NotInUse
            | KeyPlaceError::NotAKey
            | KeyPlaceError::Reported(_) => {
                Some("start the system's keychain, or store the key in a file".to_owned())
            }
            KeyPlaceError::Read(error) => error.hint(),
            KeyPlaceError::Write(error) => error.hint(),
        }
    }
}

impl PartialEq for RefusedPlace {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place && self.why.to_string() == other.why.to_string()
    }
}

impl Eq for RefusedPlace {}

impl VaultNotices {
    /// Adds a notice unless the same text was given before.
    pub(super) fn add_notice(&self, notice: VaultNotice) {
        let text = notice.to_string();
        let mut gathered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !gathered.seen_texts.contains(&text) {
            gathered.seen_texts.push(text);
            gathered.waiting.push(notice);
        }
    }

    /// Takes the notices that were not taken before.
    pub(super) fn take_notices(&self) -> Vec<VaultNotice> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).waiting)
    }
}

impl From<FileReadError> for KeyPlaceError {
    fn from(error: FileReadError) -> Self {
        Self::Read(Arc::new(error))
    }
}

impl From<FileUpdateError<Self>> for KeyPlaceError {
    fn from(error: FileUpdateError<Self>) -> Self {
        match error {
            FileUpdateError::Read(error) => error.into(),
            FileUpdateError::Write(error) => Self::Write(Arc::new(error)),
            FileUpdateError::Refused(why) => why,
        }
    }
}

impl fmt::Display for KeyPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SecretService => "desktop's keychain (Secret Service)",
            Self::KernelKeyring => "kernel's keyring",
            Self::File => "file `key` beside the vault",
            Self::Environment => "environment",
        })
    }
}

impl fmt::Display for KeyLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.fmt(f)
    }
}

impl fmt::Display for RefusedPlaces<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for RefusedPlace { place, why } in self.0 {
            write!(f, "; not in the {place}: {why}")?;
        }
        Ok(())
    }
}

impl fmt::Display for VaultNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeptIn { place, refused } => {
                write!(f, "the key of your credentials is stored in the {place}{}", RefusedPlaces(refused))
            }
            Self::KeyGone { keeper } => {
                write!(f, "the key of some credentials is no longer in `{keeper}`: sign in again")
            }
            Self::KeyOutOfReach { keeper, why } => {
                write!(f, "the key of some credentials is in `{keeper}`, which cannot be used: {why}")
            }
            Self::DamagedEntry { id } => write!(f, "the entry `{id}` of the vault is damaged: sign in again"),
            Self::DamagedFile { path } => {
                write!(f, "`{}` is damaged: sign in again where needed", path.display())
            }
            Self::SetAside { path } => write!(f, "the damaged vault was saved as `{}`", path.display()),
        }
    }
}
