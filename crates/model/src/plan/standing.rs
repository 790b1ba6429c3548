//! The fates a declared server can have, each with its reason.

use std::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::approval::Pending;
use crate::config::ConfigError;
use crate::explain::Explain;
use crate::limits::ANCESTRY_LEVELS;
use crate::name::ServerName;
use crate::policy::Violation;
use crate::scope::{Origin, Source};
use crate::text::shell_word;

/// What becomes of a declared server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerStanding {
    /// It may be connected to.
    Ready,
    /// A person must look at it first.
    NeedsApproval(Pending),
    /// A person said no to it.
    Rejected {
        /// Where.
        by: Origin,
    },
    /// A rule forbids it.
    Blocked(Block),
    /// A person switched it off.
    Disabled {
        /// Where.
        by: Origin,
    },
    /// Another declaration of the same name wins.
    Shadowed {
        /// The winner.
        by: Origin,
    },
    /// Another declaration is the same server under another name.
    Duplicate {
        /// The other's name.
        of: ServerName,
        /// Where the other stands.
        origin: Origin,
    },
    /// It cannot be used as it is written.
    Invalid(ConfigError),
    /// Starting it would start this program inside itself.
    Skipped(SkipReason),
}

/// Why a server is not started although nothing forbids it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// Its command is mcparley.
    StartsItself,
    /// This process was started by that very entry.
    StartedThis,
    /// Too many servers that started one another stand above this process.
    TooDeep,
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StartsItself => f.write_str("would start mcparley itself"),
            Self::StartedThis => f.write_str("would start mcparley itself: this process was started by it"),
            Self::TooDeep => write!(
                f,
                "would start mcparley itself: {ANCESTRY_LEVELS} servers that started one another stand above this process"
            ),
        }
    }
}

/// The rule that forbids a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// `managed-mcp.json` exists, and this is not from it.
    ManagedOnly {
        /// The file.
        file: Source,
    },
    /// A managed file cannot be read, so nothing runs.
    ManagedBroken {
        /// The file.
        file: Source,
        /// What is wrong with it.
        reason: String,
    },
    /// Only servers of the command line were asked for.
    Strict,
    /// The policy.
    Policy(Violation),
    /// The policy denies the same server under another name.
    Alias {
        /// The denied declaration.
        of: ServerName,
        /// The rule that denies it.
        violation: Violation,
    },
}

impl ServerStanding {
    /// The word people and `--json` use.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::NeedsApproval(_) => "needs approval",
            Self::Rejected { .. } => "rejected",
            Self::Blocked(_) => "blocked",
            Self::Disabled { .. } => "disabled",
            Self::Shadowed { .. } => "shadowed",
            Self::Duplicate { .. } => "duplicate",
            Self::Invalid(_) => "invalid",
            Self::Skipped(_) => "skipped",
        }
    }

    /// Why, unless it is simply ready.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Ready => None,
            Self::NeedsApproval(why) => Some(why.to_string()),
            Self::Rejected { by } => Some(format!("rejected in {by}")),
            Self::Blocked(block) => Some(block.to_string()),
            Self::Disabled { by } => Some(format!("switched off in {by}")),
            Self::Shadowed { by } => Some(format!("{by} declares the same name and wins")),
            Self::Duplicate { of, origin } => {
                Some(format!("the same server as `{}` in {origin}", of.as_str()))
            }
            Self::Invalid(error) => Some(format!("{}: {error}", error.origin())),
            Self::Skipped(reason) => Some(reason.to_string()),
        }
    }

    /// What a person can do about it; `name` is the server's.
    #[must_use]
    pub fn hint(&self, name: &ServerName) -> Option<String> {
        let name = shell_word(name.as_str());
        match self {
            Self::NeedsApproval(_) => {
                Some(format!("look at it with `mcparley get {name}`, then `mcparley approve {name}`"))
            }
            Self::Rejected { .. } => Some(format!("`mcparley approve {name}` to take it back")),
            Self::Disabled { .. } => Some(format!("`mcparley enable {name}` to switch it on")),
            Self::Invalid(error) => error.hint(),
            Self::Blocked(block) => block.hint(),
            Self::Skipped(SkipReason::StartsItself) => Some(
                "nothing to do: the entry is for other programs, which reach all servers through it"
                    .to_owned(),
            ),
            Self::Ready | Self::Shadowed { .. } | Self::Duplicate { .. } | Self::Skipped(_) => None,
        }
    }
}

impl Block {
    fn hint(&self) -> Option<String> {
        match self {
            Self::ManagedOnly { .. } => {
                Some("only the administrator's servers run on this machine".to_owned())
            }
            Self::ManagedBroken { file, .. } => {
                Some(format!("ask the machine's administrator to mend {file}; no server runs until then"))
            }
            Self::Strict => Some("leave `--strict-mcp-config` out to use it".to_owned()),
            Self::Policy(violation) | Self::Alias { violation, .. } => violation.hint(),
        }
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ManagedOnly { file } => write!(f, "{file} allows only its own servers"),
            Self::ManagedBroken { file, reason } => write!(f, "{file} cannot be read: {reason}"),
            Self::Strict => f.write_str("`--strict-mcp-config` uses only `--mcp-config`"),
            Self::Policy(violation) => violation.fmt(f),
            Self::Alias { of, violation } => {
                write!(f, "it is the same server as `{}`: {violation}", of.as_str())
            }
        }
    }
}

impl Serialize for ServerStanding {
    /// `{"is": "...", "reason": "...", "by": {...}}`: the word to branch on, the sentence to show, the place.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("is", self.as_str())?;
        if let Some(reason) = self.reason() {
            map.serialize_entry("reason", &reason)?;
        }
        let by = match self {
            Self::Rejected { by } | Self::Disabled { by } | Self::Shadowed { by } => Some(by.clone()),
            Self::Duplicate { origin, .. } => Some(origin.clone()),
            Self::Invalid(error) => Some(error.origin().clone()),
            Self::Blocked(Block::ManagedOnly { file } | Block::ManagedBroken { file, .. }) => {
                Some(Origin::whole(file.clone()))
            }
            Self::Blocked(Block::Policy(violation) | Block::Alias { violation, .. }) => {
                Some(violation.origin().clone())
            }
            Self::Ready | Self::NeedsApproval(_) | Self::Blocked(Block::Strict) | Self::Skipped(_) => None,
        };
        if let Some(by) = by {
            map.serialize_entry("by", &by)?;
        }
        map.end()
    }
}
