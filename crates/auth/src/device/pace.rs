//! Decides when a server is asked again whether somebody has signed in (RFC 8628, 3.5).

use std::time::Duration;

use mcparley_model::limits::{DEVICE_INTERVAL_MOST, DEVICE_SLOWER};

use crate::grant::{ErrorCode, TokenError};

/// What follows a question that brought no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pause {
    /// The next after this long.
    For(Duration),
    /// None.
    Over,
}

pub(super) fn pause_after(error: &TokenError, interval: Duration) -> Pause {
    match error.code() {
        Some(ErrorCode::AuthorizationPending) => Pause::For(interval),
        // Without a bound here: the server has asked for it, and the sign-in ends anyway.
        Some(ErrorCode::SlowDown) => Pause::For(interval + DEVICE_SLOWER),
        Some(_) => Pause::Over,
        // The code is as good as before; a server in trouble is asked less often.
        None if error.is_passing() => {
            Pause::For(interval.max(interval.saturating_mul(2).min(DEVICE_INTERVAL_MOST)))
        }
        None => Pause::Over,
    }
}
