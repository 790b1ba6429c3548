//! Where the key of the vault is, and why not in a better place.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcparley_model::text::{Untrusted, rounded};
use mcparley_platform::file::{ReadError, UpdateError, WriteError};

use super::EntryId;

/// A place that can keep a data key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// The desktop's keychain, behind the session bus.
    SecretService,
    /// The keyring the Linux kernel keeps for a user: gone after a restart, or after three days without use.
    KernelKeyring,
    /// The keychain of macOS.
    Keychain,
    /// The file `key` beside the vault, for the owner alone.
    File,
    /// A value the program was started with.
    Environment,
}

/// Where the key for new entries is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keeper {
    pub(super) place: Place,
    pub(super) refused: Vec<Refusal>,
}

/// A place that was passed over.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The place.
    pub place: Place,
    /// Why it was passed over.
    pub why: Why,
}

/// Why a place does not keep or give a key.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Why {
    /// It was silent for as long as we were willing to wait.
    #[error("it did not answer within {:?}", rounded(*limit))]
    NoAnswer {
        /// How long we waited.
        limit: Duration,
    },
    /// Nobody told us where the session bus is.
    #[error("there is no session bus")]
    NoBus,
    /// Nobody answers for it on the session bus.
    #[error("it is not running")]
    NotRunning,
    /// It cannot be spoken to.
    #[error("it cannot be reached: {0}")]
    Unreachable(Arc<io::Error>),
    /// It breaks the rules of the protocol.
    #[error("its answer makes no sense")]
    Malformed,
    /// It would forget the key when the session ends.
    #[error("it has no place that outlives the session")]
    NotLasting,
    /// A person would have to unlock it first.
    #[error("it is locked")]
    Locked,
    /// It took the key and does not have it.
    #[error("it did not keep the key")]
    NotKept,
    /// What it has is not a key of 32 bytes.
    #[error("what it holds is not 32 bytes in base64")]
    NotAKey,
    /// The settings leave it out, or this system does not have it.
    #[error("it is not in use here")]
    NotInUse,
    /// What it said itself.
    #[error("it said: {}", .0.display())]
    Said(Untrusted),
    /// Its file cannot be read, or must not be.
    #[error(transparent)]
    Read(Arc<ReadError>),
    /// Its file cannot be written.
    #[error(transparent)]
    Write(Arc<WriteError>),
}

/// Something about the vault that a person should know.
#[derive(Clone, Debug)]
pub enum Notice {
    /// A new key was not kept in the best place.
    KeptIn {
        /// Where it is now.
        place: Place,
        /// The better places.
        refused: Vec<Refusal>,
    },
    /// The key of some entries is gone, and they with it.
    KeyGone {
        /// The name of the place that had it.
        keeper: String,
    },
    /// The key of some entries cannot be had now.
    KeyOutOfReach {
        /// The name of the place that has it.
        keeper: String,
        /// Why it cannot be had.
        why: Why,
    },
    /// One entry does not open.
    DamagedEntry {
        /// The entry.
        id: EntryId,
    },
    /// The whole file makes no sense, or its end is missing.
    DamagedFile {
        /// The file.
        path: PathBuf,
    },
    /// A damaged file was kept, and a new one begun.
    SetAside {
        /// Where the damaged file is.
        path: PathBuf,
    },
}

/// What a person has not been told yet.
#[derive(Debug, Default)]
pub(super) struct Notices(Mutex<Gathered>);

#[derive(Debug, Default)]
struct Gathered {
    waiting: Vec<Notice>,
    told: Vec<String>,
}

/// Shows the places that were passed over after a message.
pub(super) struct Passed<'a>(pub(super) &'a [Refusal]);

impl Place {
    /// The name of the place, as it stands in the vault and in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SecretService => "secret-service",
            Self::KernelKeyring => "kernel-keyring",
            Self::Keychain => "keychain",
            Self::File => "file",
            Self::Environment => "environment",
        }
    }
}

impl Keeper {
    /// The place.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The name of the place.
    pub fn as_str(&self) -> &'static str {
        self.place.as_str()
    }

    /// Which better places could not be used, and why.
    pub fn notice(&self) -> Option<String> {
        let notice = Notice::KeptIn { place: self.place, refused: self.refused.clone() };
        (!self.refused.is_empty()).then(|| notice.to_string())
    }
}

impl Refusal {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match &self.why {
            Why::Locked => Some(format!("unlock the {}", self.place)),
            Why::NotAKey if self.place == Place::Environment => {
                Some("make one: `head -c 32 /dev/urandom | base64`".to_owned())
            }
            Why::NoAnswer { .. }
            | Why::NoBus
            | Why::NotRunning
            | Why::Unreachable(_)
            | Why::Malformed
            | Why::NotLasting
            | Why::NotKept
            | Why::NotInUse
            | Why::NotAKey
            | Why::Said(_) => {
                Some("start the system's keychain, or let the key be kept in a file".to_owned())
            }
            Why::Read(error) => error.hint(),
            Why::Write(error) => error.hint(),
        }
    }
}

impl PartialEq for Refusal {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place && self.why.to_string() == other.why.to_string()
    }
}

impl Eq for Refusal {}

impl Notices {
    /// Keeps the notice unless the same was told before.
    pub(super) fn tell(&self, notice: Notice) {
        let text = notice.to_string();
        let mut gathered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !gathered.told.contains(&text) {
            gathered.told.push(text);
            gathered.waiting.push(notice);
        }
    }

    /// What was not taken before.
    pub(super) fn take(&self) -> Vec<Notice> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).waiting)
    }
}

impl From<ReadError> for Why {
    fn from(error: ReadError) -> Self {
        Self::Read(Arc::new(error))
    }
}

impl From<UpdateError<Self>> for Why {
    fn from(error: UpdateError<Self>) -> Self {
        match error {
            UpdateError::Read(error) => error.into(),
            UpdateError::Write(error) => Self::Write(Arc::new(error)),
            UpdateError::Refused(why) => why,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SecretService => "desktop's keychain (Secret Service)",
            Self::KernelKeyring => "kernel's keyring",
            Self::Keychain => "system's keychain",
            Self::File => "file `key` beside the vault",
            Self::Environment => "environment",
        })
    }
}

impl fmt::Display for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.fmt(f)
    }
}

impl fmt::Display for Passed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Refusal { place, why } in self.0 {
            write!(f, "; not in the {place}: {why}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeptIn { place, refused } => {
                write!(f, "the key of your credentials is kept in the {place}{}", Passed(refused))
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
            Self::SetAside { path } => write!(f, "the damaged vault was kept as `{}`", path.display()),
        }
    }
}
