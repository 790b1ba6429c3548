//! State of a server as its row shows it: a symbol, a word, and the reason.
//!
//! The word alone says it all, so that the screen can be read without color and by a screen reader.

use std::time::Duration;

use mcparley::config::plan::PlanStatus;
use mcparley::model::limits::RECONNECT_ATTEMPTS;
use mcparley::pool::connection::ServerStatus;
use tokio::time::Instant;

/// The state of a configured server: of its connection, or the reason why it has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RowState {
    /// Connected.
    Connected,
    /// The first attempt to connect is running, perhaps while a package runner downloads the server.
    Connecting { downloader: Option<String> },
    /// The connection was lost.
    Reconnecting { attempt: u32, retry_at: Option<Instant>, reason: Option<String> },
    /// Not connected until a call needs it.
    OnDemand,
    /// The attempt to connect failed.
    Failed { reason: String },
    /// The user has to sign in.
    NeedsSignIn,
    /// The user switched it off.
    Disabled { reason: Option<String> },
    /// The user has to approve it.
    NeedsApproval { reason: String },
    /// The user rejected it.
    Rejected { reason: String },
    /// It cannot run: blocked, shadowed, a duplicate, invalid or skipped.
    Unusable { word: &'static str, reason: String },
}

/// The meaning of a color, where there are colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowTone {
    Plain,
    Good,
    Waiting,
    Bad,
    Faint,
}

impl RowState {
    /// The state of a server that may run.
    pub(super) fn from_connection(status: &ServerStatus) -> Self {
        match status {
            ServerStatus::Dormant => Self::OnDemand,
            ServerStatus::Pending { attempt: 0, downloader, .. } => {
                Self::Connecting { downloader: downloader.as_deref().map(str::to_owned) }
            }
            ServerStatus::Pending { attempt, because, retry_at, .. } => Self::Reconnecting {
                attempt: *attempt,
                retry_at: *retry_at,
                reason: because.as_deref().map(str::to_owned),
            },
            ServerStatus::Connected { .. } => Self::Connected,
            ServerStatus::Failed(error) => Self::Failed { reason: error.to_string() },
            ServerStatus::NeedsAuth => Self::NeedsSignIn,
            ServerStatus::Disabled => Self::Disabled { reason: None },
            other => Self::Disabled { reason: Some(other.reason().unwrap_or_else(|| "stopped".to_owned())) },
        }
    }

    /// The state of a server that may not run; `None` for one that may.
    pub(super) fn from_plan(status: &PlanStatus) -> Option<Self> {
        let reason = status.reason()?;
        Some(match status {
            PlanStatus::Ready => return None,
            PlanStatus::NeedsApproval(_) => Self::NeedsApproval { reason },
            PlanStatus::Rejected { .. } => Self::Rejected { reason },
            PlanStatus::Disabled { .. } => Self::Disabled { reason: Some(reason) },
            PlanStatus::Blocked(_)
            | PlanStatus::Shadowed { .. }
            | PlanStatus::Duplicate { .. }
            | PlanStatus::Invalid(_)
            | PlanStatus::Skipped(_) => Self::Unusable { word: status.as_str(), reason },
        })
    }

    /// The symbol before the name, one cell wide.
    pub(super) fn symbol(&self) -> &'static str {
        match self {
            Self::Connected => "●",
            Self::Connecting { .. } | Self::Reconnecting { .. } => "◐",
            Self::OnDemand | Self::NeedsSignIn => "○",
            Self::Disabled { .. } | Self::NeedsApproval { .. } | Self::Rejected { .. } => "–",
            Self::Failed { .. } | Self::Unusable { .. } => "×",
        }
    }

    /// The state in words, such as `reconnecting 3/5 in 4 s`.
    pub(super) fn words(&self, now: Instant) -> String {
        match self {
            Self::Connected => "connected".to_owned(),
            Self::Connecting { downloader: Some(runner) } => format!("connecting, {runner} downloads it"),
            Self::Connecting { downloader: None } => "connecting".to_owned(),
            Self::Reconnecting { attempt, retry_at, .. } => {
                let left = retry_at.map(|at| format!(" in {} s", whole_seconds(at.duration_since(now))));
                format!("reconnecting {attempt}/{RECONNECT_ATTEMPTS}{}", left.unwrap_or_default())
            }
            Self::OnDemand => "starts on demand".to_owned(),
            Self::Failed { .. } => "failed".to_owned(),
            Self::NeedsSignIn => "needs sign-in".to_owned(),
            Self::Disabled { .. } => "disabled".to_owned(),
            Self::NeedsApproval { .. } => "waits for approval".to_owned(),
            Self::Rejected { .. } => "rejected".to_owned(),
            Self::Unusable { word, .. } => (*word).to_owned(),
        }
    }

    /// The reason for the state, if there is one.
    pub(super) fn reason(&self) -> Option<&str> {
        match self {
            Self::Connected | Self::Connecting { .. } | Self::OnDemand | Self::NeedsSignIn => None,
            Self::Reconnecting { reason, .. } | Self::Disabled { reason } => reason.as_deref(),
            Self::Failed { reason }
            | Self::NeedsApproval { reason }
            | Self::Rejected { reason }
            | Self::Unusable { reason, .. } => Some(reason),
        }
    }

    /// The meaning for the color.
    pub(super) fn tone(&self) -> RowTone {
        match self {
            Self::Connected => RowTone::Good,
            Self::Connecting { .. }
            | Self::Reconnecting { .. }
            | Self::NeedsSignIn
            | Self::NeedsApproval { .. } => RowTone::Waiting,
            Self::Failed { .. } | Self::Unusable { .. } => RowTone::Bad,
            Self::OnDemand | Self::Disabled { .. } | Self::Rejected { .. } => RowTone::Faint,
        }
    }

    /// The place in a list that is sorted by state: trouble first, then work for the user, then the rest.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::Failed { .. } => 0,
            Self::Reconnecting { .. } => 1,
            Self::NeedsSignIn => 2,
            Self::NeedsApproval { .. } => 3,
            Self::Unusable { .. } => 4,
            Self::Connecting { .. } => 5,
            Self::Connected => 6,
            Self::OnDemand => 7,
            Self::Disabled { .. } => 8,
            Self::Rejected { .. } => 9,
        }
    }

    /// Whether the words change as time passes.
    pub(super) fn counts_down(&self) -> bool {
        matches!(self, Self::Reconnecting { retry_at: Some(_), .. })
    }
}

/// The seconds of a duration, rounded up: a countdown reaches zero when the time is over.
fn whole_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests;
