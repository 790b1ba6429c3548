//! Plan status of a declared server, with the reason for each.

use std::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use mcparley_model::approval::PendingReason;
use mcparley_model::config::ConfigError;
use mcparley_model::explain::Explain;
use mcparley_model::limits::ANCESTRY_LEVELS;
use mcparley_model::name::ServerName;
use mcparley_model::policy::PolicyViolation;
use mcparley_model::scope::{ConfigOrigin, Source};
use mcparley_model::text::shell_word;

/// The plan status of a declared server: whether it may run, and why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanStatus {
    /// The server may be connected to.
    Ready,
    /// The user must approve the server first.
    NeedsApproval(PendingReason),
    /// The user rejected the server.
    Rejected {
        /// The place of the rejection.
        by: ConfigOrigin,
    },
    /// A rule forbids the server.
    Blocked(BlockReason),
    /// The user disabled the server.
    Disabled {
        /// The place of the setting that disables it.
        by: ConfigOrigin,
    },
    /// Another declaration of the same name wins.
    Shadowed {
        /// The origin of the winning declaration.
        by: ConfigOrigin,
    },
    /// Another declaration is the same server under another name.
    Duplicate {
        /// The name of the other server.
        of: ServerName,
        /// The origin of the other declaration.
        origin: ConfigOrigin,
    },
    /// The entry is not valid.
    Invalid(ConfigError),
    /// Starting the server would start this program inside itself.
    Skipped(SkipReason),
}

/// The reason why a server is skipped although no rule forbids it: it would start mcparley again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// The command of the server is mcparley.
    StartsItself,
    /// This process was started by the very same entry.
    StartedThis,
    /// The chain of servers that started one another above this process is too long.
    TooDeep,
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StartsItself => f.write_str("would start mcparley itself"),
            Self::StartedThis => f.write_str("would start mcparley itself: this process was started by it"),
            Self::TooDeep => write!(
                f,
                "would start mcparley itself: {ANCESTRY_LEVELS} nested servers already run above this process"
            ),
        }
    }
}

/// The rule that forbids a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockReason {
    /// `managed-mcp.json` exists, and the server is not declared in it.
    ManagedOnly {
        /// The managed file.
        file: Source,
    },
    /// A managed file cannot be read, so no server runs (fail closed).
    ManagedBroken {
        /// The managed file.
        file: Source,
        /// The error in that file.
        reason: String,
    },
    /// `--strict-mcp-config` allows only servers of the command line.
    Strict,
    /// A policy rule denies the server or does not allow it.
    Policy(PolicyViolation),
    /// The policy denies the same server under another name.
    Alias {
        /// The name of the denied declaration.
        of: ServerName,
        /// The rule that denies it.
        violation: PolicyViolation,
    },
}

impl PlanStatus {
    /// The word for this status in the output for users and in `--json`.
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

    /// The reason for the status; absent for a server that is ready.
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

    /// The command that resolves the status, as a hint for the user; `name` is the server's name.
    #[must_use]
    pub fn hint(&self, name: &ServerName) -> Option<String> {
        let name = shell_word(name.as_str());
        match self {
            Self::NeedsApproval(_) => {
                Some(format!("look at it with `mcparley get {name}`, then `mcparley approve {name}`"))
            }
            Self::Rejected { .. } => Some(format!("`mcparley approve {name}` to undo the rejection")),
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

impl BlockReason {
    fn hint(&self) -> Option<String> {
        match self {
            Self::ManagedOnly { .. } => {
                Some("only the administrator's servers run on this machine".to_owned())
            }
            Self::ManagedBroken { file, .. } => {
                Some(format!("ask the machine's administrator to fix {file}; no server runs until then"))
            }
            Self::Strict => Some("leave `--strict-mcp-config` out to use it".to_owned()),
            Self::Policy(violation) | Self::Alias { violation, .. } => violation.hint(),
        }
    }
}

impl fmt::Display for BlockReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ManagedOnly { file } => write!(f, "{file} allows only its own servers"),
            Self::ManagedBroken { file, reason } => write!(f, "{file} cannot be read: {reason}"),
            Self::Strict => f.write_str("`--strict-mcp-config` uses only `--mcp-config` and `--mcp-server`"),
            Self::Policy(violation) => violation.fmt(f),
            Self::Alias { of, violation } => {
                write!(f, "it is the same server as `{}`: {violation}", of.as_str())
            }
        }
    }
}

impl Serialize for PlanStatus {
    /// Serializes as `{"is": "...", "reason": "...", "by": {...}}`: a word to branch on, a sentence, an
    /// origin.
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
            Self::Blocked(BlockReason::ManagedOnly { file } | BlockReason::ManagedBroken { file, .. }) => {
                Some(ConfigOrigin::for_source(file.clone()))
            }
            Self::Blocked(BlockReason::Policy(violation) | BlockReason::Alias { violation, .. }) => {
                Some(violation.origin().clone())
            }
            Self::Ready | Self::NeedsApproval(_) | Self::Blocked(BlockReason::Strict) | Self::Skipped(_) => {
                None
            }
        };
        if let Some(by) = by {
            map.serialize_entry("by", &by)?;
        }
        map.end()
    }
}
