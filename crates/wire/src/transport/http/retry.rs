//! Decides on retries after an error status: which requests, and with which exponential backoff.
//!
//! Pure, and only for requests that are safe to repeat: the handshake and lists. Retries of tool calls are
//! decided where the tool is known.

use std::time::Duration;

use mcparley_model::limits::{REQUEST_PAUSE, REQUEST_TRIES, RETRY_AFTER_LONGEST};

use super::message_head::MessageHead;
use crate::failure::Failure;

/// The pause before a retry; `None` when the request must not be retried.
pub(in crate::transport) fn retry_pause(
    head: &MessageHead,
    failure: &Failure,
    tries: u32,
) -> Option<Duration> {
    let Failure::Status { code, retry_after, .. } = failure else { return None };
    pause_after_status(head.method.as_deref()?, *code, tries, *retry_after)
}

/// The pause after `method` was answered with `status` at attempt number `tries`. A `Retry-After` beyond the
/// limit means no retry.
fn pause_after_status(
    method: &str,
    status: u16,
    tries: u32,
    retry_after: Option<Duration>,
) -> Option<Duration> {
    let passes = match status {
        429 | 502 | 503 | 504 => is_safe_to_repeat(method) || method == "server/discover",
        // Old servers answer the probe of the new era with this status, and will do so again.
        500 => is_safe_to_repeat(method),
        _ => false,
    };
    if !passes || tries >= REQUEST_TRIES {
        return None;
    }
    // A `Retry-After` that is due already, perhaps because of a wrong clock, does not shorten the backoff.
    let usual = REQUEST_PAUSE * 2_u32.pow(tries.saturating_sub(1));
    let pause = retry_after.unwrap_or_default().max(usual);
    (pause <= RETRY_AFTER_LONGEST).then_some(pause)
}

fn is_safe_to_repeat(method: &str) -> bool {
    method == "initialize" || method.ends_with("/list")
}

#[cfg(test)]
mod tests {
    use super::*;

    // F52 F53
    #[test]
    fn only_handshake_and_lists_are_retried_up_to_three_times() {
        let ms = |ms| Some(Duration::from_millis(ms));
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        let table = [
            ("initialize", 500, 1, None, ms(500)),
            ("initialize", 502, 2, None, ms(1000)),
            ("initialize", 503, 3, None, None),
            ("tools/list", 504, 1, None, ms(500)),
            ("prompts/list", 429, 1, None, ms(500)),
            ("resources/templates/list", 503, 1, None, ms(500)),
            ("server/discover", 503, 1, None, ms(500)),
            ("server/discover", 500, 1, None, None),
            ("tools/call", 503, 1, seconds(1), None),
            ("tools/call", 429, 1, seconds(1), None),
            ("resources/read", 503, 1, None, None),
            ("tools/list", 501, 1, None, None),
            ("tools/list", 404, 1, None, None),
            ("tools/list", 400, 1, None, None),
            // When the server says when.
            ("tools/list", 503, 1, seconds(2), seconds(2)),
            ("tools/list", 503, 2, seconds(2), seconds(2)),
            ("tools/list", 503, 3, seconds(2), None),
            ("tools/list", 429, 1, seconds(60), seconds(60)),
            ("tools/list", 429, 1, seconds(61), None),
            ("tools/list", 429, 1, seconds(9_999_999), None),
            ("tools/list", 429, 1, seconds(0), ms(500)),
        ];
        for (method, status, tries, retry_after, expected) in table {
            let row = format!("{method} {status} {tries} {retry_after:?}");
            assert_eq!(pause_after_status(method, status, tries, retry_after), expected, "{row}");
        }
    }
}
