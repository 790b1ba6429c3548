//! The polling interval of a device sign-in (RFC 8628, 3.5).

use std::time::Duration;

use mcparley_model::limits::{DEVICE_INTERVAL_MOST, DEVICE_SLOWER};

use crate::grant::{OAuthErrorCode, TokenError};

/// The decision after a poll that returned no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextPoll {
    /// Poll again after this time.
    After(Duration),
    /// Stop polling.
    Never,
}

/// The pause before the next poll.
pub(super) fn next_poll_after(error: &TokenError, interval: Duration) -> NextPoll {
    match error.code() {
        Some(OAuthErrorCode::AuthorizationPending) => NextPoll::After(interval),
        // Not capped: the server demanded it, and the code expires anyway.
        Some(OAuthErrorCode::SlowDown) => NextPoll::After(interval + DEVICE_SLOWER),
        Some(_) => NextPoll::Never,
        // The code is still valid; a failing server is polled less often (exponential backoff).
        None if error.is_transient() => {
            NextPoll::After(interval.max(interval.saturating_mul(2).min(DEVICE_INTERVAL_MOST)))
        }
        None => NextPoll::Never,
    }
}
